"""How the page looks: the macaron palette as a Gradio theme, and the style sheet of our own parts.

Knows no event. Fonts are those of the reader's system, so that none is fetched.
"""

from importlib.resources import files
from typing import Final
from urllib.parse import quote

import gradio as gr

FONTS: Final = (
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "sans-serif",
)
CODE_FONTS: Final = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Noto Sans Mono CJK SC", "monospace")

_INK: Final = {"text": "#3B3140", "muted": "#6F6170", "line": "#E9DDE2", "accent": "#B4536B"}
_PAPER: Final = {"page": "#FFFAF6", "card": "#FFFFFF", "panel": "#F7EEF0"}
_DARK_INK: Final = {"text": "#F3ECF2", "muted": "#B9ACBA", "line": "#453C4A", "accent": "#F2A7B8"}
_DARK_PAPER: Final = {"page": "#211C25", "card": "#2B2530", "panel": "#2B2530"}


def page_theme() -> gr.themes.Base:
    light, dark = {**_INK, **_PAPER}, {**_DARK_INK, **_DARK_PAPER}
    theme = gr.themes.Base(font=list(FONTS), font_mono=list(CODE_FONTS), radius_size="lg")
    return theme.set(
        body_background_fill=light["page"],
        body_background_fill_dark=dark["page"],
        body_text_color=light["text"],
        body_text_color_dark=dark["text"],
        body_text_color_subdued=light["muted"],
        body_text_color_subdued_dark=dark["muted"],
        background_fill_primary=light["card"],
        background_fill_primary_dark=dark["card"],
        background_fill_secondary=light["panel"],
        background_fill_secondary_dark=dark["panel"],
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_label_text_color=light["muted"],
        block_label_text_color_dark=dark["muted"],
        border_color_primary=light["line"],
        border_color_primary_dark=dark["line"],
        border_color_accent=light["accent"],
        border_color_accent_dark=dark["accent"],
        color_accent=light["accent"],
        input_background_fill=light["card"],
        input_background_fill_dark=dark["card"],
        input_border_color_focus=light["accent"],
        input_border_color_focus_dark=dark["accent"],
        button_secondary_background_fill=light["card"],
        button_secondary_background_fill_dark=dark["card"],
        button_secondary_background_fill_hover=light["panel"],
        button_secondary_background_fill_hover_dark=dark["line"],
        button_secondary_text_color=light["text"],
        button_secondary_text_color_dark=dark["text"],
        button_secondary_border_color=light["line"],
        button_secondary_border_color_dark=dark["line"],
        loader_color=light["accent"],
        loader_color_dark=dark["accent"],
    )


def page_css() -> str:
    return _static("page.css")


def icon_address() -> str:
    """The icon as a `data:` address, so that it takes no request."""
    return f"data:image/svg+xml,{quote(_static('icon.svg').strip())}"


def script(name: str) -> str:
    """The JavaScript of one part of the page, as `gr.HTML` runs it when the part is drawn."""
    return _static("common.js") + _static(f"{name}.js")


def _static(name: str) -> str:
    return files("ui.browser").joinpath("static", name).read_text(encoding="utf-8")
