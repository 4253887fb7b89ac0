"""What the screens of adapters say, in the chat and in the page; the rest is in `adapters`."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "command.adapters": Wording("See, promote and take back adapters", "查看、启用和撤回适配器"),
    "adapters.screen.title": Wording("Adapters of {profile}", "{profile} 的适配器"),
    "adapters.screen.loading": Wording("Reading the adapters…", "正在读取适配器…"),
    "adapters.screen.empty": Wording(
        "No adapter has been grown here yet.\n"
        "Correct some answers and have them learned with `macaron teach`; or train one with "
        "`macaron train run RECIPE` and bring it in with `macaron adapters import RUN`. "
        "A LoRA adapter of another program comes in with `macaron adapters import PATH`.",
        "还没有在本机训练出适配器。\n"
        "更正一些回答，再用 `macaron teach` 让它学会；"
        "或用 `macaron train run 配方` 训练，再用 `macaron adapters import 运行名` 导入。"
        "其他程序的 LoRA 适配器用 `macaron adapters import 路径` 导入。",
    ),
    "adapters.screen.older": Wording("Show older ones", "显示更早的"),
    "adapters.screen.group": Wording("{expert} · {purpose}", "{expert} · {purpose}"),
    "adapters.screen.history": Wording("Where it came from, how it did, when it answered", "来源、评测与启用记录"),
    "adapters.screen.nothing_more": Wording(
        "No lineage, sources, evaluations or promotions are recorded.", "没有来源、评测或启用记录。"
    ),
    "adapters.head.name": Wording("Adapter", "适配器"),
    "adapters.head.state": Wording("State", "状态"),
    "adapters.head.age": Wording("Age", "时长"),
    "adapters.head.gate": Wording("Gate", "关卡"),
    "adapters.head.note": Wording("Note", "备注"),
    "adapters.gate.passed": Wording("gate passed", "通过关卡"),
    "adapters.gate.failed": Wording("gate failed", "未过关卡"),
    "adapters.gate.none": Wording("not gated", "未经关卡"),
    "adapters.age.now": Wording("now", "刚刚"),
    "adapters.age.minutes": Wording("{count} min", "{count} 分钟"),
    "adapters.age.hours": Wording("{count} h", "{count} 小时"),
    "adapters.age.days": Wording("{count} d", "{count} 天"),
    # Changes.
    "adapters.rollback.ask": Wording(
        "Take {name} back, so that {expert} answers as it did before?", "撤回 {name}，让 {expert} 恢复之前的回答方式？"
    ),
    "adapters.now_answers": Wording(
        "{now} answers for {expert} from the next turn on, in place of {previous}.",
        "从下一轮起由 {now} 负责 {expert}，取代 {previous}。",
    ),
    "adapters.is_gone": Wording("The adapter {name} was removed.", "已删除适配器 {name}。"),
    "adapters.cannot.promote": Wording(
        "{name} cannot be promoted; its state is: {state}.", "无法启用 {name}；它的状态是：{state}。"
    ),
    "adapters.cannot.rollback": Wording(
        "{name} cannot be taken back, since it does not answer; its state is: {state}.",
        "无法撤回 {name}，因为它没有在回答；它的状态是：{state}。",
    ),
    "adapters.cannot.remove": Wording(
        "{name} cannot be removed; its state is: {state}.", "无法删除 {name}；它的状态是：{state}。"
    ),
    "adapters.can.promote": Wording("It can be promoted.", "可以启用它。"),
    "adapters.can.rollback": Wording("It can be taken back.", "可以撤回它。"),
    "adapters.can.remove": Wording("It can be removed.", "可以删除它。"),
    "adapters.can.nothing": Wording(
        "The profile came with it, and it stays beneath every other adapter.", "它随配置提供，始终位于其他适配器之下。"
    ),
    # In the chat.
    "foot.details": Wording("details", "详情"),
    "foot.promote": Wording("promote", "启用"),
    "foot.rollback": Wording("take back", "撤回"),
    "foot.remove": Wording("remove", "删除"),
    "foot.yes": Wording("yes", "确定"),
    "foot.no": Wording("no", "取消"),
    "key.adapters.promote": Wording("promote it", "启用"),
    "key.adapters.rollback": Wording("take it back", "撤回"),
    "key.adapters.remove": Wording("remove it", "删除"),
    "help.adapters.enter": Wording("see all that is known of it", "查看它的全部信息"),
    "confirm.title": Wording("Are you sure?", "确定吗？"),
    # In the page.
    "page.adapters": Wording("Adapters", "适配器"),
    "page.adapters.close": Wording("Close", "关闭"),
    "page.adapters.back": Wording("All adapters", "全部适配器"),
    "page.adapters.promote": Wording("Promote", "启用"),
    "page.adapters.rollback": Wording("Take back", "撤回"),
    "page.adapters.remove": Wording("Remove", "删除"),
    "page.adapters.yes": Wording("Yes", "确定"),
    "page.adapters.no": Wording("No", "取消"),
    # At a turn.
    "turn.adapter": Wording("adapter {name}", "适配器 {name}"),
}
