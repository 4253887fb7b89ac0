"""What is said of training runs."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # While a run goes on.
    "train.begin": Wording("The run is in {folder}", "运行文件夹：{folder}"),
    "train.steps": Wording("step {done}/{steps}", "步 {done}/{steps}"),
    "train.left": Wording("{time} left", "剩余 {time}"),
    "train.activity.loading": Wording("loading", "加载中"),
    "train.activity.evaluating": Wording("evaluating", "评测中"),
    "train.activity.sampling": Wording("sampling", "采样中"),
    "train.activity.training": Wording("training", "训练中"),
    "train.activity.saving": Wording("saving", "保存中"),
    "train.step": Wording("step {place}: {figures}", "第 {place} 步：{figures}"),
    "train.evaluation": Wording(
        "held-out after step {step} (items: {items}): {figures}", "第 {step} 步后的留出评测，{items} 项：{figures}"
    ),
    "train.note": Wording("note: {text}", "提示：{text}"),
    "train.figure.reward": Wording("reward {value}", "奖励 {value}"),
    "train.figure.accuracy": Wording("accuracy {value}", "正确率 {value}"),
    "train.figure.length": Wording("length {value} tokens", "长度 {value} 词元"),
    "train.figure.loss": Wording("loss {value}", "损失 {value}"),
    "train.figure.kl_target": Wording("KL on target {value}", "目标 KL {value}"),
    "train.figure.kl_general": Wording("KL off target {value}", "非目标 KL {value}"),
    "train.figure.mismatch": Wording("mismatch {value}", "偏差 {value}"),
    "train.figure.sampling": Wording("sampling {value} tok/s", "采样 {value} 词元/秒"),
    "train.figure.training": Wording("training {value} tok/s", "训练 {value} 词元/秒"),
    "train.figure.idle": Wording("idle {value}", "空闲 {value}"),
    "train.waiting": Wording("It was asked to wait, and does.", "已要求等待。"),
    "train.goes_on": Wording("It goes on.", "继续运行。"),
    "train.stopping": Wording(
        "It ends as soon as it can and keeps the steps that are done. Ctrl+C again ends it at once. "
        "Go on later with: {go_on}",
        "将尽快结束，并保留已完成的步。再按一次 Ctrl+C 立即结束。之后可继续：{go_on}",
    ),
    # How it ended.
    "train.end.finished": Wording("Finished after step {step}.{why}", "已完成，共 {step} 步。{why}"),
    "train.end.stopped": Wording(
        "Stopped after step {step}.{why} Go on with: macaron train resume {name}",
        "已停止，共 {step} 步。{why}继续命令：macaron train resume {name}",
    ),
    "train.change": Wording(
        "Held-out, before → after (items: {items}): {figures}", "留出评测，训练前 → 训练后，{items} 项：{figures}"
    ),
    "train.adapter": Wording("The adapter is {path}", "适配器位于 {path}"),
    "train.report": Wording("The report is {path}", "报告位于 {path}"),
    "train.report.unopened": Wording(
        "No browser could be opened here; open that file yourself.", "此处无法打开浏览器，请自行打开该文件。"
    ),
    "train.killed": Wording(
        "The trainer was killed by signal 9 (SIGKILL): most likely memory ran out.",
        "训练进程被信号 9 (SIGKILL) 终止：很可能是内存不足。",
    ),
    "train.killed.hint": Wording(
        "Close other programs, then go on with `{go_on}`. A new run with a smaller batch.graph_tokens or "
        "rollouts.together in its recipe takes less memory.",
        "请关闭其他程序，然后用 `{go_on}` 继续。新的运行可在配方中减小 batch.graph_tokens 或 rollouts.together "
        "以节省内存。",
    ),
    "train.crashed": Wording("The trainer crashed with signal {signal}{words}", "训练进程因信号 {signal} 崩溃{words}"),
    "train.ended": Wording(
        "The trainer ended with exit code {code} and did not say why{words}",
        "训练进程以退出码 {code} 结束，未说明原因{words}",
    ),
    "train.crashed.hint": Wording(
        "Its folder has the rest in log.txt. Nothing but the step under way is lost; go on with `{go_on}`.",
        "详情见其文件夹中的 log.txt。只损失当前这一步，可用 `{go_on}` 继续。",
    ),
    # Said to a run from outside.
    "train.paused": Wording(
        "It waits. Let it go on with: macaron train pause {name} --off",
        "已暂停。继续命令：macaron train pause {name} --off",
    ),
    "train.asked_to_stop": Wording(
        "It ends as soon as it can and keeps the steps that are done. Go on later with: macaron train resume {name}",
        "将尽快结束，并保留已完成的步。之后可继续：macaron train resume {name}",
    ),
    # The list.
    "train.list.none": Wording(
        "No runs yet. Begin one with: macaron train run RECIPE.toml",
        "还没有运行。开始命令：macaron train run 配方.toml",
    ),
    "train.list.name": Wording("run", "运行"),
    "train.list.state": Wording("state", "状态"),
    "train.list.step": Wording("step", "步"),
    "train.list.accuracy": Wording("accuracy", "正确率"),
    "train.list.length": Wording("tokens", "词元"),
    "train.list.problem": Wording("problem", "问题"),
    "train.state.new": Wording("new", "新建"),
    "train.state.running": Wording("running", "运行中"),
    "train.state.paused": Wording("paused", "已暂停"),
    "train.state.stopped": Wording("stopped", "已停止"),
    "train.state.finished": Wording("finished", "已完成"),
    "train.state.failed": Wording("failed", "失败"),
    "train.state.cut_off": Wording("cut off", "中断"),
}
