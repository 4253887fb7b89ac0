"""Secrets in a configuration are named, never written: `${keyring:NAME}`, `${env:NAME}` or, for short, `${NAME}`.

Finds such names in a text, puts values in their place, and tells what looks like a secret that was written out.
Reads no keyring and no environment: whoever starts a server gives a function that does.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

SecretKind = Literal["keyring", "env"]

_REFERENCE: Final = re.compile(r"\$\{([^}]*)\}?")
_NAMED: Final = re.compile(r"(?:(?P<kind>keyring|env):)?(?P<name>[A-Za-z_][A-Za-z0-9_.@/-]{0,99})")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Openings that well-known services give to what they hand out.
_KNOWN_SECRET: Final = re.compile(
    r"\bsk-[\w-]{16,}|\bgh[a-z]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[a-z]-[\w-]{10,}|\bhf_\w{20,}"
    r"|\bA[KS]IA[0-9A-Z]{12,}|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9]{20,}")
_MANY_CHANGES: Final = 4
"""Between letters and digits, in one long word: words of a language and version numbers have fewer."""
_SECRET_WORDS: Final = frozenset(
    (
        *("token", "secret", "password", "passwd", "pwd", "passphrase"),
        *("apikey", "key", "credential", "credentials", "authorization", "cookie"),
    )
)
_PLACE_WORDS: Final = frozenset(("file", "path", "dir", "folder", "url", "id", "name"))
"""A key that ends in one of these says where a secret is, not what it is."""
_SCHEME: Final = re.compile(r"\s*(?:bearer|basic|token)?\s*", re.IGNORECASE)
"""What a header says before its secret."""


@dataclass(frozen=True, slots=True)
class SecretName:
    """Where a secret is kept: an entry of the keyring, or an environment variable."""

    kind: SecretKind
    name: str


def secret_names(text: str) -> tuple[SecretName, ...]:
    """The secrets that `text` names, in order.

    Raises: ValueError for a `${` that names none, with a sentence.
    """
    return tuple(_parsed(match) for match in _REFERENCE.finditer(text))


def filled(text: str, value_of: Callable[[SecretName], str]) -> str:
    """`text` with the values in place of the names, in one pass: what a value says is never a name."""
    return _REFERENCE.sub(lambda match: value_of(_parsed(match)), text)


def looks_like_secret(text: str, key: str = "") -> bool:
    """Whether `text`, apart from the secrets it names, seems to hold one. `key` is what it is the value of."""
    written = _REFERENCE.sub(" ", text)
    if _KNOWN_SECRET.search(written) or any(_is_random(word) for word in _LONG_WORD.findall(written)):
        return True
    return is_secret_key(key) and not _SCHEME.fullmatch(written)


def is_secret_key(key: str) -> bool:
    """Whether a variable, header or option of this name usually holds a secret."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", key)]
    return bool(words) and words[-1] not in _PLACE_WORDS and not _SECRET_WORDS.isdisjoint(words)


def secret_arguments(arguments: tuple[str, ...]) -> Iterator[int]:
    """Positions of the arguments that seem to hold a secret, such as what follows `--token`."""
    for index, (before, argument) in enumerate(pairwise(("", *arguments))):
        option, _, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
        asked = before if before.startswith("-") and "=" not in before and not option else ""
        if looks_like_secret(value, option or asked):
            yield index


def _parsed(match: re.Match[str]) -> SecretName:
    named = _NAMED.fullmatch(match[1])
    if named is None or not match[0].endswith("}"):
        raise ValueError(f"`{match[0][:60]}` names no secret")
    kind: SecretKind = "keyring" if named["kind"] == "keyring" else "env"
    if kind == "env" and not _VARIABLE.fullmatch(named["name"]):
        raise ValueError(f"`{named['name']}` cannot be the name of an environment variable")
    return SecretName(kind, named["name"])


def _is_random(word: str) -> bool:
    return sum(left.isdigit() != right.isdigit() for left, right in pairwise(word)) >= _MANY_CHANGES
