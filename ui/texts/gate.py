"""What a request is told that is not let in, and the login page of the browser."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "gate.head_too_large": Wording(
        "The head of this request is too large. Send fewer or shorter headers and cookies.",
        "请求头太大。请减少或缩短请求头和 Cookie。",
    ),
    "gate.head_unclear": Wording(
        "The head of this request contradicts itself. Send each header once, and one length of the body.",
        "请求头自相矛盾。每个请求头只能出现一次，正文长度只能有一个。",
    ),
    "gate.wrong_host": Wording(
        "This is not an address of this program. Use the address it printed, such as http://127.0.0.1 with its port.",
        "这不是本程序的地址。请使用它显示的地址，例如 http://127.0.0.1 加端口。",
    ),
    "gate.wrong_origin": Wording(
        "Another site or page sent this request, so it was refused. Open the address yourself, in a new tab.",
        "该请求来自其他网站或页面，已被拒绝。请在新标签页中自行打开地址。",
    ),
    "gate.wrong_type": Wording(
        "The body of this request has a type that is not taken here. Send it as application/json.",
        "不接受这种正文类型。请以 application/json 发送。",
    ),
    "gate.body_too_large": Wording(
        "The body of this request is too large. Send less at once.",
        "请求正文太大。请减少一次发送的内容。",
    ),
    "gate.body_too_slow": Wording(
        "The body of this request came too slowly and was given up. Send it again.",
        "请求正文到达太慢，已放弃。请重新发送。",
    ),
    "gate.body_too_deep": Wording(
        "The JSON in this request is nested more than 100 levels deep. Make it flatter.",
        "请求中的 JSON 嵌套超过 100 层。请减少嵌套。",
    ),
    "gate.busy": Wording(
        "Too many large requests are being read at once. Send it again in a moment.",
        "同时读取的大请求太多。请稍后重新发送。",
    ),
    "gate.no_access": Wording(
        "The secret is missing or wrong. Send the header Authorization: Bearer, followed by the secret.",
        "密钥缺失或错误。请发送请求头 Authorization: Bearer，后接密钥。",
    ),
    "gate.not_logged_in": Wording(
        "You are not logged in. Run `macaron web` in a terminal.",
        "您尚未登录。请在终端运行 `macaron web`。",
    ),
    "gate.not_allowed": Wording(
        "This secret may ask the model and nothing else.",
        "此密钥只能向模型提问，不能做其他操作。",
    ),
    "gate.too_many_tries": Wording(
        "Too many failed tries from this address. Wait a minute, then try again with the right secret.",
        "该地址的失败尝试过多。请等待一分钟，再用正确的密钥重试。",
    ),
    "login.title": Wording("Log in", "登录"),
    "login.working": Wording("Logging in …", "正在登录 …"),
    "login.none": Wording(
        "To log in, run `macaron web` in a terminal. It opens this page with a ticket.",
        "要登录，请在终端运行 `macaron web`。它会带着登录票据打开此页面。",
    ),
    "login.dead": Wording(
        "This login ticket was used already, or is older than a minute. Run `macaron web` again.",
        "此登录票据已被使用，或已超过一分钟。请再次运行 `macaron web`。",
    ),
    "login.busy": Wording(
        "Too many failed tries. Wait a minute, then run `macaron web` again.",
        "失败次数过多。请等待一分钟，然后再次运行 `macaron web`。",
    ),
    "login.gone": Wording(
        "The program does not answer. Run `macaron web` again.",
        "程序没有响应。请再次运行 `macaron web`。",
    ),
    "login.script": Wording(
        "This page needs JavaScript. Allow it for this address and open the page again.",
        "此页面需要 JavaScript。请对该地址启用 JavaScript，然后重新打开页面。",
    ),
}
