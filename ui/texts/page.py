"""What the page in the browser says."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "page.title": Wording("Macaron Tall", "Macaron Tall"),
    "page.welcome.title": Wording("What can we do for you?", "今天想聊点什么？"),
    "page.welcome.body": Wording(
        "Each message goes to the expert that fits it.\nNothing you write leaves this computer.",
        "每条消息都会交给最合适的专家。\n你写的内容不会离开这台电脑。",
    ),
    # The sidebar.
    "page.new": Wording("New chat", "新对话"),
    "page.search": Wording("Search all messages", "搜索所有消息"),
    "page.more": Wording("Show older conversations", "显示更早的对话"),
    "page.rename": Wording("Rename", "重命名"),
    "page.profile": Wording("Profile", "配置"),
    "page.profile_loading": Wording("Loading the base of “{profile}”…", "正在加载“{profile}”的基座模型…"),
    "page.profile_changed": Wording("From now on “{profile}” answers.", "此后由“{profile}”回答。"),
    "page.theme": Wording("Light or dark", "浅色或深色"),
    "page.language": Wording("Language", "语言"),
    # The conversation.
    "page.untitled": Wording("New chat", "新对话"),
    "page.export_markdown": Wording("Save as Markdown", "导出为 Markdown"),
    "page.export_json": Wording("Save as JSON", "导出为 JSON"),
    "page.earlier.one": Wording("Show {count} earlier turn", "显示更早的 {count} 轮"),
    "page.earlier": Wording("Show {count} earlier turns", "显示更早的 {count} 轮"),
    "page.thinking": Wording("Thought ({count} words)", "思考过程（{count} 字）"),
    "page.tool_call": Wording("Tool call {name}", "调用工具 {name}"),
    "page.copy": Wording("Copy the answer", "复制回答"),
    "page.copy_code": Wording("Copy", "复制"),
    "page.edit": Wording("Edit the message", "编辑消息"),
    "page.again": Wording("Answer again", "重新回答"),
    "page.retry": Wording("Answer this message again", "重新回答这条消息"),
    "page.good": Wording("Good answer", "回答得好"),
    "page.bad": Wording("Bad answer", "回答得不好"),
    "page.older": Wording("Older version", "较早的版本"),
    "page.newer": Wording("Newer version", "较新的版本"),
    # The composer.
    "page.off_record": Wording("New conversations off the record", "新对话不留记录"),
    "page.expert": Wording("Who answers", "由谁回答"),
    "page.auto": Wording("auto · choose for each message", "auto · 为每条消息选择"),
    "page.write": Wording("Write a message", "输入消息"),
    "page.keys": Wording("Enter sends · Shift+Enter new line · Esc stops", "Enter 发送 · Shift+Enter 换行 · Esc 停止"),
    "page.send": Wording("Send", "发送"),
    "page.stop": Wording("Stop", "停止"),
    "page.attach": Wording("Attach text files", "附加文本文件"),
    "page.remove": Wording("Remove", "移除"),
    "page.editing": Wording("Editing an earlier message; Esc cancels", "正在编辑先前的消息；按 Esc 取消"),
    "page.cancel": Wording("Cancel", "取消"),
    # What cannot be done, and what went wrong.
    "page.busy": Wording("An answer is being written in this tab.", "此标签页正在回答。"),
    "page.busy_hint": Wording("Stop it first, or open another tab.", "请先停止，或打开另一个标签页。"),
    "page.lost": Wording("The program that shows this page has ended.", "显示此页面的程序已结束。"),
    "page.lost_hint": Wording(
        "Run `macaron web` again. Your conversations are kept.", "请再次运行 `macaron web`。你的对话都已保存。"
    ),
    "page.file_kind": Wording("{name} is not a text file.", "{name} 不是文本文件。"),
    "page.file_kind_hint": Wording("Attach a text file in UTF-8.", "请附加 UTF-8 编码的文本文件。"),
    "page.file_size": Wording("{name} is too large.", "{name} 太大。"),
    "page.file_size_hint": Wording("Attach text of at most {limit} KB.", "请附加不超过 {limit} KB 的文本。"),
    # The command.
    "web.listening": Wording("The page is at {address}", "页面地址：{address}"),
    "web.ticket": Wording(
        "Open this address within a minute; it works once: {address}",
        "请在一分钟内打开此地址（只能使用一次）：{address}",
    ),
    "web.how": Wording(
        "Ctrl+C ends it. To log in another browser, run `macaron web` again.",
        "按 Ctrl+C 结束。要登录另一个浏览器，请再次运行 `macaron web`。",
    ),
    "web.running": Wording("The page of this home runs already.", "此数据目录的页面已在运行。"),
    "web.port_taken": Wording(
        "Another program has port {wanted}; the page uses {port}.", "端口 {wanted} 已被其他程序占用，页面改用 {port}。"
    ),
    "page.unexpected_hint": Wording("Try again.", "请重试。"),
}
