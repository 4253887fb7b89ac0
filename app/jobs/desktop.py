"""Notices of the desktop: which program shows one and how it is given the text, and running it.

The text of a notice may hold anything, also what a model wrote. It goes to the program as an argument of its own or on
standard input; no shell and no script ever has it in its source, and no mark-up in it means anything.
"""

import html
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.errors import AgentError
from engine.jobs.values import JobNotice
from ui.inert import display_line, display_text

_MOST_TITLE_CELLS: Final = 80
_MOST_TEXT_CHARACTERS: Final = 600
_PATIENCE_S: Final = 10.0
_NO_WINDOW: Final = getattr(subprocess, "CREATE_NO_WINDOW", 0)
_NAME: Final = "Macaron"

_APPLE_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
# The text is JSON in ASCII on standard input, and put into the toast as text, not as XML.
_POWERSHELL: Final = """
$ErrorActionPreference = 'Stop'
$notice = [Console]::In.ReadToEnd() | ConvertFrom-Json
$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$kind = [Windows.UI.Notifications.ToastTemplateType]::ToastText02
$toast = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($kind)
$lines = $toast.GetElementsByTagName('text')
$lines.Item(0).InnerText = $notice.title
$lines.Item(1).InnerText = $notice.text
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
$shown = [Windows.UI.Notifications.ToastNotification]::new($toast)
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show($shown)
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A program, its arguments, and what it reads on standard input."""

    arguments: tuple[str, ...]
    standard_input: str = ""


def command_for(platform: str, notice: JobNotice) -> Command:
    """How a notice is shown on a platform, as `sys.platform` names it."""
    title = display_line(notice.title, _MOST_TITLE_CELLS) or _NAME
    text = _cut(display_text(notice.text))
    match platform:
        case "darwin":
            script = tuple(part for line in _APPLE_SCRIPT for part in ("-e", line))
            return Command(("osascript", *script, "--", title, text))
        case "win32":
            arguments = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _POWERSHELL)
            return Command(arguments, json.dumps({"title": title, "text": text}))
        case _:
            # Many desktops read mark-up in the text, links and pictures from elsewhere among it.
            body = html.escape(text, quote=False)
            return Command(("notify-send", f"--app-name={_NAME}", "--", title, body))


class Desktop:
    """Calls may come from any thread and take some seconds."""

    def __init__(self, platform: str = sys.platform) -> None:
        self._platform = platform

    def tell(self, notice: JobNotice) -> None:
        """Raises: AgentError where no desktop shows it."""
        command = command_for(self._platform, notice)
        program = command.arguments[0]
        try:
            done = subprocess.run(
                command.arguments,
                input=command.standard_input.encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE_S,
                check=False,
                creationflags=_NO_WINDOW,
            )
        except FileNotFoundError as error:
            raise AgentError(
                f"No notice could be shown: there is no program {program}.", _HINTS.get(program, "")
            ) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AgentError(f"No notice could be shown: {program} {_why(error)}.") from error
        if done.returncode != 0:
            raise AgentError(
                f"No notice could be shown: {program} ended with {done.returncode}.",
                "A notice needs a desktop that runs and that this program was started from.",
            )


def teller(faces: Callable[[JobNotice], bool], desktop: Callable[[JobNotice], None]) -> Callable[[JobNotice], None]:
    """Tell the open faces; where none shows the notice, tell the desktop."""

    def tell(notice: JobNotice) -> None:
        if not faces(notice):
            desktop(notice)

    return tell


_HINTS: Final = {"notify-send": "Install it: its package is called libnotify-bin or libnotify."}


def _why(error: Exception) -> str:
    return f"took more than {_PATIENCE_S:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT_CHARACTERS else f"{text[: _MOST_TEXT_CHARACTERS - 1]}…"
