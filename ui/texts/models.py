"""What is said of bases: found, fitting, downloaded."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    # The machine.
    "machine.cpu": Wording(
        "This machine: {memory} of memory, {free} free; no GPU that llama.cpp can use",
        "本机：内存 {memory}，空闲 {free}；没有 llama.cpp 可用的显卡",
    ),
    "machine.gpu": Wording(
        "This machine: {memory} of memory, {free} free; {gpu} with {gpu_free} free",
        "本机：内存 {memory}，空闲 {free}；{gpu}，空闲显存 {gpu_free}",
    ),
    "machine.unified": Wording(
        "This machine: {memory} of memory shared with its GPU, {free} free",
        "本机：内存 {memory}（与显卡共用），空闲 {free}",
    ),
    # Does it fit, in a few words for a table and in a sentence.
    "fit.fits": Wording("fits", "能运行"),
    "fit.slow": Wording("may be slow", "可能较慢"),
    "fit.no": Wording("will not fit", "装不下"),
    "fit.line": Wording("{verdict}: {why}", "{verdict}：{why}"),
    "fit.why.gpu": Wording("needs {need}; {room} are free on the GPU", "需要 {need}，显存空闲 {room}"),
    "fit.why.memory": Wording("needs {need}; {room} are free", "需要 {need}，内存空闲 {room}"),
    "fit.why.slow": Wording(
        "needs {need} of {room}, but every word takes a while on this CPU",
        "需要 {need}，空闲 {room}，但在此处理器上出字较慢",
    ),
    "fit.why.split": Wording(
        "needs {need}; only GPU and memory together have that, {room}", "需要 {need}，显存与内存合计空闲 {room}"
    ),
    "fit.why.close": Wording(
        "needs {need}, but {room} are free: close other programs first", "需要 {need}，空闲 {room}：请先关闭其他程序"
    ),
    "fit.why.none": Wording("needs {need}; this machine has {room} for it", "需要 {need}，本机可用 {room}"),
    "fit.parts": Wording(
        "weights {weights}, context of {tokens} tokens {kv}, other states {state}, work space {compute}, "
        "margin {margin}",
        "权重 {weights}，{tokens} 词元上下文 {kv}，其他状态 {state}，工作区 {compute}，余量 {margin}",
    ),
    # The list.
    "models.profiles": Wording("Profiles (* is used when you name none)", "配置（* 为默认使用）"),
    "models.here": Wording("here", "已就绪"),
    "models.base_missing": Wording("base not here", "缺少基座模型"),
    "models.broken": Wording("cannot be read: {problem}", "无法读取：{problem}"),
    "models.catalogue": Wording("Bases to pull", "可下载的基座模型"),
    "models.pulled": Wording("here", "已下载"),
    "models.recommended": Wording(
        "Recommended for this machine: {title}. Get it with: macaron models pull {name}",
        "推荐本机使用：{title}。下载命令：macaron models pull {name}",
    ),
    "models.recommend_none": Wording(
        "No base of this list fits beside what is running now; the starter does.",
        "以目前的空闲内存，列表中没有合适的模型；入门配置可以运行。",
    ),
    "models.estimates": Wording("Sizes in memory are estimates.", "内存占用为估计值。"),
    # Scanning and adding.
    "models.scan.none": Wording(
        "No model files of Ollama, LM Studio, the hub cache or llama.cpp were found. Give folders to look in.",
        "没有找到 Ollama、LM Studio、Hub 缓存或 llama.cpp 的模型文件。可以指定要查找的文件夹。",
    ),
    "models.scan.found": Wording("Models of other programs", "其他程序的模型"),
    "models.scan.refused": Wording("Cannot be used", "无法使用"),
    "models.scan.add": Wording(
        "Use one with: macaron models add NAME. Its file stays where it is.",
        "使用方法：macaron models add 名称。文件保持原位。",
    ),
    "models.added": Wording(
        "Profile {name} made, with a context of {tokens} tokens. Use it with: macaron models use {name}",
        "已建立配置 {name}，上下文 {tokens} 词元。启用命令：macaron models use {name}",
    ),
    "models.linked": Wording(
        "The file is linked, not copied: it belongs to another program, and goes when that deletes it.",
        "文件是链接而非复制：它属于其他程序，那边删除后这里也不能用。",
    ),
    "models.family_unknown": Wording(
        "The chat format of this model is not known; ChatML is used. If answers look wrong, set `family` in its "
        "profile.toml.",
        "无法确定此模型的对话格式，将使用 ChatML。如果回答异常，请在 profile.toml 中设置 family。",
    ),
    "models.used": Wording("{name} is used from now on.", "今后默认使用 {name}。"),
    # Pulling.
    "pull.plan": Wording("{repo}: {file}, {size}", "{repo}：{file}，{size}"),
    "pull.licence": Wording("Licence: {licence}", "许可证：{licence}"),
    "pull.licence.unknown": Wording(
        "Licence: not stated. Look at the page of the model before you use it.",
        "许可证：未注明。使用前请查看模型页面。",
    ),
    "pull.known": Wording("{title}: {about}", "{title}：{about}"),
    "pull.waiting": Wording("waiting for another download of this file", "等待同一文件的另一个下载"),
    "pull.checking": Wording("checking what is here already: {done} of {total}", "检查已下载部分：{done}/{total}"),
    "pull.fetching": Wording("{done} of {total} · {rate}/s · {left} left", "{done}/{total} · {rate}/秒 · 剩余 {left}"),
    "pull.starting": Wording("{done} of {total}", "{done}/{total}"),
    "pull.retrying": Wording("{done} of {total} · trying again: {note}", "{done}/{total} · 重试中：{note}"),
    "pull.verifying": Wording("comparing the SHA-256: {done} of {total}", "核对 SHA-256：{done}/{total}"),
    "pull.repairing": Wording(
        "its hash is wrong; looking for the bad part: {done} of {total}", "哈希不符，查找损坏部分：{done}/{total}"
    ),
    "pull.done": Wording("{file} is here and its SHA-256 is right.", "{file} 已下载，SHA-256 正确。"),
    "pull.was_here": Wording("{file} was here already.", "{file} 已经存在。"),
    "pull.profile_here": Wording(
        "Profile {name} uses it. Start with: macaron models use {name}",
        "配置 {name} 使用此模型。启用命令：macaron models use {name}",
    ),
    "time.seconds": Wording("{count} s", "{count} 秒"),
    "time.minutes": Wording("{count} min", "{count} 分钟"),
    "time.hours": Wording("{count} h", "{count} 小时"),
    # Showing and removing.
    "show.profile": Wording("Profile", "配置"),
    "show.file": Wording("File", "文件"),
    "show.size": Wording("Size", "大小"),
    "show.sha256": Wording("SHA-256", "SHA-256"),
    "show.kind": Wording("Kind", "类型"),
    "show.family": Wording("Chat format", "对话格式"),
    "show.context": Wording("Longest context", "最长上下文"),
    "show.licence": Wording("Licence", "许可证"),
    "show.from": Wording("From", "来源"),
    "show.fit": Wording("Fit", "容量"),
    "show.unknown": Wording("not known", "未知"),
    "show.tokens": Wording("{count} tokens", "{count} 词元"),
    "show.kind_of": Wording(
        "{architecture}, {parameters} parameters, {quantisation}", "{architecture}，{parameters} 参数，{quantisation}"
    ),
    "remove.ask": Wording("Remove the profile {name}?", "删除配置 {name}？"),
    "remove.ask_file": Wording(
        "Remove the profile {name} and its model file {file} ({size})?",
        "删除配置 {name} 及其模型文件 {file}（{size}）？",
    ),
    "remove.done": Wording("Profile {name} removed; {size} freed.", "已删除配置 {name}，释放 {size}。"),
    "remove.shared": Wording("Its model file stays: another profile uses it.", "模型文件保留：其他配置正在使用。"),
    "remove.foreign": Wording(
        "Its model file stays: this program did not fetch it.", "模型文件保留：它不是由本程序下载的。"
    ),
    "remove.kept": Wording("Nothing was removed.", "没有删除任何内容。"),
    # The token of the hub.
    "token.ask": Wording("Token of the hub (it is not shown)", "Hub 令牌（不会显示）"),
    "token.set": Wording("The token is in the keyring of this system.", "令牌已存入系统密钥环。"),
    "token.removed": Wording("The token was removed from the keyring.", "令牌已从密钥环中删除。"),
    "token.none": Wording("There is no token; public models need none.", "没有令牌；公开模型不需要。"),
    "token.in_keyring": Wording("There is a token in the keyring.", "密钥环中有令牌。"),
    "token.in_environment": Wording("The variable HF_TOKEN holds a token.", "环境变量 HF_TOKEN 中有令牌。"),
    # The first start.
    "first.recommend": Wording(
        "The small starter answers for now. This machine ({free} free) can run {title}, a download of {size}: "
        "macaron models pull {name}",
        "目前由小型入门模型回答。本机（空闲 {free}）可以运行 {title}，下载 {size}：macaron models pull {name}",
    ),
    "first.none": Wording(
        "The small starter answers. No larger base fits in the {free} that are free now; see: macaron models list",
        "目前由小型入门模型回答。现有 {free} 空闲内存不足以运行更大的模型；参见：macaron models list",
    ),
}
