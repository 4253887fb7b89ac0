"""What is said of memories: kinds, where they come from, lists, the review of those that wait, how they stand."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "memory.title": Wording("Memory", "记忆"),
    "memory.kind.preference": Wording("preference", "偏好"),
    "memory.kind.fact": Wording("fact", "事实"),
    "memory.kind.relation": Wording("relation", "关系"),
    "memory.kind.plan": Wording("plan", "计划"),
    "memory.kind.instruction": Wording("instruction", "要求"),
    "memory.state.active": Wording("known", "已记住"),
    "memory.state.pending": Wording("waits for you", "等你查看"),
    "memory.state.superseded": Wording("replaced", "已被取代"),
    "memory.state.forgotten": Wording("forgotten", "已忘记"),
    "memory.trust.confirmed": Wording("confirmed by you", "你已确认"),
    "memory.trust.typed": Wording("you typed it", "你输入的"),
    "memory.trust.inferred": Wording("read from what you typed", "由你输入的内容推断"),
    "memory.trust.tainted": Wording("not your own words", "不是你自己的话"),
    "memory.source.turn": Wording("a conversation", "对话"),
    "memory.source.user": Wording("you, by hand", "你手动添加"),
    "memory.source.imported": Wording("a file", "文件"),
    "memory.source.interview": Wording("the questions of the first day", "初次问答"),
    "memory.due": Wording("{text} (on {day})", "{text}（{day}）"),
    # Lists.
    "memory.none": Wording(
        'Nothing is remembered yet. Say something about yourself, or: macaron memory add "I like tea"',
        '还没有记住任何内容。可以在对话中谈谈自己，或者：macaron memory add "我喜欢喝茶"',
    ),
    "memory.none.such": Wording("There are none of these.", "没有符合条件的记忆。"),
    "memory.none.waiting": Wording("Nothing waits for you.", "没有等你查看的内容。"),
    "memory.no_hits": Wording("Nothing found for: {query}", "没有找到：{query}"),
    "memory.more": Wording("More with: --before {number}", "更多：--before {number}"),
    "memory.waiting": Wording(
        "{count} wait for you: macaron memory review", "有 {count} 条等你查看：macaron memory review"
    ),
    "memory.waiting.one": Wording(
        "{count} waits for you: macaron memory review", "有 {count} 条等你查看：macaron memory review"
    ),
    "memory.is_paused": Wording(
        "Paused since {day}: nothing you say is remembered. Go on with: macaron memory resume",
        "自 {day} 起已暂停：不会记住你说的话。继续请用：macaron memory resume",
    ),
    "memory.list.number": Wording("number", "编号"),
    "memory.list.day": Wording("day", "日期"),
    "memory.list.kind": Wording("kind", "种类"),
    "memory.list.state": Wording("state", "状态"),
    "memory.list.trust": Wording("trust", "可信度"),
    "memory.list.text": Wording("text", "内容"),
    # One memory.
    "memory.fact.number": Wording("number", "编号"),
    "memory.fact.kind": Wording("kind", "种类"),
    "memory.fact.state": Wording("state", "状态"),
    "memory.fact.trust": Wording("trust", "可信度"),
    "memory.fact.source": Wording("comes from", "来自"),
    "memory.fact.created": Wording("since", "记于"),
    "memory.fact.due": Wording("day of the plan", "计划日期"),
    "memory.fact.weight": Wording("weight", "权重"),
    "memory.fact.used": Wording("last recalled", "上次想起"),
    "memory.fact.validated": Wording("last confirmed", "上次确认"),
    "memory.fact.conversation": Wording("conversation", "对话"),
    "memory.fact.turn": Wording("turn", "轮次"),
    "memory.never": Wording("never", "从未"),
    "memory.weight": Wording("{weight} of 1", "{weight}（满分 1）"),
    "memory.evidence": Wording("your words", "原话"),
    "memory.message": Wording("in the message", "所在消息"),
    "memory.history": Wording("before it", "之前的内容"),
    # What was done.
    "memory.added": Wording("Remembered as {number}.", "已记住，编号 {number}。"),
    "memory.added.tainted": Wording(
        "You did not type this, so it waits until you have looked at it: macaron memory review",
        "这不是你输入的，需你查看后才会生效：macaron memory review",
    ),
    "memory.known": Wording("That is known already.", "这一条已经有了。"),
    "memory.edited": Wording("Changed; it is number {number} now.", "已修改，新编号 {number}。"),
    "memory.approved": Wording("Remembered: {text}", "已记住：{text}"),
    "memory.rejected": Wording("Rejected, and gone: {text}", "已拒绝并删除：{text}"),
    "memory.forget.ask": Wording(
        "Forget {count} memories with their history, for good?", "永久忘记这 {count} 条记忆及其历史？"
    ),
    "memory.forget.ask.one": Wording("Forget this with its history, for good?", "永久忘记这一条及其历史？"),
    "memory.forgotten": Wording("Forgotten: {count}.", "已忘记 {count} 条。"),
    "memory.kept": Wording("Nothing was changed.", "没有任何改动。"),
    "memory.paused": Wording(
        "Paused: nothing you say is remembered until you resume. What is known is still used.",
        "已暂停：恢复之前不会记住你说的话。已记住的内容仍会使用。",
    ),
    "memory.resumed": Wording("What you say of yourself is remembered again.", "将重新记住你谈到自己的内容。"),
    "memory.changed": Wording("Changed: {text}", "已修改：{text}"),
    "memory.is_gone": Wording("Forgotten: {text}", "已忘记：{text}"),
    "memory.cannot.approve": Wording(
        "It needs no approval; its state is: {state}.", "它不需要批准，当前状态：{state}。"
    ),
    "memory.cannot.edit": Wording("It cannot be edited; its state is: {state}.", "它不能修改，当前状态：{state}。"),
    "memory.cannot.forget": Wording(
        "There is nothing to forget; its state is: {state}.", "没有可忘记的，当前状态：{state}。"
    ),
    "memory.cannot.hint": Wording("Choose another one.", "请选择另一条。"),
    # The review.
    "memory.review.place": Wording("{place} of {count}", "第 {place} 条，共 {count} 条"),
    "memory.review.choose": Wording(
        "a approve, e edit, r reject, s skip, q quit", "a 批准，e 修改，r 拒绝，s 跳过，q 退出"
    ),
    "memory.review.write": Wording("As it should be", "改为"),
    "memory.review.done": Wording(
        "Approved {approved}, edited {edited}, rejected {rejected}; {left} still wait.",
        "批准 {approved} 条，修改 {edited} 条，拒绝 {rejected} 条；还有 {left} 条等待。",
    ),
    # Export and import.
    "memory.exported": Wording("{count} memories written to {target}.", "已将 {count} 条记忆写入 {target}。"),
    "memory.exported.one": Wording("{count} memory written to {target}.", "已将 {count} 条记忆写入 {target}。"),
    "memory.imported": Wording(
        "{added} wait for you now, {known} were known already, {refused} were refused.",
        "{added} 条等你查看，{known} 条已有，{refused} 条被拒绝。",
    ),
    "memory.imported.next": Wording("Look at them with: macaron memory review", "查看：macaron memory review"),
    "memory.refused": Wording("line {line}: {problem}", "第 {line} 行：{problem}"),
    # How they stand.
    "memory.report.standing": Wording(
        "{active} known, {pending} waiting, {superseded} replaced and kept as history",
        "已记住 {active} 条，等待 {pending} 条，历史 {superseded} 条",
    ),
    "memory.report.kinds": Wording("by kind: {counts}", "按种类：{counts}"),
    "memory.report.trusts": Wording("by trust: {counts}", "按可信度：{counts}"),
    "memory.report.count": Wording("{name} {count}", "{name} {count}"),
    "memory.report.clean": Wording("Nothing asks for your eye.", "没有需要处理的内容。"),
    "memory.report.finding": Wording("{what}: {count}. {meaning}", "{what}：{count} 条。{meaning}"),
    "memory.report.numbers": Wording("numbers: {numbers}", "编号：{numbers}"),
    "memory.finding.waiting": Wording("waiting", "等待查看"),
    "memory.finding.contradicting": Wording("contradicting", "互相矛盾"),
    "memory.finding.repeated": Wording("repeated", "重复"),
    "memory.finding.past": Wording("past", "已过期"),
    "memory.finding.faded": Wording("faded", "已淡化"),
    "memory.finding.unused": Wording("unused", "未用到"),
    "memory.meaning.waiting": Wording(
        "They are not used until you have looked at them (the first since {since}): macaron memory review",
        "你查看之前不会使用（最早一条自 {since} 起等待）：macaron memory review",
    ),
    "memory.meaning.contradicting": Wording(
        "They cannot hold at the same time; forget or edit what is wrong: macaron memory forget NUMBER",
        "它们不能同时成立；请忘记或修改错误的：macaron memory forget 编号",
    ),
    "memory.meaning.repeated": Wording(
        "They say the same; one is enough: macaron memory forget NUMBER",
        "它们说的是同一件事，留一条即可：macaron memory forget 编号",
    ),
    "memory.meaning.past": Wording(
        "Their day is over; what still holds can be edited: macaron memory edit NUMBER",
        "日期已过；仍然有效的可以修改：macaron memory edit 编号",
    ),
    "memory.meaning.faded": Wording(
        "Old or doubted, so they are recalled no more; what still holds can be said again: macaron memory edit NUMBER",
        "时间久远或存疑，不再想起；仍然有效的可以重新说明：macaron memory edit 编号",
    ),
    "memory.meaning.unused": Wording(
        "Not recalled once in {days} days; what is of no use can go: macaron memory forget NUMBER",
        "{days} 天内一次也没有用到；没用的可以忘记：macaron memory forget 编号",
    ),
    # The terminal.
    "command.memory": Wording(
        "See, correct, approve and forget what is remembered", "查看、更正、批准和忘记所记住的内容"
    ),
    "memory.screen.title": Wording(
        "Memory · {active} known, {pending} wait for you", "记忆 · 已记住 {active} 条，{pending} 条等你查看"
    ),
    "memory.screen.waiting": Wording(
        "Memory · what waits for you ({pending})", "记忆 · 等你查看的内容（{pending} 条）"
    ),
    "memory.screen.paused": Wording(" · paused since {day}", " · 自 {day} 起暂停"),
    "memory.screen.none": Wording(
        "Nothing is remembered yet. Say something about yourself in the chat, or add it here.",
        "还没有记住任何内容。可以在对话中谈谈自己，或在这里添加。",
    ),
    "memory.placeholder": Wording("search", "搜索"),
    "memory.write": Wording("What should be remembered?", "要记住什么？"),
    "memory.write.empty": Wording("Write what should be remembered.", "请写下要记住的内容。"),
    "foot.search": Wording("search", "搜索"),
    "foot.add": Wording("add", "添加"),
    "foot.approve": Wording("approve", "批准"),
    "foot.forget": Wording("forget", "忘记"),
    "foot.waiting": Wording("waiting", "待查看"),
    "key.memory.search": Wording("search", "搜索"),
    "key.memory.add": Wording("write what should be remembered", "写下要记住的内容"),
    "key.memory.approve": Wording("approve one that waits", "批准等待查看的一条"),
    "key.memory.edit": Wording("say it otherwise", "换个说法"),
    "key.memory.forget": Wording("forget it for good; reject one that waits", "永久忘记；拒绝等待查看的一条"),
    "key.memory.waiting": Wording("list those that wait, or those that are known", "列出等待查看的，或已记住的"),
    "key.memory.pause": Wording("pause remembering, or go on", "暂停记忆，或继续"),
    "help.memory.enter": Wording("see its words and where they come from", "查看原话和来源"),
    # The page.
    "page.memory.close": Wording("Close memory", "关闭记忆"),
    "page.memory.back": Wording("All memories", "全部记忆"),
    "page.memory.known": Wording("Known", "已记住"),
    "page.memory.waiting": Wording("Waiting ({count})", "待查看（{count}）"),
    "page.memory.report": Wording("How they stand", "整理报告"),
    "page.memory.pause": Wording("Pause", "暂停"),
    "page.memory.resume": Wording("Go on remembering", "恢复"),
    "page.memory.search": Wording("Search", "搜索"),
    "page.memory.search.label": Wording("Search in memory", "搜索记忆"),
    "page.memory.add": Wording("Add", "添加"),
    "page.memory.add.label": Wording("What should be remembered?", "要记住什么？"),
    "page.memory.approve": Wording("Approve", "批准"),
    "page.memory.reject": Wording("Reject", "拒绝"),
    "page.memory.edit": Wording("Save", "保存"),
    "page.memory.forget": Wording("Forget", "忘记"),
    "page.memory.edit.label": Wording("What is remembered", "记住的内容"),
    "page.memory.older": Wording("Show older ones", "显示更早的"),
}
