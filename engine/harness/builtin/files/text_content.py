"""Bytes of a file to text and back, so that an edit changes only what it says: encoding, mark and line ends stay.

Pure. UTF-8, UTF-16 with its mark, and GB18030 where what comes out is Chinese.
"""

import codecs
import re
from dataclasses import dataclass, replace
from typing import Final

from engine.errors import UsageProblem

_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""What no text holds; tabs, line ends, form feeds and escape sequences are left out."""
_CHINESE: Final = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef\u2010-\u2027]")


@dataclass(frozen=True, slots=True)
class TextContent:
    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    """Byte order mark in front of the text."""

    @property
    def is_crlf(self) -> bool:
        """Every line ends as on Windows."""
        return "\r\n" in self.text and self.text.count("\n") == self.text.count("\r\n")

    def with_text(self, text: str) -> "TextContent":
        """Another text in the same encoding and, where it has plain line ends, with the line ends there are."""
        return replace(self, text=self.adapted(text))

    def adapted(self, text: str) -> str:
        return text.replace("\n", "\r\n") if self.is_crlf and "\r" not in text else text

    def data(self) -> bytes:
        """Raises: UsageProblem for text that is not valid Unicode."""
        try:
            return self.mark + self.text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise UsageProblem(
                f"The text is not valid Unicode at character {error.start + 1}.", "Write it again without it."
            ) from error


def text_of(data: bytes, shown: str) -> TextContent:
    """Raises: UsageProblem for what is no text."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            content = _decoded(data[len(mark) :], encoding, mark)
            break
    else:
        content = _decoded(data, "utf-8") or _chinese(data)
    if content is None or _CONTROL.search(content.text):
        raise UsageProblem(f"{shown} is not a text file.", "Only text can be read and written.")
    return content


def _decoded(data: bytes, encoding: str, mark: bytes = b"") -> TextContent | None:
    try:
        return TextContent(data.decode(encoding), encoding, mark)
    except UnicodeDecodeError:
        return None


def _chinese(data: bytes) -> TextContent | None:
    """GB18030 reads almost anything, so it is believed only where all that is not ASCII is Chinese."""
    content = _decoded(data, "gb18030")
    if content is None or any(not c.isascii() and not _CHINESE.match(c) for c in content.text):
        return None
    # Bytes that stand for a character in two ways would change without being edited.
    return content if content.data() == data else None
