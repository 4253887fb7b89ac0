"""What the chat in the terminal says beyond turns."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "welcome.keys": Wording(
        "Enter sends, {newline} starts a new line, {stop} stops an answer.\n"
        "{palette} lists every action, {help} explains the keys, {quit} quits.",
        "Enter 发送，{newline} 换行，{stop} 停止回答。\n{palette} 列出全部操作，{help} 查看按键说明，{quit} 退出。",
    ),
    # The composer and the line of keys.
    "composer.placeholder": Wording(
        "Write a message, / for a command, @ for a file", "输入消息，/ 输入命令，@ 附上文件"
    ),
    "composer.editing": Wording(
        "Editing your message: Enter sends it, {stop} cancels", "正在编辑消息：Enter 发送，{stop} 取消"
    ),
    "composer.branching": Wording(
        "Going on after “{text}”: Enter sends, {stop} cancels", "从“{text}”之后继续：Enter 发送，{stop} 取消"
    ),
    "foot.send": Wording("send", "发送"),
    "foot.new": Wording("new", "新对话"),
    "foot.history": Wording("history", "历史"),
    "foot.edit": Wording("edit", "编辑"),
    "foot.again": Wording("again", "重答"),
    "foot.expert": Wording("expert", "专家"),
    "foot.help": Wording("help", "帮助"),
    "foot.quit": Wording("quit", "退出"),
    "foot.stop": Wording("stop", "停止"),
    "foot.scroll": Wording("scroll", "滚动"),
    "foot.actions": Wording("actions", "操作"),
    "foot.newline": Wording("new line", "换行"),
    "foot.cancel": Wording("cancel", "取消"),
    "foot.branch": Wording("branch", "分支"),
    "foot.copy": Wording("copy", "复制"),
    "foot.thumb": Wording("thumb", "评价"),
    "foot.version": Wording("version", "版本"),
    "foot.back": Wording("back", "返回"),
    "foot.choose": Wording("choose", "选择"),
    "foot.take": Wording("take", "采用"),
    "foot.close": Wording("close", "关闭"),
    "foot.continue": Wording("continue", "继续"),
    "foot.rename": Wording("rename", "重命名"),
    "foot.export": Wording("export", "导出"),
    "foot.go": Wording("go there", "前往"),
    "foot.pin": Wording("pin", "指定"),
    "foot.use": Wording("use", "使用"),
    "foot.save": Wording("save", "保存"),
    # Messages about what cannot be done now, and what was done.
    "busy": Wording("An answer is being written. Press {stop} to stop it first.", "正在回答。请先按 {stop} 停止。"),
    "busy.profile": Wording("The profile is being changed. Please wait.", "正在切换配置，请稍候。"),
    "nothing.regenerate": Wording("There is no message to answer again yet.", "还没有可以重新回答的消息。"),
    "nothing.edit": Wording("There is no message to edit yet.", "还没有可以编辑的消息。"),
    "nothing.rate": Wording("There is no answer to rate yet.", "还没有可以评价的回答。"),
    "nothing.copy": Wording("There is no answer to copy yet.", "还没有可以复制的回答。"),
    "nothing.conversation": Wording("There is no conversation yet.", "还没有对话。"),
    "nothing.versions": Wording("This message has one version only.", "这条消息只有一个版本。"),
    "nothing.more_versions": Wording("There is no further version on this side.", "这一侧没有更多版本。"),
    "thumb.usage": Wording(
        "Write /thumb up, /thumb down or /thumb none.", "请输入 /thumb up、/thumb down 或 /thumb none。"
    ),
    "theme.usage": Wording("Write /theme dark or /theme light.", "请输入 /theme dark 或 /theme light。"),
    "quit.how": Wording("Press {quit} to quit.", "按 {quit} 退出。"),
    "quit.waiting": Wording("Stopping the answer, then quitting.", "正在停止回答，随后退出。"),
    "copied": Wording("Copied.", "已复制。"),
    "renamed": Wording("Renamed to “{title}”.", "已重命名为“{title}”。"),
    "rename.title": Wording("Title of the conversation", "对话标题"),
    "rename.empty": Wording("A title needs some text.", "标题不能为空。"),
    "expert.unknown": Wording("There is no expert {name}. Experts: {known}.", "没有专家 {name}。可用专家：{known}。"),
    "expert.pinned": Wording(
        "{expert} answers from now on. /expert auto goes back to choosing.",
        "此后由 {expert} 回答。/expert auto 恢复自动选择。",
    ),
    "expert.unpinned": Wording("The expert is chosen for each message again.", "已恢复为每条消息自动选择专家。"),
    "profile.used": Wording("Profile {name}.", "当前配置：{name}。"),
    "profile.unknown": Wording(
        "There is no profile {name}. Profiles: {known}.", "没有配置 {name}。可用配置：{known}。"
    ),
    "profile.loading": Wording("loading profile {name}", "正在加载配置 {name}"),
    # Export.
    "export.done": Wording("Written to {path}", "已写入 {path}"),
    "export.exists": Wording("{path} exists already.", "{path} 已存在。"),
    "export.exists.hint": Wording("Name another file; nothing is overwritten.", "请换一个文件名，不会覆盖已有文件。"),
    "export.failed": Wording("{path} cannot be written: {reason}.", "无法写入 {path}：{reason}。"),
    "export.failed.hint": Wording("Name a file in another folder.", "请指定其他文件夹中的文件。"),
    # Commands: one line each, for the palette and the help.
    "command.unknown": Wording(
        "There is no command {name}. Commands: {known}. To send a text that begins with a slash, write // first.",
        "没有命令 {name}。可用命令：{known}。要发送以斜杠开头的文本，请以 // 开头。",
    ),
    "command.nearest": Wording(
        "There is no command {name}. Did you mean {nearest}? To send a text that begins with a slash, write // first.",
        "没有命令 {name}。是否想输入 {nearest}？要发送以斜杠开头的文本，请以 // 开头。",
    ),
    "command.new": Wording("Start a new conversation", "开始新对话"),
    "command.off-record": Wording("Start a conversation of which nothing is kept", "开始一段不留记录的对话"),
    "off_record.begun": Wording(
        "Off the record: this conversation is in no history, nothing of it is remembered or learned, what is known of "
        "you is not read, and it is gone when the host ends. /new goes back.",
        "不留记录：这段对话不会进入历史记录，不会被记住或用于学习，也不会读取已有的记忆；主机退出后即消失。"
        "/new 可返回。",
    ),
    "command.expert": Wording("Pin an expert, or let each message choose", "指定专家，或恢复自动选择"),
    "command.history": Wording("Find and continue a conversation", "查找并继续以前的对话"),
    "command.regenerate": Wording("Answer the message again", "重新回答消息"),
    "command.edit": Wording("Edit the message and send it again", "编辑消息并重新发送"),
    "command.branch": Wording("Go on from a turn, as another branch", "从某一轮另开分支"),
    "command.tree": Wording("Show all branches as a tree", "以树状显示全部分支"),
    "command.rename": Wording("Rename the conversation", "重命名对话"),
    "command.export": Wording("Write the conversation to a file", "将对话写入文件"),
    "command.attach": Wording("Send a text file with the message", "随消息附上文本文件"),
    "command.thumb": Wording("Rate the answer", "评价回答"),
    "command.copy": Wording("Copy the answer", "复制回答"),
    "command.profile": Wording("Change the profile that answers", "切换回答所用的配置"),
    "command.theme": Wording("Switch between light and dark", "切换浅色和深色"),
    "command.help": Wording("Explain the keys and commands", "查看按键和命令说明"),
    "command.quit": Wording("Quit", "退出"),
    "command.stop": Wording("Stop the answer", "停止回答"),
    "command.thoughts": Wording("Show or hide thoughts and tool calls", "显示或隐藏思考和工具调用"),
    "palette.placeholder": Wording("Search for an action", "搜索操作"),
    # The history list.
    "history.placeholder": Wording("Search for words in all messages", "在所有消息中搜索"),
    "history.loading": Wording("Looking…", "查找中…"),
    # The list of experts, the list of profiles, the tree.
    "experts.title": Wording("Who answers", "由谁回答"),
    "experts.auto": Wording("auto · choose an expert for each message", "auto · 为每条消息选择专家"),
    "choice.marked": Wording("{line} (current)", "{line}（当前）"),
    "profiles.title": Wording("Profiles", "配置"),
    "tree.title": Wording("Branches: ● is the one in use", "分支：● 为当前使用的分支"),
    "tree.empty": Wording("(attached files only)", "（仅有附件）"),
    # The help.
    "help.title": Wording("Help", "帮助"),
    "help.commands": Wording("Commands", "命令"),
    "help.own_keys": Wording(
        'Other keys: in settings.toml under [keys], by the id in brackets, such as\n"chat.new" = "ctrl+g".',
        '可在 settings.toml 的 [keys] 中按括号里的编号更改按键，例如\n"chat.new" = "ctrl+g"。',
    ),
    "help.close": Wording("Esc close  ↑ ↓ scroll", "Esc 关闭  ↑ ↓ 滚动"),
    "help.line": Wording("{keys}{text} ({id})", "{keys}{text}（{id}）"),
    "help.turn": Wording("On the selected turn", "对所选的一轮"),
    "help.enter": Wording("send", "发送"),
    "help.up": Wording("previous prompt, when the prompt is empty", "输入框为空时取回上一条"),
    "help.ctrl_c": Wording("copy what is selected; stop the answer", "复制所选内容；停止回答"),
    "help.choose": Wording("choose", "选择"),
    "help.type": Wording("search for words in all messages", "在所有消息中搜索"),
    "help.history.enter": Wording("continue the conversation", "继续该对话"),
    "help.experts.enter": Wording("let it answer from now on", "此后由该专家回答"),
    "help.profiles.enter": Wording("answer with it from now on", "此后用它回答"),
    "help.tree.enter": Wording("go there", "前往"),
    "help.esc": Wording("close the list", "关闭列表"),
    "key.composer.newline": Wording("new line", "换行"),
    "key.composer.complete": Wording("complete a command or a file", "补全命令或文件名"),
    "key.app.escape": Wording("stop the answer; otherwise close what is open", "停止回答；否则关闭最上面的窗口"),
    "key.chat.page_up": Wording("scroll up", "向上滚动"),
    "key.chat.page_down": Wording("scroll down", "向下滚动"),
    "key.chat.new": Wording("new conversation", "新对话"),
    "key.chat.history": Wording("list of conversations", "对话历史"),
    "key.chat.edit": Wording("edit your message", "编辑消息"),
    "key.chat.regenerate": Wording("answer the message again", "重新回答消息"),
    "key.chat.expert": Wording("pin an expert", "指定专家"),
    "key.chat.tree": Wording("tree of branches", "分支树"),
    "key.chat.thoughts": Wording("show thoughts and tool calls", "显示思考和工具调用"),
    "key.chat.previous_turn": Wording("select the turn before", "选择上一轮"),
    "key.chat.next_turn": Wording("select the next turn", "选择下一轮"),
    "key.chat.previous_version": Wording("the version before", "上一个版本"),
    "key.chat.next_version": Wording("the next version", "下一个版本"),
    "key.app.palette": Wording("every action", "全部操作"),
    "key.app.help": Wording("this help", "本帮助"),
    "key.app.quit": Wording("quit", "退出"),
    "key.turn.edit": Wording("edit its message", "编辑这条消息"),
    "key.turn.regenerate": Wording("answer it again", "重新回答"),
    "key.turn.branch": Wording("go on from here, as another branch", "从这里另开分支"),
    "key.turn.copy": Wording("copy the answer", "复制回答"),
    "key.turn.thumb_up": Wording("thumb up", "赞"),
    "key.turn.thumb_down": Wording("thumb down", "踩"),
    "key.history.previous": Wording("the conversation before", "上一个对话"),
    "key.history.next": Wording("the next conversation", "下一个对话"),
    "key.history.rename": Wording("rename it", "重命名"),
    "key.history.export": Wording("write it to a file", "写入文件"),
    "key.tree.branch": Wording("go on from there, as another branch", "从那里另开分支"),
    # Keys of the user's own.
    "keymap.unknown": Wording(
        "settings.toml gives a key to {name}, which there is not. F1 shows the ids.",
        "settings.toml 中的按键编号 {name} 不存在。按 F1 查看编号。",
    ),
    "keymap.bad": Wording(
        "settings.toml: {keys}, for {name}, is not a key.", "settings.toml：{name} 的 {keys} 不是按键。"
    ),
    "keymap.letter": Wording(
        "settings.toml: {keys}, for {name}, is needed for writing. Add Ctrl or Alt.",
        "settings.toml：{name} 的 {keys} 是输入文字所需的按键。请加上 Ctrl 或 Alt。",
    ),
    "keymap.clash": Wording(
        "settings.toml: {keys}, for {name}, is the key of {other} already.",
        "settings.toml：{name} 的 {keys} 已用于 {other}。",
    ),
    # Attachments, and why a file cannot be one.
    "attach.pending": Wording(
        "With it go: {names}. Backspace in an empty prompt, or /attach none, takes them back.",
        "将随消息附上：{names}。在空输入框中按 Backspace，或用 /attach none 取消。",
    ),
    "attach.mentioned": Wording("With it go: {names}", "将随消息附上：{names}"),
    "attach.name": Wording("{name} ({size})", "{name}（{size}）"),
    "attach.status.one": Wording("{count} file attached", "附件 {count} 个"),
    "attach.status": Wording("{count} files attached", "附件 {count} 个"),
    "attach.none": Wording("No file goes with the message.", "没有要随消息附上的文件。"),
    "attach.usage": Wording(
        "Write /attach and the path of a text file, or @ and its name in the message.",
        "请输入 /attach 和文本文件的路径，或在消息中用 @ 加文件名。",
    ),
    "attach.missing": Wording("There is no file {name}.", "没有文件 {name}。"),
    "attach.missing.hint": Wording("Check the path.", "请检查路径。"),
    "attach.link": Wording("{name} is a link, or stands behind one.", "{name} 是链接，或位于链接之后。"),
    "attach.link.hint": Wording("Name the file that it points to, with /attach.", "请用 /attach 指定它指向的文件。"),
    "attach.names": Wording(
        "{name} has a second name elsewhere (a hard link).", "{name} 在别处还有另一个名称（硬链接）。"
    ),
    "attach.names.hint": Wording("If you mean it, use /attach {name}.", "如果确实要附上，请用 /attach {name}。"),
    "attach.folder": Wording("{name} is a folder.", "{name} 是文件夹。"),
    "attach.folder.hint": Wording(
        "Name a file in it, or write the name without @.", "请指定其中的文件，或去掉名称前的 @。"
    ),
    "attach.special": Wording("{name} is a device or a pipe, not a file.", "{name} 是设备或管道，不是文件。"),
    "attach.special.hint": Wording(
        "Name a text file, or write the name without @.", "请指定文本文件，或去掉名称前的 @。"
    ),
    "attach.unreadable": Wording("{name} cannot be read: {reason}.", "无法读取 {name}：{reason}。"),
    "attach.unreadable.hint": Wording("Check its permissions.", "请检查文件权限。"),
    "attach.big": Wording("{name} is larger than {limit} KB.", "{name} 超过 {limit} KB。"),
    "attach.big.hint": Wording("Attach the part that matters.", "请只附上需要的部分。"),
    "attach.binary": Wording("{name} is not a text file.", "{name} 不是文本文件。"),
    "attach.binary.hint": Wording("Only text can be attached.", "只能附上文本。"),
    "attach.encoding": Wording("{name} is not UTF-8.", "{name} 不是 UTF-8 编码。"),
    "attach.encoding.hint": Wording("Save it as UTF-8.", "请将其保存为 UTF-8。"),
    "attach.many": Wording("More than {limit} files.", "文件多于 {limit} 个。"),
    "attach.many.hint": Wording("Send some of them with the next message.", "请把一部分留到下一条消息。"),
    "attach.editing": Wording(
        "An edited message keeps the files it had; {name} cannot be added.", "编辑的消息保留原有附件，无法添加 {name}。"
    ),
    "attach.editing.hint": Wording("Press Esc, then send it as a new message.", "请按 Esc，然后作为新消息发送。"),
}
