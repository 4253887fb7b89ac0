"""What every face says of tools and permissions."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "call.from": Wording("{name} ({source})", "{name}（{source}）"),
    "call.with": Wording("{name}: {given}", "{name}：{given}"),
    "call.state.waiting": Wording("waiting", "等待中"),
    "call.state.running": Wording("running", "运行中"),
    "call.state.done": Wording("done", "完成"),
    "call.state.failed": Wording("failed", "失败"),
    "call.state.refused": Wording("not run", "未运行"),
    "call.state.rejected": Wording("rejected", "已拒绝"),
    "call.state.interrupted": Wording("interrupted", "已中断"),
    "approval.title": Wording("May it? {title}", "允许吗？{title}"),
    "approval.reason.changes": Wording("It would change something.", "它会改动内容。"),
    "approval.reason.reaches": Wording("It would reach beyond this program.", "它会访问本程序之外。"),
    "approval.reason.no_sandbox": Wording(
        "This machine has no working sandbox, so it would run with all your rights.",
        "本机没有可用的沙箱，它将以您的全部权限运行。",
    ),
    "approval.reason.leaves_tainted": Wording(
        "This conversation holds text of others, which may want to carry something out.",
        "本对话含有他人的文字，可能想借此带走信息。",
    ),
    "approval.covers": Wording("Always and never: {tool} with {pattern}", "始终与永不的范围：{tool}，{pattern}"),
    "approval.once": Wording("allow", "允许"),
    "approval.always": Wording("always", "始终允许"),
    "approval.reject": Wording("reject", "拒绝"),
    "approval.never": Wording("never", "永不允许"),
    "help.call": Wording("While a tool waits for your answer:", "工具等待答复时："),
    "key.call.once": Wording("allow this call", "允许这次调用"),
    "key.call.always": Wording("allow it, now and always", "现在和以后都允许"),
    "key.call.reject": Wording("reject this call", "拒绝这次调用"),
    "key.call.never": Wording("reject it, now and always", "现在和以后都拒绝"),
}
