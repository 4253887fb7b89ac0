"""What is said of adapters."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "adapters.imported": Wording(
        "Imported for {base}: {weights} weights changed, rank {ranks}, {size}",
        "已为 {base} 导入：改动 {weights} 个权重矩阵，秩 {ranks}，{size}",
    ),
    "adapters.known": Wording(
        "This adapter is here already: {weights} weights of {base} changed, rank {ranks}, {size}",
        "该适配器已存在：改动 {base} 的 {weights} 个权重矩阵，秩 {ranks}，{size}",
    ),
    "adapters.file": Wording("It is {path}", "文件位于 {path}"),
    "adapters.waits": Wording(
        "It waits as {name} for {expert}. Let it answer with: macaron adapters promote {name}",
        "它以 {name} 的名字等待用于 {expert}。启用命令：macaron adapters promote {name}",
    ),
    "adapters.is_here": Wording(
        "As {name} for {expert} it is: {state}", "它以 {name} 的名字用于 {expert}，状态：{state}"
    ),
    # Lists.
    "adapters.none": Wording(
        "No adapters yet. Bring one in with: macaron adapters import PATH",
        "还没有适配器。导入命令：macaron adapters import 路径",
    ),
    "adapters.more": Wording("More with: --after {name}", "更多：--after {name}"),
    "adapters.list.name": Wording("adapter", "适配器"),
    "adapters.list.expert": Wording("expert", "专家"),
    "adapters.list.profile": Wording("profile", "配置"),
    "adapters.list.kind": Wording("kind", "类型"),
    "adapters.list.state": Wording("state", "状态"),
    "adapters.list.rank": Wording("rank", "秩"),
    "adapters.list.size": Wording("size", "大小"),
    "adapters.list.created": Wording("since", "日期"),
    "adapters.list.note": Wording("note", "备注"),
    "adapters.kind.factory": Wording("factory", "出厂"),
    "adapters.kind.personal": Wording("personal", "个人"),
    "adapters.kind.imported": Wording("imported", "导入"),
    "adapters.state.factory": Wording("always in use", "始终使用"),
    "adapters.state.candidate": Wording("candidate", "候选"),
    "adapters.state.canary": Wording("on trial", "试用"),
    "adapters.state.champion": Wording("in use", "使用中"),
    "adapters.state.retired": Wording("retired", "已停用"),
    "adapters.forgotten": Wording("forgotten", "已遗忘"),
    # One of them.
    "adapters.fact.hash": Wording("hash", "哈希"),
    "adapters.fact.expert": Wording("expert", "专家"),
    "adapters.fact.profile": Wording("profile", "配置"),
    "adapters.fact.kind": Wording("kind", "类型"),
    "adapters.fact.state": Wording("state", "状态"),
    "adapters.fact.rank": Wording("rank", "秩"),
    "adapters.fact.size": Wording("size", "大小"),
    "adapters.fact.created": Wording("since", "日期"),
    "adapters.fact.note": Wording("note", "备注"),
    "adapters.fact.file": Wording("file", "文件"),
    "adapters.fact.base": Wording("base", "基座"),
    "adapters.fact.parent": Wording("trained on", "训练基础"),
    "adapters.fact.recipe": Wording("recipe", "配方"),
    "adapters.fact.data": Wording("data", "数据"),
    "adapters.fact.sources": Wording("sources of its own", "独有来源"),
    "adapters.ancestors": Wording("trained on top of: {names}", "依次训练自：{names}"),
    "adapters.children": Wording("trained from it: {names}", "由它训练出：{names}"),
    "adapters.sources": Wording("sources ({count}): {names}", "来源（{count}）：{names}"),
    "adapters.evaluation": Wording("{suite}, {items} items: {what}", "{suite}，{items} 项：{what}"),
    "adapters.verdict.passed": Wording("passed", "通过"),
    "adapters.verdict.failed": Wording("failed", "未通过"),
    "adapters.canary": Wording(
        "trial: {turns} of {planned} turns, {negative} of them disliked or failed; {outcome}",
        "试用：{turns}/{planned} 轮，其中 {negative} 轮不满意或失败；{outcome}",
    ),
    "adapters.canary.goes_on": Wording("it goes on", "进行中"),
    "adapters.canary.promoted": Wording("passed", "通过"),
    "adapters.canary.rolled_back": Wording("taken back", "已撤回"),
    "adapters.canary.superseded": Wording("ended by another adapter", "被其他适配器取代"),
    "adapters.log.promote": Wording("{when}: {name} in place of {previous}", "{when}：{name} 取代 {previous}"),
    "adapters.log.canary": Wording("{when}: {name} on trial before {previous}", "{when}：{name} 试用，先于 {previous}"),
    "adapters.log.rollback": Wording("{when}: back from {previous} to {name}", "{when}：从 {previous} 回退到 {name}"),
    "adapters.log.retire": Wording("{when}: {previous} retired, then {name}", "{when}：{previous} 停用，改用 {name}"),
    "adapters.factory_alone": Wording("the factory's", "出厂状态"),
    "adapters.alike": Wording("They differ in nothing but their weights.", "除权重外没有差别。"),
    # Changes.
    "adapters.promote.ask": Wording("Let {name} answer for {expert} from now on?", "从现在起由 {name} 负责 {expert}？"),
    "adapters.promoted": Wording(
        "{now} answers for {expert} from the next turn on, in place of {previous}. "
        "Back with: macaron adapters rollback {expert}",
        "从下一轮起由 {now} 负责 {expert}，取代 {previous}。回退命令：macaron adapters rollback {expert}",
    ),
    "adapters.rolled_back": Wording(
        "{expert} is back from {previous} to {now}, from the next turn on.",
        "{expert} 已从 {previous} 回退到 {now}，下一轮起生效。",
    ),
    "adapters.unchanged": Wording("Nothing was changed.", "未作更改。"),
    "adapters.remove.ask": Wording("Delete the adapter {name} ({size})?", "删除适配器 {name}（{size}）？"),
    "adapters.remove.ask_unused": Wording(
        "Delete {count} retired adapters ({size})?", "删除 {count} 个已停用的适配器（{size}）？"
    ),
    "adapters.removed": Wording("Removed {count} adapters:", "已删除 {count} 个适配器："),
    "adapters.removed.one": Wording("Removed {count} adapter:", "已删除 {count} 个适配器："),
    "adapters.remove.nothing": Wording("There is nothing to remove.", "没有可删除的适配器。"),
    "adapters.exported": Wording("Written to {path}, with {manifest} beside it.", "已写入 {path}，旁边是 {manifest}。"),
    "adapters.export.not_forgotten": Wording(
        "A file is out of the agent's reach: what you make it forget later stays in there. Delete such files yourself.",
        "导出的文件不受本程序控制：之后让它忘记的内容仍会留在文件里，请自行删除。",
    ),
    # At a turn.
    "notice.adapter_left_out": Wording(
        "The adapter {adapter} of {expert} cannot be used and was left out: {problem}",
        "{expert} 的适配器 {adapter} 无法使用，本轮未使用：{problem}",
    ),
    "notice.canary_rolled_back": Wording(
        "The adapter {adapter} on trial for {expert} was taken back: too many of its answers were not liked.",
        "{expert} 试用的适配器 {adapter} 已撤回：不满意的回答过多。",
    ),
    "notice.canary_promoted": Wording(
        "The adapter {adapter} has passed its trial and answers for {expert} from now on. "
        "Back with: macaron adapters rollback {expert}",
        "适配器 {adapter} 已通过试用，今后负责 {expert}。回退命令：macaron adapters rollback {expert}",
    ),
}
