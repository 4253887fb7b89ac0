"""The two secret files of a home, and what a request that carries one of them may do.

Looks at the files again at every use, so that a file another process replaced counts from the next request on.
Knows no route. A secret comes in one header and nowhere else: x-api-key, api-key, queries and cookies grant nothing.
"""

import hashlib
import hmac
import os
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from app.gate.policy import Access, Headers, values
from app.paths import Paths
from engine.errors import AgentError

_RANDOM_BYTES: Final = 32
_MIN_CHARACTERS: Final = 32
_MAX_FILE_BYTES: Final = 1024
_SCHEME: Final = b"bearer "


class SecretFile:
    """One secret in one file that only its owner can read."""

    def __init__(self, path: Path, purpose: str) -> None:
        """`purpose` names it in errors: "The face token"."""
        self.path = path
        self._epoch = 0
        self._purpose = purpose
        self._seen: tuple[int, ...] | None = None
        self._secret: str | None = None

    def read(self) -> str | None:
        """The secret, or None when there is no file.

        Raises: AgentError for a file that others could read, that is a link, or that holds no secret.
        """
        try:
            seen = _identity(self.path.lstat())
        except FileNotFoundError:
            self._remember(None, None)
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        if seen != self._seen:
            try:
                secret = self._load()
            except AgentError:
                # While the file is not as it must be, no earlier secret counts either.
                self._remember(None, None)
                raise
            self._remember(seen, secret)
        return self._secret

    @property
    def epoch(self) -> int:
        """Counts the changes of the secret; whatever an earlier one opened must end when it grows."""
        with suppress(AgentError):
            self.read()
        return self._epoch

    def create(self) -> str:
        """The secret; a new one when there is no file. Raises: AgentError."""
        return self.read() or self.rotate()

    def rotate(self) -> str:
        """Put a new secret in place of any that is there; whoever has the old one is out at the next request.

        Raises: AgentError.
        """
        secret = token_urlsafe(_RANDOM_BYTES)
        part = self.path.with_name(f".{self.path.name}.{token_urlsafe(8)}")
        try:
            try:
                handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(handle, "w", encoding="ascii") as file:
                    file.write(secret + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(self.path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise AgentError(
                f"{self._purpose} cannot be written to {self.path}: {error.strerror}.",
                "Free some space on the disk, and check that the folder may be written.",
            ) from error
        return self.read() or secret

    def matches(self, candidate: bytes) -> bool:
        """Whether `candidate` is the secret, in a time that tells nothing. A file that is not safe matches nothing."""
        secret = None
        with suppress(AgentError):
            secret = self.read()
        return secret is not None and hmac.compare_digest(_digest(candidate), _digest(secret.encode("ascii")))

    def _load(self) -> str:
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as file:
                self._check(os.fstat(file.fileno()))
                content = file.read(_MAX_FILE_BYTES)
        except OSError as error:
            raise self._unreadable(error) from error
        secret = content.strip().decode("ascii", errors="replace")
        if len(secret) < _MIN_CHARACTERS or not secret.isascii() or not secret.isprintable():
            raise AgentError(f"{self.path} holds no secret that is long enough.", _new_one(self.path))
        return secret

    def _check(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise AgentError(f"{self.path} is not a plain file.", _new_one(self.path))
        if os.name == "nt":  # the mode says nothing there; the folder of the user's data is private
            return
        if status.st_uid != os.getuid():
            raise AgentError(f"{self.path} belongs to another user.", _new_one(self.path))
        if status.st_mode & 0o077:
            raise AgentError(
                f"{self._purpose} in {self.path} can be read by other users of this machine.",
                f"If nobody has read it: chmod 600 {self.path}. Otherwise remove the file; a new one is made.",
            )

    def _unreadable(self, error: OSError) -> AgentError:
        if self.path.is_symlink():
            return AgentError(f"{self.path} is a link, which could lead anywhere.", _new_one(self.path))
        return AgentError(f"{self._purpose} in {self.path} cannot be read: {error.strerror}.", _new_one(self.path))

    def _remember(self, seen: tuple[int, ...] | None, secret: str | None) -> None:
        if secret != self._secret:
            self._epoch += 1
        self._seen, self._secret = seen, secret


class Secrets:
    """Both secrets of a home."""

    def __init__(self, paths: Paths) -> None:
        self.face_token = SecretFile(paths.face_token, "The face token")
        self.api_key = SecretFile(paths.api_key, "The API key")

    def access_of(self, headers: Headers) -> Access | None:
        """What the secret of a request grants: "face", "api", or nothing."""
        candidate = bearer(headers)
        if candidate is None:
            return None
        if self.face_token.matches(candidate):
            return "face"
        return self.api_access_of(headers)

    def api_access_of(self, headers: Headers) -> Access | None:
        """As `access_of` where the token of our own faces must not work: beyond this machine."""
        candidate = bearer(headers)
        return "api" if candidate is not None and self.api_key.matches(candidate) else None


def bearer(headers: Headers) -> bytes | None:
    """What follows "Bearer" in the one header Authorization; None without it, or with two of them."""
    given = values(headers, b"authorization")
    if len(given) != 1 or not given[0].lower().startswith(_SCHEME):
        return None
    return given[0][len(_SCHEME) :].strip()


def _digest(secret: bytes) -> bytes:
    # Of one length, so that not even the length of a secret shows in the time.
    return hashlib.sha256(secret).digest()


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns


def _new_one(path: Path) -> str:
    return f"Remove {path}; a new one is made at the next start."
