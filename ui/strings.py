"""Every text that a face shows, in English and Chinese. Knows no event and no widget.

Placeholders are those of `str.format`. Both languages of a text have the same placeholders; a test holds them to it.
"""

from collections.abc import Mapping
from typing import NamedTuple

LANGUAGES = ("en", "zh")


class Wording(NamedTuple):
    en: str
    zh: str


def detect_language(environment: Mapping[str, str]) -> str:
    """`zh` when the locale of the environment is Chinese, else `en`. The first variable that is set decides."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if locale := environment.get(variable, ""):
            return "zh" if locale.lower().startswith("zh") else "en"
    return "en"


def say(key: str, language: str, **values: object) -> str:
    """The text of `key`, filled in. A language we do not have reads English."""
    wording = TEXTS[key]
    return (wording.zh if language == "zh" else wording.en).format(**values)


def say_count(key: str, language: str, count: int) -> str:
    """The text of `key` for `count` things; English has a text of its own for one."""
    return say(f"{key}.one" if count == 1 else key, language, count=count)


TEXTS: Mapping[str, Wording] = {
    # The route of a turn.
    "route.pinned": Wording("pinned", "已指定"),
    "route.follow_up": Wording("follow-up", "接续上文"),
    "route.surface": Wording("action in an artifact", "界面操作"),
    "route.only_expert": Wording("the only expert", "唯一的专家"),
    "route.best": Wording("best", "最合适"),
    "route.current": Wording("near tie, stays", "难分高下，保持不变"),
    "route.default": Wording("default", "默认"),
    "route.margin": Wording("{reason} by {margin}", "{reason}，领先 {margin}"),
    # Usage and context.
    "usage.tokens": Wording("read {read} + reused {reused}", "读 {read} + 复用 {reused}"),
    "usage.speed": Wording("{speed} tok/s", "{speed} 词元/秒"),
    "context.used": Wording("context {used}", "上下文 {used}"),
    "context.meter": Wording("context {used}/{limit}", "上下文 {used}/{limit}"),
    # While a turn runs.
    "phase.opening": Wording("starting", "启动中"),
    "phase.routing": Wording("routing", "选择专家"),
    "phase.summarising": Wording("summarising earlier turns", "总结先前的对话"),
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
    "state.retry": Wording("Press Ctrl+R to answer this message again.", "按 Ctrl+R 重新回答这条消息。"),
    "error.problem": Wording("Problem: {problem}", "问题：{problem}"),
    "error.hint": Wording("What to do: {hint}", "解决办法：{hint}"),
    "error.unexpected": Wording("The program made a mistake", "程序出错"),
    "error.unexpected_hint": Wording("Try again with Ctrl+R.", "按 Ctrl+R 重试。"),
    "notice.folded": Wording(
        "The conversation outgrew the context: {count} earlier turns are no longer read. They stay in the history.",
        "对话超出了上下文：较早的 {count} 轮不再被读取，但仍保存在历史记录中。",
    ),
    "notice.folded.one": Wording(
        "The conversation outgrew the context: {count} earlier turn is no longer read. It stays in the history.",
        "对话超出了上下文：较早的 {count} 轮不再被读取，但仍保存在历史记录中。",
    ),
    "notice.length": Wording(
        "The answer was cut after {tokens} tokens, the longest this profile allows.",
        "回答在 {tokens} 个词元处被截断，已达到此配置允许的最大长度。",
    ),
    "doctor.ok": Wording("ok ", "正常"),
    "doctor.bad": Wording("BAD", "异常"),
    "doctor.system": Wording("System", "系统"),
    "doctor.memory": Wording("Memory", "内存"),
    "doctor.disk": Wording("Disk", "磁盘"),
    "doctor.home": Wording("Home", "数据目录"),
    "doctor.llama_cpp": Wording("llama.cpp", "llama.cpp"),
    "doctor.profile": Wording("Profile", "配置"),
    "doctor.base": Wording("Base", "基座模型"),
    "doctor.backend": Wording("Runs on", "运行于"),
    "doctor.fit": Wording("Fit", "容量"),
    "doctor.speed": Wording("Speed", "速度"),
    "doctor.engine": Wording("Engine", "引擎"),
    "loading": Wording("loading …", "正在加载 …"),
    "notice.other": Wording("Note: {code}", "提示：{code}"),
    "notice.other_values": Wording("Note: {code} ({values})", "提示：{code}（{values}）"),
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
    "welcome.keys": Wording(
        "Enter sends, Ctrl+J starts a new line, Esc stops an answer.\n"
        "Ctrl+P lists every action, F1 explains the keys, Ctrl+Q quits.",
        "Enter 发送，Ctrl+J 换行，Esc 停止回答。\nCtrl+P 列出全部操作，F1 查看按键说明，Ctrl+Q 退出。",
    ),
    "about": Wording("{base} answers, on {backend}: {reason}.", "由 {base} 回答，运行于 {backend}（{reason}）。"),
    # The composer and the line of keys.
    "composer.placeholder": Wording("Write a message, or / for a command", "输入消息，或用 / 开始命令"),
    "composer.editing": Wording(
        "Editing your last message: Enter sends it, Esc cancels", "正在编辑上一条消息：Enter 发送，Esc 取消"
    ),
    "keys.ready": Wording(
        "Enter send  ^N new  ^L history  ^E edit  ^R again  ^T expert  F1 help  ^Q quit",
        "Enter 发送  ^N 新对话  ^L 历史  ^E 编辑  ^R 重答  ^T 专家  F1 帮助  ^Q 退出",
    ),
    "keys.running": Wording(
        "Esc stop  PgUp/PgDn scroll  F1 help  ^P actions  ^Q quit",
        "Esc 停止  PgUp/PgDn 滚动  F1 帮助  ^P 操作  ^Q 退出",
    ),
    "keys.editing": Wording(
        "Enter send  ^J new line  Esc cancel editing  F1 help", "Enter 发送  ^J 换行  Esc 取消编辑  F1 帮助"
    ),
    "status.ready": Wording("ready", "就绪"),
    "status.pin": Wording("pinned to {expert}", "已指定 {expert}"),
    # Messages about what cannot be done now.
    "busy": Wording("An answer is being written. Press Esc to stop it first.", "正在回答。请先按 Esc 停止。"),
    "nothing.regenerate": Wording("There is no message to answer again yet.", "还没有可以重新回答的消息。"),
    "nothing.edit": Wording("There is no message to edit yet.", "还没有可以编辑的消息。"),
    "quit.how": Wording("Press Ctrl+Q to quit.", "按 Ctrl+Q 退出。"),
    "quit.waiting": Wording("Stopping the answer, then quitting.", "正在停止回答，随后退出。"),
    "copied": Wording("Copied.", "已复制。"),
    "command.unknown": Wording(
        "There is no command {name}. Commands: {known}. To send a text that begins with a slash, write // first.",
        "没有命令 {name}。可用命令：{known}。要发送以斜杠开头的文本，请以 // 开头。",
    ),
    "expert.unknown": Wording("There is no expert {name}. Experts: {known}.", "没有专家 {name}。可用专家：{known}。"),
    "expert.pinned": Wording(
        "{expert} answers from now on. /expert auto goes back to choosing.",
        "此后由 {expert} 回答。/expert auto 恢复自动选择。",
    ),
    "expert.unpinned": Wording("The expert is chosen for each message again.", "已恢复为每条消息自动选择专家。"),
    # Commands: one line each, for the palette and the help.
    "command.new": Wording("Start a new conversation", "开始新对话"),
    "command.expert": Wording("Pin an expert, or let each message choose", "指定专家，或恢复自动选择"),
    "command.history": Wording("Find and continue a conversation", "查找并继续以前的对话"),
    "command.regenerate": Wording("Answer the last message again", "重新回答上一条消息"),
    "command.edit": Wording("Edit the last message and send it again", "编辑上一条消息并重新发送"),
    "command.help": Wording("Explain the keys and commands", "查看按键和命令说明"),
    "command.quit": Wording("Quit", "退出"),
    "command.stop": Wording("Stop the answer", "停止回答"),
    "command.theme": Wording("Switch between light and dark", "切换浅色和深色"),
    "palette.placeholder": Wording("Search for an action", "搜索操作"),
    # The history list.
    "history.title": Wording("Conversations", "对话历史"),
    "history.placeholder": Wording("Search for words in all messages", "在所有消息中搜索"),
    "history.empty": Wording("No conversations yet.", "还没有对话。"),
    "history.no_hits": Wording("Nothing found for “{query}”.", "没有找到“{query}”。"),
    "history.loading": Wording("Looking…", "查找中…"),
    "history.turns": Wording("{count} turns", "{count} 轮"),
    "history.turns.one": Wording("{count} turn", "{count} 轮"),
    "history.untitled": Wording("(untitled)", "（无标题）"),
    "history.keys": Wording(
        "Type to search  ↑ ↓ choose  Enter continue  Esc close", "输入以搜索  ↑ ↓ 选择  Enter 继续  Esc 关闭"
    ),
    "role.user": Wording("you", "你"),
    "role.assistant": Wording("answer", "回答"),
    # The list of experts.
    "experts.title": Wording("Who answers", "由谁回答"),
    "experts.auto": Wording("auto · choose an expert for each message", "auto · 为每条消息选择专家"),
    "experts.marked": Wording("{line} (current)", "{line}（当前）"),
    "experts.keys": Wording("↑ ↓ choose  Enter pin  Esc close", "↑ ↓ 选择  Enter 指定  Esc 关闭"),
    # The help.
    "help.title": Wording("Help", "帮助"),
    "help.commands": Wording("Commands", "命令"),
    "help.close": Wording("Esc close  ↑ ↓ scroll", "Esc 关闭  ↑ ↓ 滚动"),
    "help.chat": Wording(
        "Enter            send\n"
        "Ctrl+J           new line (Shift+Enter too, in some terminals)\n"
        "Up               previous prompt, when the prompt is empty\n"
        "Esc              stop the answer; otherwise close what is open\n"
        "PageUp PageDown  scroll the conversation\n"
        "Ctrl+N           new conversation\n"
        "Ctrl+L           list of conversations\n"
        "Ctrl+E           edit your last message\n"
        "Ctrl+R           answer the last message again\n"
        "Ctrl+T           pin an expert\n"
        "Ctrl+P           every action\n"
        "Ctrl+C           copy what is selected; stop the answer\n"
        "Ctrl+Q           quit",
        "Enter            发送\n"
        "Ctrl+J           换行（部分终端也可用 Shift+Enter）\n"
        "Up               输入框为空时取回上一条\n"
        "Esc              停止回答；否则关闭最上面的窗口\n"
        "PageUp PageDown  滚动对话\n"
        "Ctrl+N           新对话\n"
        "Ctrl+L           对话历史\n"
        "Ctrl+E           编辑上一条消息\n"
        "Ctrl+R           重新回答上一条消息\n"
        "Ctrl+T           指定专家\n"
        "Ctrl+P           全部操作\n"
        "Ctrl+C           复制所选内容；停止回答\n"
        "Ctrl+Q           退出",
    ),
    "help.history": Wording(
        "Type             search for words in all messages\n"
        "Up Down          choose a conversation\n"
        "Enter            continue it\n"
        "Esc              close the list",
        "输入文字         在所有消息中搜索\n"
        "Up Down          选择对话\n"
        "Enter            继续该对话\n"
        "Esc              关闭列表",
    ),
    "help.experts": Wording(
        "Up Down          choose an expert\n"
        "Enter            let it answer from now on\n"
        "Esc              close the list",
        "Up Down          选择专家\nEnter            此后由该专家回答\nEsc              关闭列表",
    ),
}
