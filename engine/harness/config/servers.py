"""MCP servers in the shape in which everyone writes them: a command, or an address. Starts and connects to none."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Annotated, Final, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, model_validator

from engine.harness.config.parts import MOST_ENTRIES, Items, Line, OptionalLine, Part, Word
from engine.harness.config.secrets_named import (
    SecretName,
    is_secret_key,
    looks_like_secret,
    secret_arguments,
    secret_names,
)

_NAME_IT: Final = "write ${keyring:NAME} or ${env:NAME} instead of the secret itself"

ServerName = Word
VariableName = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HeaderName = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9-]+$")]


class McpServer(Part):
    """One server: `command` with `args` and `env`, or `url` with `headers`."""

    type: Literal["stdio", "http", "streamable-http"] | None = None
    """Optional: it follows from `command` or `url`."""
    command: Line | None = None
    """The program to start; its words are not read by a shell."""
    args: Items[OptionalLine] = ()
    env: Mapping[VariableName, OptionalLine] = Field(default={}, max_length=MOST_ENTRIES)
    """All that its environment holds beside what every child gets. Secrets by name: "${keyring:github}"."""
    url: Line | None = None
    headers: Mapping[HeaderName, Line] = Field(default={}, max_length=MOST_ENTRIES)
    """Sent with every request. Secrets by name: "Bearer ${keyring:github}"."""
    disabled: bool = False
    """Kept, and not started."""
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    """How long one call may take."""

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("It needs either a `command` or a `url`")
        if self.command is not None and (self.headers or self.type not in (None, "stdio")):
            raise ValueError(
                "It has a `command`, so it takes `args` and `env`, no `headers` and no `type` of an address"
            )
        if self.url is not None and (self.args or self.env or self.type == "stdio"):
            raise ValueError("It has a `url`, so it takes `headers`, no `args`, no `env` and no `type` of a program")
        return self

    @property
    def secrets(self) -> tuple[SecretName, ...]:
        """Whatever its `env` and `headers` name, without repetition."""
        return tuple(dict.fromkeys(self._secrets()))

    def _secrets(self) -> Iterator[SecretName]:
        for value in (*self.env.values(), *self.headers.values()):
            yield from secret_names(value)


class WrittenServer(McpServer):
    """A server as a person wrote it down."""

    @model_validator(mode="after")
    def _names_its_secrets(self) -> Self:
        for key, value in (*self.env.items(), *self.headers.items()):
            secret_names(value)  # raises for a name that is none
            if looks_like_secret(value, key):
                raise ValueError(f"`{key}` seems to hold a secret; {_NAME_IT}")
        for index in secret_arguments((self.command or "", *self.args)):
            place = f"Argument {index}" if index else "`command`"
            raise ValueError(f"{place} seems to hold a secret, and everyone can see arguments; put it into `env`")
        if any("${" in word for word in (self.command or "", *self.args)):
            raise ValueError("An argument names a secret, and everyone can see arguments; put it into `env`")
        return self

    @model_validator(mode="after")
    def _has_a_usable_address(self) -> Self:
        if self.url is None:
            return self
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
        except ValueError:
            raise ValueError("`url` is no address") from None
        if parts.scheme not in ("http", "https") or not host:
            raise ValueError("`url` must begin with https:// or http://")
        if parts.username or parts.password or any(is_secret_key(key) for key, _ in parse_qsl(parts.query)):
            raise ValueError(f"`url` seems to hold a secret; put it into `headers`, and {_NAME_IT}")
        if looks_like_secret(self.url) or "${" in self.url:
            raise ValueError("`url` holds or names a secret, and addresses are shown; put it into `headers`")
        if parts.scheme == "http" and not _is_here(host) and self.secrets:
            raise ValueError("`url` is plain http, over which anybody could read the secret in `headers`; use https://")
        return self


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
