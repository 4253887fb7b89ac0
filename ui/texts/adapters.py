"""What is said of adapters that are brought in."""

from collections.abc import Mapping

from ui.texts.wording import Wording

TEXTS: Mapping[str, Wording] = {
    "adapters.imported": Wording(
        "Imported for {base}: {weights} weights changed, rank {ranks}, {size}",
        "已为 {base} 导入：改动 {weights} 个权重矩阵，秩 {ranks}，{size}",
    ),
    "adapters.known": Wording(
        "This adapter is here already: {weights} weights of {base} changed, rank {ranks}, {size}",
        "该适配器已存在：改动 {base} 的 {weights} 个权重矩阵，秩 {ranks}，{size}",
    ),
    "adapters.file": Wording("It is {path}", "文件位于 {path}"),
}
