"""What is said of forgetting: what goes, what has gone, and what is left."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "forget.will_go": Wording("This will go, and cannot be brought back:", "以下内容将被遗忘，且无法恢复："),
    "forget.gone": Wording("Forgotten:", "已遗忘："),
    "forget.nothing": Wording("Nothing of it is here any more.", "这里已没有任何相关内容。"),
    "forget.ask": Wording("Forget it?", "确定遗忘？"),
    "forget.kept": Wording("Nothing was forgotten.", "没有遗忘任何内容。"),
    "forget.writing_anew": Wording(
        "Writing the database anew without it ({size} MB)…", "正在重写数据库以彻底清除（{size} MB）…"
    ),
    "forget.place.messages": Wording("messages and answers", "消息和回答"),
    "forget.place.files": Wording("attached files", "附件"),
    "forget.place.calls": Wording("tool calls", "工具调用"),
    "forget.place.titles": Wording("titles", "标题"),
    "forget.place.problems": Wording("descriptions of failures", "失败说明"),
    "forget.place.summaries": Wording("summaries", "摘要"),
    "forget.place.signals": Wording("what you said of answers", "对回答的反馈"),
    "forget.place.memories": Wording("memories, earlier versions included", "记忆（含旧版本）"),
    "forget.place.views": Wording("views that begin anew", "重新开始的视图"),
    "forget.place.segments": Wording("turns in token ids", "以词元保存的轮次"),
    "forget.place.traces": Wording("records of what models read and wrote", "模型读写记录"),
    "forget.place.notes": Wording("notes", "笔记"),
    "forget.place.events": Wording("events and reminders", "日程和提醒"),
    "forget.place.jobs": Wording("jobs", "任务"),
    "forget.place.job_runs": Wording("results of jobs", "任务结果"),
    "forget.place.tools": Wording("tools written here", "在此编写的工具"),
    "forget.place.permissions": Wording("permissions", "权限"),
    "forget.place.lessons": Wording("lessons", "课程"),
    "forget.place.runs": Wording("training runs", "训练运行"),
    "forget.place.adapters": Wording("adapters made from it", "由此训练的适配器"),
    "forget.place.other_files": Wording("other files of the program", "程序的其他文件"),
    "forget.adapter": Wording("Adapter {name} of {expert} is retired for good.", "{expert} 的适配器 {name} 永久停用。"),
    "forget.adapter.answering": Wording(
        "Adapter {name}, which answers for {expert}, is retired for good; what answered before it, or the expert as it "
        "came, answers from the next turn on.",
        "正在为 {expert} 作答的适配器 {name} 永久停用；从下一轮起改由之前的适配器或原始专家作答。",
    ),
    "forget.teach": Wording(
        "{count} corrections are left for {expert}; to teach it anew from these: {command}",
        "{expert} 还剩 {count} 条更正；用它们重新教：{command}",
    ),
    "forget.teach.too_few": Wording(
        "{count} corrections are left for {expert}; with 8 it can be taught anew: {command}",
        "{expert} 还剩 {count} 条更正；满 8 条后可重新教：{command}",
    ),
    "forget.not_scrubbed": Wording(
        "Another program reads the database just now, so its log still holds it; the next start of macaron clears it.",
        "另一个程序正在读取数据库，其日志中仍有残留；macaron 下次启动时会清除。",
    ),
    "forget.elsewhere": Wording(
        "The same words were said elsewhere, apart from this; they stay:", "别处也独立出现过同样的文字，它们会保留："
    ),
    "forget.everywhere": Wording(
        "To forget them there too, give the words on standard input to: {command}",
        "如需一并遗忘，请通过标准输入把文字交给：{command}",
    ),
    "forget.remaining": Wording(
        "Copies that may hold it are not touched. To remove them:", "以下副本可能仍含有这些内容，不会被改动。删除方法："
    ),
    "forget.copy.backup": Wording("backup", "备份"),
    "forget.copy.put_aside": Wording("put aside by a restore", "恢复时留存的旧数据"),
    "forget.copy.export": Wording("export", "导出"),
    "forget.copy.file": Wording("file of yours", "你的文件"),
    "forget.unknown_copies": Wording(
        "What was saved from the chat or the page, training runs in folders of your own, and copies that others made, "
        "are not known here.",
        "从聊天或网页中保存的内容、你自选文件夹中的训练运行，以及他人制作的副本，这里无从得知。",
    ),
}
