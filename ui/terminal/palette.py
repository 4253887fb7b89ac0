"""The colours of the chat: two themes around one macaron pink. Nothing on screen depends on them alone."""

from textual.theme import Theme

LIGHT = Theme(
    name="macaron-light",
    dark=False,
    primary="#B4536B",
    secondary="#6F6170",
    accent="#B4536B",
    foreground="#3B3140",
    background="#FFFAF6",
    surface="#FFFAF6",
    panel="#F7EEF0",
    warning="#8A5A00",
    error="#A32638",
    success="#2F6B45",
    variables={
        "muted": "#6F6170",
        "line": "#E9DDE2",
        "border": "#B4536B",
        "border-blurred": "#E9DDE2",
        "scrollbar": "#E9DDE2",
        "scrollbar-background": "#FFFAF6",
    },
)
DARK = Theme(
    name="macaron-dark",
    dark=True,
    primary="#F2A7B8",
    secondary="#B9ACBA",
    accent="#F2A7B8",
    foreground="#F3ECF2",
    background="#211C25",
    surface="#211C25",
    panel="#2B2530",
    warning="#E9C27A",
    error="#F28B8B",
    success="#9CD3AE",
    variables={
        "muted": "#B9ACBA",
        "line": "#453C4A",
        "border": "#F2A7B8",
        "border-blurred": "#453C4A",
        "scrollbar": "#453C4A",
        "scrollbar-background": "#211C25",
    },
)
