"""What is said of signals: thumbs, better answers, edited answers and picks."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "signal.thumb_up": Wording("thumb up", "赞"),
    "signal.thumb_down": Wording("thumb down", "踩"),
    "signal.thumb_none": Wording("thumb taken back", "评价已撤回"),
    "signal.correction": Wording("better answer", "更好的回答"),
    "signal.edit": Wording("edited answer", "改写的回答"),
    "signal.pick": Wording("chosen of two", "二选一"),
    "signal.went_on": Wording("gone on from, of two", "从两者之一继续"),
    "signal.suggestion_accepted": Wording("suggestion accepted", "接受了建议"),
    "signal.suggestion_dismissed": Wording("suggestion dismissed", "忽略了建议"),
    "signal.tainted": Wording("not confirmed", "未确认"),
    # What was noted.
    "signal.noted": Wording(
        "Noted as a better answer, word for word. /teach when you have 8.",
        "已逐字记为更好的回答。满 8 条后可用 /teach。",
    ),
    "signal.noted.edit": Wording(
        "Noted as the answer you want. The conversation goes on from what was answered. /teach when you have 8.",
        "已记为你想要的回答。对话仍从原来的回答继续。满 8 条后可用 /teach。",
    ),
    "signal.noted.tainted": Wording(
        "Noted. You did not type all that goes with it, so nothing learns from it until you confirm it: /signals",
        "已记下。其中有些文字不是你输入的，确认之前不会用于学习：/signals",
    ),
    "signal.picked": Wording("Noted: this answer is the better one.", "已记下：这个回答更好。"),
    "turn.noted.correction": Wording("better answer noted", "已记下更好的回答"),
    "turn.noted.edit": Wording("edited answer noted", "已记下改写的回答"),
    "nothing.correct": Wording("There is no answer to correct yet.", "还没有可以更正的回答。"),
    "better.usage": Wording("Write /better and what should have been answered.", "请输入 /better 和本该给出的回答。"),
    "composer.correcting": Wording(
        "Editing the answer; Enter notes it, {stop} cancels", "正在改写回答；按 Enter 记下，按 {stop} 取消"
    ),
    # Lists.
    "signals.none": Wording(
        "Nothing yet. Thumbs, better answers and picks are listed here.",
        "还没有内容。评价、更好的回答和选择会列在这里。",
    ),
    "signals.more": Wording("More with: --before {number}", "更多：--before {number}"),
    "signals.title": Wording("What you said of answers", "你对回答的反馈"),
    "signals.erased": Wording("Erased.", "已删除。"),
    "signals.confirmed": Wording("Confirmed: it may be learned from.", "已确认：可以用于学习。"),
    "signals.list.number": Wording("number", "编号"),
    "signals.list.day": Wording("day", "日期"),
    "signals.list.kind": Wording("kind", "种类"),
    "signals.list.state": Wording("state", "状态"),
    "signals.list.text": Wording("text", "文字"),
    "signals.show.turn": Wording("turn", "轮次"),
    "signals.show.source": Wording("source", "来源"),
    "signals.show.other": Wording("passed over", "未选的一轮"),
    "signals.show.asked": Wording("asked", "问题"),
    "signals.show.answered": Wording("answered", "原回答"),
    "signals.show.better": Wording("better", "更好的回答"),
    "signals.noted.tainted": Wording(
        "You did not type all that goes with it. Let it teach with: macaron signals confirm {number}",
        "其中有些文字不是你输入的。确认后才会用于学习：macaron signals confirm {number}",
    ),
    "signals.noted": Wording("Noted as signal {number}.", "已记为反馈 {number}。"),
    # The terminal.
    "command.better": Wording("Note what should have been answered", "记下本该给出的回答"),
    "command.edit-answer": Wording("Edit the answer and note it", "改写回答并记下"),
    "command.pick": Wording("Note that this answer is the better one", "记下这个回答更好"),
    "command.signals": Wording("See, confirm and erase what you said of answers", "查看、确认和删除你的反馈"),
    "key.turn.edit_answer": Wording("edit the answer", "改写回答"),
    "key.turn.pick": Wording("this answer is the better one", "这个回答更好"),
    "key.signals.erase": Wording("erase", "删除"),
    "key.signals.confirm": Wording("confirm", "确认"),
    "foot.erase": Wording("erase", "删除"),
    "foot.confirm": Wording("confirm", "确认"),
    # The page.
    "page.better": Wording("Write a better answer", "写一个更好的回答"),
    "page.correcting": Wording("Writing a better answer; Esc cancels", "正在写更好的回答；按 Esc 取消"),
    "page.pick": Wording("This answer is the better one", "这个回答更好"),
    "page.signals": Wording("What you said of answers", "你对回答的反馈"),
    "page.erase": Wording("Erase", "删除"),
    "page.confirm": Wording("Confirm", "确认"),
    "page.signals.more": Wording("Show older ones", "显示更早的反馈"),
    "page.signals.close": Wording("Close the list", "关闭列表"),
    "page.noted": Wording(
        "Noted as the answer you want, word for word. The conversation goes on from what was answered.",
        "已逐字记为你想要的回答。对话仍从原来的回答继续。",
    ),
    "page.noted.tainted": Wording(
        "Noted. You did not type all that goes with it, so nothing learns from it until you confirm it in the list.",
        "已记下。其中有些文字不是你输入的，在列表中确认之前不会用于学习。",
    ),
}
