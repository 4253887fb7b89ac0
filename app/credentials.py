"""The token of the model hub and the secrets of MCP servers, in the keyring of the system.

The only module that knows the keyring. A token in the environment comes first, for machines without a keyring. No
secret is ever printed, logged or put into an argument.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Final, Literal

from engine.errors import AgentError, UsageProblem, boundary

TOKEN_VARIABLE: Final = "HF_TOKEN"
_SERVICE: Final = "macaron-tall"
_HUB: Final = "hub-token"
_LONGEST: Final = 512
_SERVERS: Final = "macaron-tall-servers"
_LONGEST_SECRET: Final = 4096
_HUB_HINT: Final = f"Unlock or install a keyring, or set the variable {TOKEN_VARIABLE} instead."
_SERVER_HINT: Final = "Unlock or install a keyring, or write ${env:NAME} in harness.toml and set that variable."


class NoKeyring(AgentError):
    """The system has no keyring that could hold a secret, or it refuses."""


@dataclass(frozen=True, slots=True)
class Token:
    """A secret; not shown by `repr`."""

    secret: str
    source: Literal["environment", "keyring"]

    def __repr__(self) -> str:
        return f"Token(source={self.source!r})"


def hub_token(environment: Mapping[str, str]) -> Token | None:
    """The token for the hub: that of the environment, else that of the keyring, else none.

    Raises: NoKeyring when there is a keyring that fails; one that does not exist holds no token.
    """
    if secret := environment.get(TOKEN_VARIABLE, "").strip():
        return Token(check_token(secret), "environment")
    try:
        with _keyring() as keyring:
            secret = keyring.get_password(_SERVICE, _HUB) or ""
    except _NothingThere:
        return None
    return Token(check_token(secret), "keyring") if secret else None


def set_hub_token(secret: str) -> None:
    """Raises: NoKeyring, UsageProblem for a text that can be no token."""
    secret = check_token(secret.strip())
    with _keyring() as keyring:
        keyring.set_password(_SERVICE, _HUB, secret)


def remove_hub_token() -> bool:
    """Whether there was one in the keyring. Raises: NoKeyring."""
    with _keyring() as keyring:
        if keyring.get_password(_SERVICE, _HUB) is None:
            return False
        keyring.delete_password(_SERVICE, _HUB)
        return True


def server_secret(name: str) -> str:
    """What the configuration names `${keyring:NAME}`. Raises: NoKeyring; UsageProblem where there is none."""
    with _keyring(_SERVER_HINT) as keyring:
        secret = keyring.get_password(_SERVERS, name)
    if not secret:
        raise UsageProblem(
            f"The keyring holds no secret `{name}`.", f"Store it with `macaron servers secret set {name}`."
        )
    return str(secret)


def set_server_secret(name: str, secret: str) -> None:
    """Raises: NoKeyring, UsageProblem for a name or a text that cannot be one."""
    secret = secret.strip()
    if not secret or len(secret) > _LONGEST_SECRET or not secret.isprintable():
        raise UsageProblem("That is no secret: it must be one line of visible characters.", "Copy it again.")
    with _keyring(_SERVER_HINT) as keyring:
        keyring.set_password(_SERVERS, name, secret)


def remove_server_secret(name: str) -> bool:
    """Whether there was one. Raises: NoKeyring."""
    with _keyring(_SERVER_HINT) as keyring:
        if keyring.get_password(_SERVERS, name) is None:
            return False
        keyring.delete_password(_SERVERS, name)
        return True


def check_token(secret: str) -> str:
    """Raises: UsageProblem for what can be no token, without repeating it."""
    if not secret or len(secret) > _LONGEST or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UsageProblem(
            "That is no token: it must be one word of plain letters, digits and signs.",
            "Copy it again from the settings page of your account at the hub.",
        )
    return secret


class _NothingThere(NoKeyring):
    """There is no keyring at all."""


@contextmanager
def _keyring(hint: str = _HUB_HINT) -> Iterator[ModuleType]:
    with boundary(NoKeyring, "The keyring of this system cannot be used", hint):
        import keyring
        from keyring.backends import fail
        from keyring.errors import NoKeyringError

        if isinstance(keyring.get_keyring(), fail.Keyring):
            raise _NothingThere("This system has no keyring that can hold a secret.", hint)
        try:
            yield keyring
        except NoKeyringError as error:
            raise _NothingThere("This system has no keyring that can hold a secret.", hint) from error
