"""The five questions of the first day, and what is remembered of their answers."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "interview.title": Wording("Five short questions", "五个小问题"),
    "interview.offer": Wording(
        "Shall I ask you five short questions, to know you better?", "要我问你五个小问题，好更了解你吗？"
    ),
    "interview.offer.why": Wording(
        "because this is the first day; each can be skipped, and /interview asks again at any time",
        "因为今天是第一天；每个都可以跳过，随时可用 /interview 再来",
    ),
    "interview.offer.yes": Wording("Yes", "好"),
    "interview.offer.no": Wording("Never ask", "不再询问"),
    "interview.ask.name": Wording("What shall I call you?", "我该怎么称呼你？"),
    "interview.ask.answers": Wording(
        "In which language and tone do you want answers?", "你希望我用什么语言和语气回答？"
    ),
    "interview.ask.region": Wording(
        "Where are you, and which units and time zone do you use?", "你在哪里？用什么单位和时区？"
    ),
    "interview.ask.work": Wording("What do you work on?", "你在忙些什么，做什么工作？"),
    "interview.ask.avoid": Wording("What should I avoid?", "有什么是我应该避免的？"),
    "interview.statement.name": Wording("What to call me: {answer}", "怎么称呼我：{answer}"),
    "interview.statement.answers": Wording("How to answer me: {answer}", "怎么回答我：{answer}"),
    "interview.statement.region": Wording(
        "Where I am, my units and time zone: {answer}", "我在哪里，我的单位和时区：{answer}"
    ),
    "interview.statement.work": Wording("What I work on: {answer}", "我在做的事和工作：{answer}"),
    "interview.statement.avoid": Wording("What to avoid: {answer}", "要避免的：{answer}"),
    "interview.number": Wording("{number} of {count}", "第 {number} 个，共 {count} 个"),
    "interview.hint": Wording("An empty answer skips the question.", "留空即跳过。"),
    "interview.kept": Wording("I will remember {count} things.", "我会记住 {count} 件事。"),
    "interview.kept.one": Wording("I will remember {count} thing.", "我会记住 {count} 件事。"),
    "interview.nothing": Wording("All right, I remember nothing of it.", "好的，我什么都没有记。"),
    "interview.declined": Wording("I will not ask again. /interview does.", "我不会再问。需要时可用 /interview。"),
    "command.interview": Wording("answer five questions about you", "回答五个关于你的问题"),
    "foot.next": Wording("next", "下一个"),
    "foot.end": Wording("end", "结束"),
}
