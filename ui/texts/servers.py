"""What every face says of MCP servers, and of other parts of the configuration that wait for a person."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "servers.none": Wording(
        "harness.toml names no MCP servers. Write them below [mcpServers] as other programs do.",
        "harness.toml 中没有 MCP 服务器。请像其他程序那样写在 [mcpServers] 之下。",
    ),
    "servers.list.name": Wording("server", "服务器"),
    "servers.list.state": Wording("state", "状态"),
    "servers.list.tools": Wording("tools", "工具"),
    "servers.list.what": Wording("what it is", "内容"),
    "servers.state.refused": Wording("not used", "未使用"),
    "servers.state.waits": Wording("waits for you", "等待批准"),
    "servers.state.tools_wait": Wording("its tools wait for you", "其工具等待批准"),
    "servers.state.not_running": Wording("not running", "未运行"),
    "servers.state.starting": Wording("starting", "启动中"),
    "servers.state.running": Wording("offered", "已启用"),
    "servers.state.ended": Wording("ended", "已结束"),
    "servers.tools": Wording("It lists {count} tools:", "它列出 {count} 个工具："),
    "servers.tools.one": Wording("It lists {count} tool:", "它列出 {count} 个工具："),
    "servers.hidden": Wording("({count} hidden characters taken out)", "（已去除 {count} 个隐藏字符）"),
    "servers.hidden.one": Wording("({count} hidden character taken out)", "（已去除 {count} 个隐藏字符）"),
    "servers.printed": Wording("The last it printed:", "最近的输出："),
    "servers.ask.start": Wording(
        "Start {name} like this, with your rights, now and whenever this program starts?",
        "以您的权限这样启动 {name}，现在以及每次启动本程序时？",
    ),
    "servers.ask.tools": Wording("Offer these tools of {name} to the experts?", "向专家提供 {name} 的这些工具？"),
    "servers.not": Wording("It was not approved.", "未批准。"),
    "servers.starting": Wording("Starting {name}; this may take up to a minute …", "正在启动 {name}，最多一分钟……"),
    "servers.approved": Wording(
        "The tools of {name} are offered from the next turn on. If they change, you are asked again.",
        "{name} 的工具从下一轮起可用；若有变动会再次询问。",
    ),
    "servers.revoked": Wording("{name} was ended and is not started again.", "{name} 已结束，不再启动。"),
    "servers.secret.ask": Wording("Secret {name} (it is not shown)", "密钥 {name}（不会显示）"),
    "servers.secret.set": Wording(
        "Stored {name} in the keyring; harness.toml names it as ${{keyring:{name}}}.",
        "已将 {name} 存入密钥环；在 harness.toml 中写作 ${{keyring:{name}}}。",
    ),
    "servers.secret.removed": Wording("Removed {name} from the keyring.", "已从密钥环中移除 {name}。"),
    "servers.secret.none": Wording("The keyring holds no secret {name}.", "密钥环中没有密钥 {name}。"),
    "folders.none": Wording(
        "No granted folder brings instructions, skills or programs.", "没有授权的文件夹带来说明、技能或程序。"
    ),
    "folders.list.folder": Wording("folder", "文件夹"),
    "folders.list.state": Wording("state", "状态"),
    "folders.list.files": Wording("files", "文件"),
    "folders.list.hash": Wording("hash", "哈希"),
    "folders.state.trusted": Wording("trusted", "已信任"),
    "folders.state.waiting": Wording("waits for you", "等待确认"),
    "folders.state.changed": Wording("changed, waits for you", "已变动，等待确认"),
    "folders.bytes": Wording("({count} bytes that are no text)", "（{count} 字节，不是文本）"),
    "folders.bytes.one": Wording("({count} byte that is no text)", "（{count} 字节，不是文本）"),
    "folders.ask": Wording(
        "Use all of this of {folder}, with your rights?", "以您的权限使用 {folder} 的以上全部内容？"
    ),
    "folders.not": Wording("It was not trusted.", "未信任。"),
    "folders.trusted": Wording(
        "What {folder} brings is in force from the next turn on. If it changes, you are asked again.",
        "{folder} 带来的内容从下一轮起生效；若有变动会再次询问。",
    ),
    "folders.distrusted": Wording("Nothing of {folder} is used any more.", "{folder} 的内容不再使用。"),
    "notice.harness_wrong": Wording(
        "The configuration has a mistake, and what was in force before it still is: {problem} {hint}",
        "配置有误，之前生效的内容继续有效：{problem} {hint}",
    ),
    "notice.folder_waits": Wording(
        "{subject} brings instructions that are not used before you trust them: `macaron tools trust {subject}`.",
        "{subject} 带来了说明，在您信任之前不会使用：`macaron tools trust {subject}`。",
    ),
    "notice.folder_changed": Wording(
        "What {subject} brings has changed and is not used until you trust it again: `macaron tools trust {subject}`.",
        "{subject} 带来的内容已变动，在您再次信任之前不会使用：`macaron tools trust {subject}`。",
    ),
    "notice.server_waits": Wording(
        "The MCP server {subject} waits for you: `macaron servers approve {subject}`.",
        "MCP 服务器 {subject} 等待您批准：`macaron servers approve {subject}`。",
    ),
    "notice.server_tools_wait": Wording(
        "The tools of the MCP server {subject} are new or have changed, and wait for you: "
        "`macaron servers approve {subject}`.",
        "MCP 服务器 {subject} 的工具是新的或有变动，等待您批准：`macaron servers approve {subject}`。",
    ),
    "notice.server_failed": Wording(
        "The MCP server {subject} does not run: {problem}", "MCP 服务器 {subject} 未运行：{problem}"
    ),
    "notice.hook_failed": Wording("A hook went wrong: {problem}", "钩子出错：{problem}"),
}
