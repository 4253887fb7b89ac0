"""A page of the web as text to read: what a person would see of it, with its links, and nothing that is hidden.

Pure. What comes in is hostile: it is bounded by whoever fetched it, parsed by lxml, and walked without recursion.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin

from lxml import etree

from engine.harness.builtin.web.visibility import visible

MOST_LINKS: Final = 60
_LINK_CHARACTERS: Final = 500
_NEVER_SHOWN: Final = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "embed", "canvas"),
        *("nav", "footer", "aside", "select", "button", "form", "input", "textarea", "audio", "video", "dialog"),
    )
)
_BLOCKS: Final = frozenset(
    (
        *("p", "div", "section", "article", "main", "header", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li"),
        *(
            "table",
            "tr",
            "pre",
            "blockquote",
            "figure",
            "figcaption",
            "dl",
            "dt",
            "dd",
            "br",
            "hr",
            "details",
            "summary",
        ),
    )
)
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_CHARSETS: Final = frozenset(
    (
        *(
            "utf-8",
            "utf8",
            "us-ascii",
            "utf-16",
            "utf-16le",
            "utf-16be",
            "gb18030",
            "gbk",
            "gb2312",
            "big5",
            "big5-hkscs",
        ),
        *("shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "koi8-r", "koi8-u"),
        *(f"iso-8859-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
        *(f"windows-{number}" for number in range(1250, 1259)),
    )
)
_DECLARED: Final = re.compile(rb"""charset\s*=\s*["']?\s*([a-zA-Z0-9_-]{2,20})""")
_DECLARED_WITHIN_BYTES: Final = 2048


@dataclass(slots=True)
class _Text:
    """What was read so far."""

    pieces: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def decoded(data: bytes, charset: str) -> str:
    """As its sender says, or else as the page says, or else as UTF-8; what does not fit becomes a question mark."""
    declared = _DECLARED.search(data[:_DECLARED_WITHIN_BYTES])
    named = charset.lower() or (declared[1].decode().lower() if declared else "")
    # Half a Chinese character more or less: GBK and GB2312 are parts of GB18030.
    named = "gb18030" if named in ("gbk", "gb2312") else named
    return data.decode(named if named in _CHARSETS else "utf-8-sig", errors="replace")


def readable(html: str, address: str) -> tuple[str, str]:
    """(title, text). Links are numbered in the text and listed at its end, with their whole addresses."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = etree.fromstring(html.encode(errors="replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        return "", ""
    title = " ".join("".join(root.xpath("string(//title)")).split())
    found = _Text()
    for top in _tops(root):
        found = _Text()
        _read(top, found, address)
        if "".join(found.pieces).strip():
            break
    text = _tidy(visible("".join(found.pieces)))
    listed = "\n".join(f"[{number}] {link}" for number, link in enumerate(found.links, start=1))
    return visible(title), f"{text}\n\nLinks:\n{listed}" if listed else text


def _tops(root: Any) -> Iterator[Any]:
    """Where the page's own text begins, the narrowest first."""
    for name in ("main", "article"):
        parts = root.findall(f".//{name}")
        if len(parts) == 1:
            yield parts[0]
    body = root.find("body")
    yield root if body is None else body


def _read(top: Any, found: _Text, address: str) -> None:
    hidden_in: Any = None
    for event, element in etree.iterwalk(top, events=("start", "end")):
        name = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            if hidden_in is None and _is_hidden(element, name):
                hidden_in = element
            if hidden_in is None:
                found.pieces.append(_opening(name))
                found.pieces.append(element.text if name == "pre" else _spaced(element.text))
        else:
            if hidden_in is None:
                found.pieces.append(_closing(element, name, found, address))
            if hidden_in is element:
                hidden_in = None
            if hidden_in is None and element is not top:
                found.pieces.append(_spaced(element.tail))


def _is_hidden(element: Any, name: str) -> bool:
    return (
        name in _NEVER_SHOWN
        or "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
        or _HIDING.search(element.get("style", "")) is not None
    )


def _opening(name: str) -> str:
    if name in _HEADINGS:
        return f"\n\n{_HEADINGS[name]}"
    if name == "li":
        return "\n- "
    if name in ("td", "th"):
        return " | "
    return "\n" if name in _BLOCKS else ""


def _closing(element: Any, name: str, found: _Text, address: str) -> str:
    if name == "a" and len(found.links) < MOST_LINKS:
        link = _link(element.get("href", ""), address)
        if link:
            if link not in found.links:
                found.links.append(link)
            return f" [{found.links.index(link) + 1}]"
    if name == "img" and (text := _spaced(element.get("alt")).strip()):
        return f" (picture: {text[:200]}) "
    return "\n" if name in _BLOCKS else ""


def _link(href: str, address: str) -> str:
    try:
        link = urljoin(address, href.strip())
    except ValueError:
        return ""
    is_of_the_web = link.startswith(("http://", "https://")) and len(link) <= _LINK_CHARACTERS
    return visible(link) if is_of_the_web and not href.startswith("#") else ""


def _spaced(text: str | None) -> str:
    return re.sub(r"\s+", " ", text) if text else ""


def _tidy(text: str) -> str:
    # One space in front is left over from what stood before; more are the indents of a program.
    lines = [line.rstrip() if line.startswith("  ") else line.strip() for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
