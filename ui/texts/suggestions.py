"""What is said of suggestions: the question, why it is asked, and how to have no more of its kind."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # Questions
    "suggestion.due": Wording(
        "“{text}” is on {day}. Shall I remind you at {remind_at}?", "“{text}”是在 {day}。要我在 {remind_at} 提醒你吗？"
    ),
    "suggestion.due.event": Wording(
        "“{text}” begins on {day} at {time}. Shall I remind you at {remind_at}?",
        "“{text}”在 {day} {time} 开始。要我在 {remind_at} 提醒你吗？",
    ),
    "suggestion.habit": Wording(
        "Shall I ask this for you {weekdays} at {time}: “{text}”", "要我{weekdays} {time} 替你问这个吗：“{text}”"
    ),
    "suggestion.stale": Wording("You said “{text}”. Is that still so?", "你说过“{text}”。现在还是这样吗？"),
    "suggestion.break": Wording(
        "You have been here for {minutes} minutes. How about a break?", "你已经连续用了 {minutes} 分钟，休息一下吧？"
    ),
    # Reasons
    "suggestion.due.why": Wording("because you mentioned it on {said_on}", "因为你在 {said_on} 提到过"),
    "suggestion.due.event.why": Wording(
        "because it is in your calendar and has no reminder", "因为它在你的日历里，还没有提醒"
    ),
    "suggestion.habit.why": Wording(
        "because you asked it on {count} days at about this time, the last of them {days}",
        "因为你有 {count} 天在差不多的时间问过它，最近是 {days}",
    ),
    "suggestion.stale.why": Wording(
        "because you have not said so again since {said_on}", "因为从 {said_on} 以来你没有再说起过"
    ),
    "suggestion.break.why": Wording("because there was no pause since {since}", "因为从 {since} 起没有停过"),
    # Weekdays of a habit
    "suggestion.every_day": Wording("every day", "每天"),
    "suggestion.every_mon-fri": Wording("on working days", "每个工作日"),
    "suggestion.every_mon": Wording("on Mondays", "每周一"),
    "suggestion.every_tue": Wording("on Tuesdays", "每周二"),
    "suggestion.every_wed": Wording("on Wednesdays", "每周三"),
    "suggestion.every_thu": Wording("on Thursdays", "每周四"),
    "suggestion.every_fri": Wording("on Fridays", "每周五"),
    "suggestion.every_sat": Wording("on Saturdays", "每周六"),
    "suggestion.every_sun": Wording("on Sundays", "每周日"),
    # Answers
    "suggestion.yes": Wording("Yes", "好"),
    "suggestion.yes.stale": Wording("Still so", "还是这样"),
    "suggestion.no": Wording("No, thanks", "不用"),
    "suggestion.off": Wording(
        "No more of these: macaron suggestions off --kind {kind}",
        "不再要这类建议：macaron suggestions off --kind {kind}",
    ),
    "suggestion.accepted.due": Wording("I will remind you at {remind_at}.", "我会在 {remind_at} 提醒你。"),
    "suggestion.accepted.habit": Wording(
        "A job asks it from now on: macaron jobs list.", "以后由任务来问：macaron jobs list。"
    ),
    "suggestion.accepted.stale": Wording("Good to know: I keep it.", "好的，我会记着。"),
    "suggestion.accepted.break": Wording("Enjoy it.", "好好休息。"),
    "suggestion.dismissed": Wording("All right, not that.", "好的，不再提这个。"),
    # Lists
    "suggestions.none": Wording("Nothing is suggested.", "现在没有建议。"),
    "suggestions.is_off": Wording(
        "Suggestions are off. Turn them on: macaron suggestions on", "建议已关闭。打开：macaron suggestions on"
    ),
    "suggestions.kinds_off": Wording("Off: {kinds}", "已关闭：{kinds}"),
    "suggestions.on": Wording("Suggestions are on.", "建议已打开。"),
    "suggestions.kind_on": Wording("Suggestions of this kind are on: {kind}", "这类建议已打开：{kind}"),
    "suggestions.kind_off": Wording("Suggestions of this kind are off: {kind}", "这类建议已关闭：{kind}"),
    "suggestions.gone": Wording("(its words are gone)", "（原文已不在）"),
    "suggestions.list.number": Wording("number", "编号"),
    "suggestions.list.day": Wording("day", "日期"),
    "suggestions.list.state": Wording("state", "状态"),
    "suggestions.list.question": Wording("suggestion", "建议"),
    "suggestions.state.offered": Wording("open", "待回答"),
    "suggestions.state.accepted": Wording("accepted", "已接受"),
    "suggestions.state.dismissed": Wording("dismissed", "已忽略"),
    "suggestions.state.expired": Wording("expired", "已过期"),
    # Keys of the chat
    "key.chat.accept": Wording("say yes to a suggestion", "接受建议"),
    "key.chat.decline": Wording("say no to a suggestion", "忽略建议"),
}
