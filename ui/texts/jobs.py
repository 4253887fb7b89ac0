"""What is said of jobs: when they are due, how they stand, what became of their times, and notices of theirs."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "jobs.none": Wording(
        'Nothing yet. Begin with: macaron jobs add "Tea is ready" --in 4m',
        '还没有定时任务。可以这样开始：macaron jobs add "茶泡好了" --in 4m',
    ),
    "jobs.list.number": Wording("number", "编号"),
    "jobs.list.title": Wording("title", "标题"),
    "jobs.list.kind": Wording("kind", "种类"),
    "jobs.list.when": Wording("when", "时间"),
    "jobs.list.next": Wording("next", "下次"),
    "jobs.list.state": Wording("state", "状态"),
    "jobs.list.last": Wording("last", "上次"),
    "jobs.kind.reminder": Wording("reminder", "提醒"),
    "jobs.kind.prompt": Wording("prompt", "提问"),
    "jobs.when.once": Wording("once", "一次"),
    "jobs.when.every": Wording("every {step}", "每 {step}"),
    "jobs.when.cron": Wording("cron {fields}", "cron {fields}"),
    "jobs.due_now": Wording("due now", "已到时间"),
    "jobs.state.on": Wording("on", "启用"),
    "jobs.state.off": Wording("off", "停用"),
    "jobs.state.over": Wording("over", "已结束"),
    "jobs.state.blocked": Wording("blocked", "受阻"),
    "jobs.state.waiting": Wording("waits its turn", "排队中"),
    "jobs.state.running": Wording("running", "运行中"),
    # What became of a time.
    "jobs.outcome.waiting": Wording("waits", "等待"),
    "jobs.outcome.running": Wording("running", "运行中"),
    "jobs.outcome.done": Wording("done", "完成"),
    "jobs.outcome.failed": Wording("failed", "失败"),
    "jobs.outcome.interrupted": Wording("interrupted", "中断"),
    "jobs.outcome.missed": Wording("missed", "错过"),
    "jobs.outcome.blocked": Wording("blocked", "受阻"),
    "jobs.outcome.cancelled": Wording("cancelled", "取消"),
    "jobs.outcome.stopped": Wording("stopped", "停止"),
    "jobs.times": Wording("{outcome}, {count} times", "{outcome}，{count} 次"),
    "jobs.by_hand": Wording("{outcome}, by hand", "{outcome}，手动"),
    # One job.
    "jobs.show.expert": Wording("expert", "专家"),
    "jobs.show.zone": Wording("time zone", "时区"),
    "jobs.show.missed": Wording("missed times", "错过的时间"),
    "jobs.show.created": Wording("made", "创建于"),
    "jobs.show.by": Wording("by", "来源"),
    "jobs.show.blocked_by": Wording("missing", "缺少"),
    "jobs.show.text": Wording("text", "文字"),
    "jobs.missed.skip": Wording("are let go", "不再执行"),
    "jobs.missed.once": Wording("run once, for the last of them", "补做一次（最后一次）"),
    "jobs.missed.all": Wording("run, the last {most} of them", "补做最后 {most} 次"),
    # What was done.
    "jobs.added": Wording("Job {number}, due {when}.", "任务 {number}，时间：{when}。"),
    "jobs.enabled": Wording("Job {number} is on again, due {when}.", "任务 {number} 已启用，时间：{when}。"),
    "jobs.disabled": Wording("Job {number} is off.", "任务 {number} 已停用。"),
    "jobs.removed": Wording("Removed.", "已移除。"),
    "jobs.asked": Wording(
        "Job {number} runs as soon as nothing else does; see: macaron jobs history {number}",
        "任务 {number} 将在空闲时立即运行；结果见：macaron jobs history {number}",
    ),
    # The history.
    "jobs.history.none": Wording("Nothing has happened yet.", "还没有运行记录。"),
    "jobs.history.number": Wording("number", "编号"),
    "jobs.history.job": Wording("job", "任务"),
    "jobs.history.planned": Wording("planned", "计划时间"),
    "jobs.history.began": Wording("began", "开始"),
    "jobs.history.took": Wording("took", "用时"),
    "jobs.history.outcome": Wording("outcome", "结果"),
    "jobs.history.text": Wording("text", "内容"),
    "jobs.history.more": Wording("More with: --before {number}", "更多：--before {number}"),
    # Notices.
    "jobs.notice.late": Wording("{text} (this was due {when})", "{text}（原定时间：{when}）"),
    "jobs.notice.failed": Wording("This job failed: {problem}", "任务失败：{problem}"),
    "jobs.notice.blocked": Wording(
        "This job cannot run, and this is said once: {problem}", "任务无法运行（只提示一次）：{problem}"
    ),
}
