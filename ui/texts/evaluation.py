"""What is said while adapters are measured, and of what came out."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # While it goes on.
    "eval.progress": Wording("{who} · {suite} · {done} of {total}", "{who} · {suite} · {done}/{total}"),
    "eval.who.candidate": Wording("the candidate", "候选适配器"),
    "eval.who.champion": Wording("the champion", "现任适配器"),
    "eval.who.expert": Wording("the expert", "该专家"),
    "eval.who.factory": Wording("the factory's", "出厂状态"),
    "eval.drift": Wording("general requests", "通用请求"),
    "eval.stopped": Wording(
        "Stopped. What was measured of champion and factory is remembered.", "已停止。现任与出厂的测量结果已保存。"
    ),
    # What was measured.
    "eval.measured.now": Wording(
        "{expert} of {profile} as it answers now ({name})", "{profile} 的 {expert} 当前状态（{name}）"
    ),
    "eval.measured.adapter": Wording("{expert} of {profile} with {name}", "{profile} 的 {expert}，使用 {name}"),
    "eval.against.factory": Wording("Compared with the factory's", "与出厂状态比较"),
    "eval.against.champion": Wording("Compared with the champion {name}", "与现任适配器 {name} 比较"),
    "eval.head.suite": Wording("suite", "评测集"),
    "eval.head.items": Wording("items", "题数"),
    "eval.head.accuracy": Wording("right", "正确"),
    "eval.head.nats": Wording("loss a token", "每词元损失"),
    "eval.head.before": Wording("before", "之前"),
    "eval.head.change": Wording("change", "变化"),
    "eval.change": Wording(
        "{points:+.1f} points ({low:+.1f} to {high:+.1f}), {wins} better, {losses} worse",
        "{points:+.1f} 个百分点（{low:+.1f} 至 {high:+.1f}），{wins} 道变对，{losses} 道变错",
    ),
    "eval.change.none": Wording("cannot be compared", "无法比较"),
    "eval.seconds": Wording("Measured in {time}.", "测量用时 {time}。"),
    # The gate.
    "eval.gate.title": Wording(
        "{name} for {expert} of {profile}, by the rules of {rules}",
        "{name}，用于 {profile} 的 {expert}，按 {rules} 规则",
    ),
    "eval.gate.holds": Wording("What holds ({count}):", "成立的项目（{count}）："),
    "eval.gate.open": Wording("What could not be told ({count}):", "无法判定的项目（{count}）："),
    "eval.gate.next.passed": Wording(
        "Let it answer with: macaron adapters promote {name}", "启用命令：macaron adapters promote {name}"
    ),
    "eval.gate.next.failed": Wording(
        "It stays as it is. All that is known of it: macaron adapters show {name}",
        "状态不变。查看全部信息：macaron adapters show {name}",
    ),
    "eval.gate.in_use": Wording(
        "It answers now. Take it back with: macaron adapters rollback {expert}",
        "它正在使用中。回退命令：macaron adapters rollback {expert}",
    ),
    # Promotions.
    "adapters.promote.never_gated": Wording(
        "No gate was passed: it was never tested. Test it with: macaron eval {name} --gate",
        "未通过任何关卡：从未测试。测试命令：macaron eval {name} --gate",
    ),
    "adapters.promote.gate_failed": Wording("The gate did not pass it: {reasons}", "关卡未通过：{reasons}"),
    "adapters.promote.ask_canary": Wording(
        "Let {name} answer the next {turns} turns of {expert} on trial?",
        "让 {name} 试用接下来 {expert} 的 {turns} 轮？",
    ),
    "adapters.on_trial": Wording(
        "{now} answers the next {turns} turns of {expert} on trial, in place of {previous}. It stays when its answers "
        "are liked. Back at once with: macaron adapters rollback {expert}",
        "{now} 将试用接下来 {expert} 的 {turns} 轮，取代 {previous}。是否保留取决于对其回答的满意度。"
        "立即回退：macaron adapters rollback {expert}",
    ),
}
