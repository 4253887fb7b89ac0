"""What is said of the host: where it listens, that it ended, that it was lost."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "serve.listening": Wording("Macaron listens on {address}", "Macaron 正在监听 {address}"),
    "serve.how": Wording(
        "Other programs need the key that `macaron key` shows. Ctrl+C ends the host.",
        "其他程序需要用 `macaron key` 显示的密钥。按 Ctrl+C 结束。",
    ),
    "serve.port_taken": Wording(
        "Port {wanted} is taken by another program; this is {port}.",
        "端口 {wanted} 已被其他程序占用，改用 {port}。",
    ),
    "serve.lan": Wording("Other machines reach it at {address}", "其他设备可通过 {address} 访问"),
    "serve.stopped": Wording("The host has been told to end.", "已通知主机结束。"),
    "serve.none": Wording("No host runs for this home.", "此数据目录没有正在运行的主机。"),
    "notice.host_restarted": Wording(
        "The host had ended and was started again. Nothing that was said is lost.",
        "主机曾经结束，现已重新启动，说过的内容没有丢失。",
    ),
}
