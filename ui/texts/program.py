"""What the one-shot commands, the doctor and the host say."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "doctor.ok": Wording("ok  ", "正常"),
    "doctor.warning": Wording("warn", "注意"),
    "doctor.bad": Wording("BAD ", "异常"),
    "doctor.system": Wording("System", "系统"),
    "doctor.memory": Wording("Memory", "内存"),
    "doctor.disk": Wording("Disk", "磁盘"),
    "doctor.home": Wording("Home", "数据目录"),
    "doctor.modes": Wording("Privacy of files", "文件权限"),
    "doctor.backups": Wording("Backups", "备份"),
    "doctor.clock": Wording("Clock", "时钟"),
    "doctor.packages": Wording("Packages", "软件包"),
    "doctor.llama_cpp": Wording("llama.cpp", "llama.cpp"),
    "doctor.gpu": Wording("GPU", "GPU"),
    "doctor.profile": Wording("Profile", "配置"),
    "doctor.base": Wording("Base", "基座模型"),
    "doctor.backend": Wording("Runs on", "运行于"),
    "doctor.fit": Wording("Fit", "容量"),
    "doctor.speed": Wording("Speed", "速度"),
    "doctor.engine": Wording("Engine", "引擎"),
    "doctor.host": Wording("Host", "主机进程"),
    "doctor.repairs": Wording("Repairs", "修复记录"),
    "doctor.sandbox": Wording("Sandbox", "沙箱"),
    "doctor.harness": Wording("Tools", "工具"),
    "doctor.keyring": Wording("Keyring", "密钥环"),
    "doctor.port": Wording("Port of the host", "主机端口"),
    "doctor.page_port": Wording("Port of the page", "网页端口"),
    "doctor.terminal": Wording("Terminal", "终端"),
    "doctor.browser": Wording("Browser", "浏览器"),
    "doctor.hub": Wording("Model hub", "模型仓库"),
    "loading": Wording("loading …", "正在加载 …"),
    # Exported conversations.
    "export.profile": Wording("Profile {profile}", "配置 {profile}"),
    "export.when": Wording("{began} to {ended} (UTC)", "{began} 至 {ended}（UTC）"),
    "export.attached": Wording("Attached: {names}", "附件：{names}"),
    "export.branches": Wording("Other branches", "其他分支"),
    "export.branch": Wording(
        "Branch {number}, instead of what follows turn {turn}", "分支 {number}：从第 {turn} 轮之后分出"
    ),
    "export.branch_first": Wording("Branch {number}, from the beginning", "分支 {number}：从开头分出"),
    "export.branch_of_branch": Wording(
        "Branch {number}, instead of what follows turn {turn} of branch {other}",
        "分支 {number}：从分支 {other} 的第 {turn} 轮之后分出",
    ),
    "export.written": Wording("{count} conversations written to {target}.", "已将 {count} 个对话写入 {target}。"),
    "export.written.one": Wording("{count} conversation written to {target}.", "已将 {count} 个对话写入 {target}。"),
    "export.not_forgotten": Wording(
        "A file is out of the agent's reach: what you make it forget later stays in there. Delete such files yourself.",
        "导出的文件不受本程序控制：之后让它忘记的内容仍会留在文件里，请自行删除。",
    ),
    "provenance.pasted": Wording("pasted", "粘贴"),
    "provenance.attached": Wording("attached", "附件"),
    "provenance.imported": Wording("imported", "导入"),
    "provenance.tool": Wording("from a tool", "来自工具"),
    "provenance.api": Wording("from another program", "来自其他程序"),
    # Imports.
    "import.added": Wording("added", "已添加"),
    "import.known": Wording("known", "已存在"),
    "import.refused": Wording("refused", "已拒绝"),
    "import.extended": Wording("extended", "已补充"),
    "import.empty": Wording("empty", "空对话"),
    "import.total": Wording(
        "{added} added, {extended} extended, {known} known already, {empty} empty, {refused} refused.",
        "添加 {added} 个，补充 {extended} 个，已存在 {known} 个，空对话 {empty} 个，拒绝 {refused} 个。",
    ),
    "import.turns": Wording("{count} turns", "{count} 轮"),
    "import.turns.one": Wording("{count} turn", "{count} 轮"),
    "import.differing": Wording(
        "{count} turns read differently in the file and stay as they are", "文件中有 {count} 轮内容不同，保持原样"
    ),
    "import.differing.one": Wording(
        "{count} turn reads differently in the file and stays as it is", "文件中有 {count} 轮内容不同，保持原样"
    ),
    "import.left_out": Wording("left out: {what}", "未导入：{what}"),
    "import.left_out.kind": Wording("{what} {count}", "{what} {count}"),
    "import.left_out.hidden": Wording("hidden", "隐藏消息"),
    "import.left_out.reasoning": Wording("reasoning", "思考过程"),
    "import.left_out.tool": Wording("tool", "工具消息"),
    "import.left_out.unknown": Wording("of unknown kind", "未知类型"),
    "import.proposed": Wording("{count} memories wait for your review", "{count} 条记忆等待你审阅"),
    "import.proposed.one": Wording("{count} memory waits for your review", "{count} 条记忆等待你审阅"),
    "import.waiting": Wording(
        "{count} memories wait: look at them with macaron memory review. None is used before.",
        "{count} 条记忆在等待：用 macaron memory review 查看；在此之前都不会使用。",
    ),
    "import.waiting.one": Wording(
        "{count} memory waits: look at it with macaron memory review. It is not used before.",
        "{count} 条记忆在等待：用 macaron memory review 查看；在此之前不会使用。",
    ),
    "import.progress": Wording("{count} conversations", "{count} 个对话"),
    "import.percent": Wording(", {percent} %", "，{percent} %"),
    "import.stopped": Wording(
        "Stopped. What was imported is whole; the same command goes on from there.",
        "已停止。已导入的对话都是完整的；再次运行同一命令即可继续。",
    ),
    "history.renamed": Wording("Renamed to “{title}”.", "已重命名为“{title}”。"),
    # Backups.
    "backup.packing": Wording("{done} of {total} MB", "{done}/{total} MB"),
    "backup.written": Wording(
        "Backed up to {target} ({size} MB, files: {files}).", "已备份到 {target}（{size} MB，文件数：{files}）。"
    ),
    "backup.models": Wording(
        "Named but not copied: {names}. Fetch them again after a restore.",
        "仅记录名称、未复制：{names}。恢复之后请重新获取。",
    ),
    "backup.removed": Wording("Older backups removed: {names}.", "已删除较旧的备份：{names}。"),
    "backup.restored": Wording(
        "Restored what was there on {created} (files: {files}).", "已恢复 {created} 的内容（文件数：{files}）。"
    ),
    "backup.put_aside": Wording("What was here before is in {place}.", "原有内容保存在 {place}。"),
    "verify.ok": Wording("{target}: nothing is wrong with it.", "{target}：没有发现问题。"),
    "verify.salvaged": Wording("What could be read is in {target}.", "可读取的内容已写入 {target}。"),
    "verify.use": Wording(
        "To go on with it, end the host, and put it in the place of {database}.",
        "要使用它，请先结束主机进程，再用它替换 {database}。",
    ),
    "verify.table": Wording("{table}: {saved} saved, {lost} lost", "{table}：保存 {saved} 行，丢失 {lost} 行"),
}
