"""What of this program's environment goes on to programs of the user's: what every program needs, and no secret."""

from collections.abc import Mapping
from typing import Final

# Programs are found through PATH; launchers keep what they fetched, and servers their own settings, under the home.
# Language and time zone decide how text is encoded and what "now" is. None of these is a secret.
_NECESSITIES: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP"),
)


def necessities(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in _NECESSITIES if name in environment}
