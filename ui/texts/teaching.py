"""What is said of teaching."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # What would be learned.
    "teach.proposal": Wording(
        "From {count} corrections of {expert} this can be learned:", "从对 {expert} 的 {count} 条更正中可以学到："
    ),
    "teach.proposal.change": Wording("  • {change}", "  • {change}"),
    "teach.proposal.examples": Wording("Such as:", "例如："),
    "teach.proposal.asked": Wording("  You asked:  {text}", "  你的提问：{text}"),
    "teach.proposal.before": Wording("  It said:    {text}", "  原来回答：{text}"),
    "teach.proposal.after": Wording("  You wanted: {text}", "  你想要的：{text}"),
    "teach.proposal.how": Wording(
        "It takes up to {minutes} minutes beside the chat, on this machine. Only an adapter that tests find better, "
        "and nowhere worse, will answer; it can be taken back.",
        "最多需要 {minutes} 分钟，在本机进行，不影响聊天。"
        "只有经测试确有改进且没有退步的适配器才会用来回答，并且可以撤销。",
    ),
    "teach.ask": Wording("Learn this?", "要学习吗？"),
    "teach.go_on": Wording("Learn it with: {command}", "开始学习：{command}"),
    "teach.not_now": Wording("Nothing was learned.", "没有学习任何内容。"),
    "teach.how_to_correct": Wording(
        "Correct an answer with `better: …` as the next message, with /better in the chat, or with the pencil "
        "in the page.",
        "更正方法：下一条消息写“更好：……”，或在聊天中用 /better，或在网页中点铅笔。",
    ),
    # While it goes on.
    "teach.phase.loading": Wording("loading", "加载"),
    "teach.phase.answering": Wording("answering as it is", "按现状回答"),
    "teach.phase.training": Wording("learning", "学习"),
    "teach.phase.testing": Wording("testing", "测试"),
    "teach.phase.saving": Wording("saving", "保存"),
    "teach.progress": Wording("{phase} {done}/{total}", "{phase} {done}/{total}"),
    "teach.left": Wording("at most {time} left", "最多还需 {time}"),
    "teach.stopping": Wording("It ends as soon as it can; nothing changes.", "将尽快结束；一切保持不变。"),
    "teach.running": Wording("Lesson for {expert}: {progress}", "{expert} 的课：{progress}"),
    "teach.busy": Wording("A lesson is being learned already.", "已经在学习一课。"),
    "teach.busy.hint": Wording("Wait until it is over, or stop it.", "请等它结束，或将它停止。"),
    # What came of it.
    "teach.result": Wording(
        "On {items} prompts it never saw, {before} → {after} answers are as you want them: {share} (95 % interval "
        "{low} to {high}, p = {p}).",
        "在 {items} 个从未见过的提问上，符合你要求的回答 {before} → {after}：{share}"
        "（95% 区间 {low} 至 {high}，p = {p}）。",
    ),
    "teach.compared": Wording("Before and after, drawn by lot:", "前后对比（随机抽取）："),
    "teach.compared.prompt": Wording("  {text}", "  {text}"),
    "teach.compared.before": Wording("    before {mark} {text}", "    之前 {mark} {text}"),
    "teach.compared.after": Wording("    after  {mark} {text}", "    之后 {mark} {text}"),
    "teach.passed": Wording("The gate let it pass.", "已通过关卡。"),
    "teach.rejected": Wording("The gate turned it away, so nothing changes:", "未通过关卡，因此一切保持不变："),
    "teach.stopped": Wording("Stopped. Nothing changes.", "已停止。一切保持不变。"),
    "teach.failed": Wording("It failed, and nothing changes:", "失败，一切保持不变："),
    "teach.reason": Wording("  {reason}", "  {reason}"),
    "teach.use": Wording("Let it answer from now on?", "从现在起用它来回答吗？"),
    "teach.in_use": Wording(
        "It answers from the next turn on, for 20 turns on trial. Take it back with: {command}",
        "从下一轮起由它回答，先试用 20 轮。撤销命令：{command}",
    ),
    "teach.kept": Wording(
        "It is kept as a candidate and does not answer. Use it with: {command}",
        "已保留为候选，暂不使用。启用命令：{command}",
    ),
    "teach.undone": Wording("{expert} answers as before the lesson.", "{expert} 恢复到学习之前的回答方式。"),
    "teach.nothing_to_undo": Wording("That lesson does not answer; nothing changed.", "该课并未启用；没有变化。"),
    "teach.minutes": Wording("It took {minutes} minutes.", "用时 {minutes} 分钟。"),
    "teach.more": Wording(
        "Try again with more corrections, or with --minutes.", "可添加更多更正，或用 --minutes 延长时间后再试。"
    ),
    # All lessons.
    "teach.list.none": Wording(
        "No lesson was taught yet. `macaron teach` begins one.", "还没有学习过任何内容。用 `macaron teach` 开始。"
    ),
    "teach.list.name": Wording("lesson", "课"),
    "teach.list.expert": Wording("expert", "专家"),
    "teach.list.state": Wording("state", "状态"),
    "teach.list.result": Wording("held-out", "留出"),
    "teach.list.changes": Wording("what should change", "应改变的内容"),
    "teach.state.proposed": Wording("proposed", "已提出"),
    "teach.state.passed": Wording("passed", "已通过"),
    "teach.state.in_use": Wording("in use", "使用中"),
    "teach.state.rejected": Wording("turned away", "未通过"),
    "teach.state.stopped": Wording("stopped", "已停止"),
    "teach.state.failed": Wording("failed", "失败"),
    # In the chat and in the page.
    "teach.title": Wording("Teach", "教学"),
    "teach.title.proposal": Wording("What can be learned", "可以学到什么"),
    "teach.title.running": Wording("Learning", "正在学习"),
    "teach.title.result": Wording("What came of the lesson", "这一课的结果"),
    "teach.looking": Wording("Looking through your corrections…", "正在查看你的更正…"),
    "teach.began": Wording(
        "It learns beside the chat; `/teach stop` ends it, `/teach result` shows in the end what came of it.",
        "学习与聊天同时进行；`/teach stop` 将其停止，结束后用 `/teach result` 查看结果。",
    ),
    "teach.over": Wording("Lesson for {expert}: {outcome}", "{expert} 的课：{outcome}"),
    "teach.over.see": Wording("{over} See it with /teach result.", "{over}用 /teach result 查看。"),
    "teach.over.passed": Wording("it passed.", "已通过。"),
    "teach.over.rejected": Wording("it was turned away.", "未通过。"),
    "teach.over.stopped": Wording("it was stopped.", "已停止。"),
    "teach.over.failed": Wording("it failed.", "失败。"),
    "teach.waits": Wording("It does not answer yet.", "尚未启用。"),
    "teach.answers": Wording(
        "It answers from the next turn on, for 20 turns on trial.", "从下一轮起由它回答，先试用 20 轮。"
    ),
    "teach.outdated": Wording("This lesson is not the one that waits here.", "这不是目前的这一课。"),
    "teach.outdated.hint": Wording("Look again at what can be learned.", "请重新查看可以学到什么。"),
    "teach.no_result": Wording("No lesson was taught since this program began.", "本程序启动以来还没有学过任何一课。"),
    "teach.no_result.hint": Wording(
        "`macaron teach --list` shows all lessons there are.", "用 `macaron teach --list` 查看所有的课。"
    ),
    "teach.none_runs": Wording("No lesson is being learned.", "没有正在学习的课。"),
    "teach.unavailable": Wording("Nothing can be taught from here.", "这里无法进行教学。"),
    "teach.ended": Wording("The lesson ended without a result.", "这一课没有结果就结束了。"),
    "teach.ended.hint": Wording(
        "Teach it in a terminal to see why: `macaron teach`.", "请在终端运行 `macaron teach` 查看原因。"
    ),
    "teach.column.unseen": Wording("Never seen in the lesson", "课上从未见过的提问"),
    "teach.column.prompt": Wording("You asked", "你的提问"),
    "teach.column.wanted": Wording("You wanted", "你想要的"),
    "teach.column.before": Wording("Before", "之前"),
    "teach.column.after": Wording("After", "之后"),
    "teach.mark.follows": Wording("as you want it", "符合要求"),
    "teach.mark.fails": Wording("not as you want it", "不符合要求"),
    "teach.marks": Wording("✓ as you want it   ✗ not as you want it", "✓ 符合要求   ✗ 不符合要求"),
    "teach.button.learn": Wording("Learn it", "学习"),
    "teach.button.not_now": Wording("Not now", "暂不"),
    "teach.button.stop": Wording("Stop", "停止"),
    "teach.button.show": Wording("Show", "查看"),
    "teach.button.use": Wording("Use it", "启用"),
    "teach.button.undo": Wording("Undo", "撤销"),
    "teach.button.close": Wording("Close", "关闭"),
    "teach.button.again": Wording("What else can be learned?", "还可以学到什么？"),
    # In the chat.
    "command.teach": Wording("Learn from your corrections", "从你的更正中学习"),
    "foot.learn": Wording("learn it", "学习"),
    "foot.not_now": Wording("not now", "暂不"),
    "foot.use_it": Wording("use it", "启用"),
    "foot.undo": Wording("undo", "撤销"),
    "key.teach.use": Wording("let it answer, on trial", "启用（先试用）"),
    "key.teach.undo": Wording("take it back", "撤销"),
    "help.teach.enter": Wording("learn it", "学习"),
    "teach.leave": Wording(
        "A lesson is being learned. If you leave, it ends and nothing changes. Leave?",
        "正在学习一课。离开会使其结束，一切保持不变。要离开吗？",
    ),
    "teach.leaving": Wording("Ending the lesson, then quitting.", "正在结束这一课，随后退出。"),
    # In the page.
    "page.teach.beside": Wording(
        "You can close this and go on chatting; it ends with `macaron web`.",
        "可以关闭此面板继续聊天；结束 `macaron web` 时它也会结束。",
    ),
}
