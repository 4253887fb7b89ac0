"""The login page: static HTML with one script and one style sheet, both named by hash in its CSP. Pure.

Holds no secret: the ticket is in the fragment of the address, which browsers send to nobody.
"""

import base64
import hashlib
import html
from typing import Final

from ui.strings import say

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { max-width: 34rem; padding: 2rem; text-align: center; }
h1 { font-size: 1.25rem; margin: 0 0 1rem; }
[hidden] { display: none; }
"""
_SCRIPT: Final = """
"use strict";
const show = (id) => { for (const p of document.querySelectorAll("main p")) p.hidden = p.id !== id; };
const ticket = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
if (ticket) {
  show("working");
  fetch(location.pathname, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ticket }),
  }).then(
    (answer) => answer.ok ? location.replace("/") : show(answer.status === 429 ? "busy" : "dead"),
    () => show("gone"),
  );
} else {
  show("none");
}
// A ticket pasted into the address of this very page changes only the fragment, which loads nothing.
addEventListener("hashchange", () => { if (location.hash) location.reload(); });
"""
_STATES: Final = ("working", "none", "dead", "busy", "gone")


def login_html(language: str) -> str:
    """The page in "en" or "zh". Shows one of its states; without scripts, that it needs them."""
    states = "\n".join(
        f'<p id="{state}" role="status" hidden>{html.escape(say(f"login.{state}", language))}</p>' for state in _STATES
    )
    return f"""<!doctype html>
<html lang="{"zh-CN" if language == "zh" else "en"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(say("login.title", language))} - Macaron Tall</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Macaron Tall</h1>
{states}
<noscript>{html.escape(say("login.script", language))}</noscript>
</main>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def login_csp() -> str:
    """Nothing but its own script, style and request."""
    return (
        f"default-src 'none'; script-src '{_hash(_SCRIPT)}'; style-src '{_hash(_STYLE)}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def preferred_language(accept_language: str) -> str:
    """ "zh" when the browser's first language is Chinese, else "en"."""
    return "zh" if accept_language.strip().lower().startswith("zh") else "en"


def _hash(inline: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode("ascii")
