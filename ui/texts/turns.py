"""What every face says of turns, and what the chat says."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # The route of a turn.
    "route.pinned": Wording("pinned", "已指定"),
    "route.follow_up": Wording("follow-up", "接续上文"),
    "route.surface": Wording("action in an artifact", "界面操作"),
    "route.only_expert": Wording("the only expert", "唯一的专家"),
    "route.best": Wording("best", "最合适"),
    "route.current": Wording("near tie, stays", "难分高下，保持不变"),
    "route.default": Wording("default", "默认"),
    "route.imported": Wording("imported", "导入"),
    "route.margin": Wording("{reason} by {margin}", "{reason}，领先 {margin}"),
    # Usage and context.
    "usage.tokens": Wording("read {read} + reused {reused}", "读 {read} + 复用 {reused}"),
    "usage.speed": Wording("{speed} tok/s", "{speed} 词元/秒"),
    "context.used": Wording("context {used}", "上下文 {used}"),
    "context.meter": Wording("context {used}/{limit}", "上下文 {used}/{limit}"),
    # While a turn runs.
    "phase.loading": Wording("loading the model", "正在加载模型"),
    "phase.waiting": Wording("waiting for other turns", "等待其他对话"),
    "phase.waiting_behind": Wording("waiting: {count} before this one", "排队中：前面还有 {count} 个"),
    "phase.opening": Wording("starting", "启动中"),
    "phase.routing": Wording("routing", "选择专家"),
    "phase.summarising": Wording("summarising earlier turns", "总结先前的对话"),
    "phase.acting": Wording("using a tool", "使用工具"),
    "phase.asking": Wording("waiting for your answer", "等待您的答复"),
    "phase.delegating": Wording("asking another expert", "询问另一位专家"),
    "phase.preparing": Wording("preparing the answer", "准备回答"),
    "phase.writing": Wording("writing", "回答中"),
    "phase.stopping": Wording("stopping", "停止中"),
    "progress.reading": Wording("reading {done} of {total} tokens", "读取 {done}/{total} 词元"),
    "progress.within": Wording("{phase}: {progress}", "{phase}：{progress}"),
    "progress.seconds": Wording("{phase} · {seconds} s", "{phase} · {seconds} 秒"),
    # How a turn ended.
    "state.stopped": Wording("stopped", "已停止"),
    "state.failed": Wording("failed", "失败"),
    "state.interrupted": Wording("interrupted before the answer was complete", "回答完成前被中断"),
    "state.empty": Wording("(empty answer)", "（空回答）"),
    "state.retry": Wording("Press {pressed} to answer this message again.", "按 {pressed} 重新回答这条消息。"),
    "error.problem": Wording("Problem: {problem}", "问题：{problem}"),
    "error.hint": Wording("What to do: {hint}", "解决办法：{hint}"),
    "error.unexpected": Wording("The program made a mistake", "程序出错"),
    "error.unexpected_hint": Wording("Try again.", "请重试。"),
    "notice.folded": Wording(
        "The conversation outgrew the context: {count} earlier turns are no longer read. They stay in the history.",
        "对话超出了上下文：较早的 {count} 轮不再被读取，但仍保存在历史记录中。",
    ),
    "notice.folded.one": Wording(
        "The conversation outgrew the context: {count} earlier turn is no longer read. It stays in the history.",
        "对话超出了上下文：较早的 {count} 轮不再被读取，但仍保存在历史记录中。",
    ),
    "notice.folded.kept": Wording("{folded} Read in their place: {lines}.", "{folded}代替它们被读取的：{lines}。"),
    "folded.lines": Wording("{count} lines", "{count} 行摘记"),
    "folded.lines.one": Wording("{count} line", "{count} 行摘记"),
    "folded.moved_out": Wording(
        "{count} more to be kept have no room there; recall and search still find them.",
        "还有 {count} 条要记住的内容在此放不下，但回忆和搜索仍能找到。",
    ),
    "folded.moved_out.one": Wording(
        "{count} more to be kept has no room there; recall and search still find it.",
        "还有 {count} 条要记住的内容在此放不下，但回忆和搜索仍能找到。",
    ),
    "folded.line": Wording("{kind}: {text}", "{kind}：{text}"),
    "folded.kind.instruction": Wording("instruction", "要求"),
    "folded.kind.fact": Wording("fact", "事实"),
    "folded.kind.preference": Wording("preference", "偏好"),
    "folded.kind.relation": Wording("relation", "关系"),
    "folded.kind.plan": Wording("plan", "计划"),
    "folded.kind.decision": Wording("decided", "决定"),
    "folded.kind.given": Wording("given", "已知"),
    "folded.kind.question": Wording("open", "待定"),
    "folded.kind.asked": Wording("asked", "问过"),
    "folded.kind.answered": Wording("answered", "答过"),
    "folded.kind.attached": Wording("attached file", "附件"),
    "folded.kind.pasted": Wording("pasted text", "粘贴的文本"),
    "notice.no_room_for_results": Wording(
        "The results of the tools do not fit the context any more; the answer ends here.",
        "工具的结果已放不进上下文，回答到此为止。",
    ),
    "notice.length": Wording(
        "The answer was cut after {tokens} tokens, the longest this profile allows.",
        "回答在 {tokens} 个词元处被截断，已达到此配置允许的最大长度。",
    ),
    "notice.recalled": Wording("In mind: {texts}", "想起：{texts}"),
    "notice.written": Wording("Remembered: {texts}", "已记住：{texts}"),
    "notice.confirmed": Wording("Known before, surer now: {texts}", "之前就知道，现在更确定：{texts}"),
    "notice.doubted": Wording("No longer relied on: {texts}", "不再采信：{texts}"),
    "notice.not_remembered": Wording(
        "The answer says that something was remembered, but nothing was written. Say it as a fact of yours, such as "
        "“I prefer tea”, or add it with macaron memory add.",
        "回答声称已经记住，但实际上什么都没有写入。请以你自己的事实来说，例如“我更喜欢喝茶”，"
        "或用 macaron memory add 添加。",
    ),
    "notice.memory_failed": Wording(
        "Nothing of this turn could be remembered: {problem}", "这一轮的内容无法记住：{problem}"
    ),
    "notice.other": Wording("Note: {code}", "提示：{code}"),
    "notice.other_values": Wording("Note: {code} ({values})", "提示：{code}（{values}）"),
    # What belongs to a turn.
    "turn.version": Wording("{place}/{count}", "{place}/{count}"),
    "turn.thumb_up": Wording("thumb up (+1)", "赞（+1）"),
    "turn.thumb_down": Wording("thumb down (-1)", "踩（-1）"),
    "thought.open": Wording("thinking: {words}", "思考中：{words}"),
    "thought.over": Wording("thought: {words}", "思考：{words}"),
    "thought.timed": Wording("thought for {seconds} s: {words}", "思考了 {seconds} 秒：{words}"),
    "thought.words": Wording("{count} words", "{count} 字"),
    "thought.words.one": Wording("{count} word", "{count} 字"),
    "call.named": Wording("called {name}", "调用了 {name}"),
    "call.unnamed": Wording("called a tool", "调用了工具"),
    "attached": Wording("attached: {names}", "附件：{names}"),
    # The transcript.
    "you": Wording("You", "你"),
    "link": Wording("{text} ({address})", "{text}（{address}）"),
    "image": Wording("[image, not loaded: {text}]", "[图片，未加载：{text}]"),
    "earlier.one": Wording("{count} earlier turn; scroll up to see it", "还有 {count} 轮较早的对话，向上滚动查看"),
    "earlier": Wording("{count} earlier turns; scroll up to see them", "还有 {count} 轮较早的对话，向上滚动查看"),
    "welcome.title": Wording(
        "A conversation with several experts, on this computer.", "与多位专家对话，全程在本机运行。"
    ),
    "welcome.body": Wording(
        "Ask anything; each message goes to the expert that fits it. Try:\n"
        "  What is the capital of France?\n"
        "  Write a Python function that reverses a string.\n"
        "Nothing you write leaves this computer.",
        "请随意提问，每条消息都会交给最合适的专家。例如：\n"
        "  法国的首都是哪里？\n"
        "  写一个反转字符串的 Python 函数。\n"
        "你写的内容不会离开这台电脑。",
    ),
    "about": Wording("{base} answers, on {backend}: {reason}.", "由 {base} 回答，运行于 {backend}（{reason}）。"),
    # The status line between turns.
    "status.off_record": Wording("off the record", "不留记录"),
    "status.ready": Wording("ready", "就绪"),
    "status.branch": Wording("branch {place}/{count}", "分支 {place}/{count}"),
    "status.pin": Wording("pinned to {expert}", "已指定 {expert}"),
    # Lists of conversations.
    "history.title": Wording("Conversations", "对话历史"),
    "history.empty": Wording("No conversations yet.", "还没有对话。"),
    "history.no_hits": Wording("Nothing found for “{query}”.", "没有找到“{query}”。"),
    "history.turns": Wording("{count} turns", "{count} 轮"),
    "history.turns.one": Wording("{count} turn", "{count} 轮"),
    "history.untitled": Wording("(untitled)", "（无标题）"),
    "role.user": Wording("you", "你"),
    "role.assistant": Wording("answer", "回答"),
}
