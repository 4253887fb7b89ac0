"""A program in the place of the desktop's own, that notes what it is given."""

from pathlib import Path

_SCRIPT = """#!/bin/sh
{{ printf '%s\\0' "$@"; printf '\\1'; }} >> '{record}.arguments'
/bin/cat > '{record}.input'
while [ -e '{record}.hold' ]; do /bin/sleep 0.05; done
exit {code}
"""


class NotingProgram:
    """Put the folder on the path. While `hold` is on, the program does not end."""

    def __init__(self, folder: Path, name: str, code: int = 0) -> None:
        folder.mkdir(exist_ok=True)
        self._record = folder / name
        self._record.write_text(_SCRIPT.format(record=self._record, code=code))
        self._record.chmod(0o755)

    @property
    def arguments(self) -> list[list[str]]:
        """Of every call that has begun, the first one first."""
        file = self._file("arguments")
        text = file.read_bytes().decode() if file.exists() else ""
        return [call.split("\0")[:-1] for call in text.split("\1")[:-1]]

    @property
    def standard_input(self) -> str:
        return self._file("input").read_bytes().decode()

    def hold(self, is_on: bool) -> None:
        if is_on:
            self._file("hold").touch()
        else:
            self._file("hold").unlink()

    def _file(self, suffix: str) -> Path:
        return self._record.with_name(f"{self._record.name}.{suffix}")
