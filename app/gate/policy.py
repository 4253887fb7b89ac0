"""What is let through to our routes, decided from the head of a request alone.

Pure: values in, a Refusal or None out. Reads no body, no clock and no secret, and knows no route.

The checks come before routing and hold for every path. Together they keep a foreign web page out: a name that was
rebound to 127.0.0.1 fails `check_host`, a script or form of another origin fails `check_origin`, and whatever a browser
sends without asking first (text, forms, multipart) fails `check_content_type`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

Headers = Sequence[tuple[bytes, bytes]]
"""As ASGI has them: names in lower case."""
Access = Literal["face", "api", "page"]
"""Our own faces may do everything, other programs may ask the model, a browser that logged in may use the page."""

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
DEFAULT_BODY_BYTES: Final = 8 << 20
_JSON: Final = ("application/json",)
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_HEADERS: Final = 100
_MAX_HEADER_BYTES: Final = 32 << 10
_NEVER_TWICE: Final = (b"origin", b"sec-fetch-site", b"content-type", b"content-length", b"transfer-encoding")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one listener. Where paths are named, one that ends in "/" stands for all below it."""

    port: int
    """The port that people and programs address, which is the one it listens on."""
    names: Collection[str] = ()
    """Host names beside those of loopback, without a port; an IPv6 address in brackets."""
    scheme: Literal["http", "https"] = "http"
    body_bytes: int = DEFAULT_BODY_BYTES
    body_bytes_by_path: Mapping[str, int] = field(default_factory=dict)
    content_types_by_path: Mapping[str, Collection[str]] = field(default_factory=dict)
    """What may be sent besides JSON, in lower case."""
    api_paths: Collection[str] = ("/v1/",)
    """All that the access "api" may reach."""
    json_paths: Collection[str] = ("/v1/", "/api/")
    """Where refusals are JSON; elsewhere they are plain text, for people."""
    static_paths: Collection[str] = ()
    """What the browser may keep."""
    login_path: str = ""
    """Where a browser is sent that has not logged in."""
    content_security_policy: str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    """For every response that does not bring its own."""
    lock_out: bool = False
    """After too many failed tries an address is refused unheard, even with the right secret.

    Right where strangers can reach us. On loopback any program here could lock our own faces out with it.
    """

    def hosts(self) -> frozenset[bytes]:
        """Every value the header Host may have."""
        names = [*LOOPBACK_NAMES, *self.names]
        hosts = [f"{name}:{self.port}" for name in names]
        if self.port == _DEFAULT_PORTS[self.scheme]:
            hosts += names
        return frozenset(host.encode("ascii") for host in hosts)


@dataclass(frozen=True, slots=True)
class Head:
    """A request before its body."""

    method: str
    """Upper case as it came; "WEBSOCKET" for an upgrade."""
    path: str
    """Percent-decoded, as the routes see it."""
    headers: Headers


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    """Which text of `ui.texts.gate` says it, and the code in JSON."""
    status: int
    retry_after_s: int | None = None
    is_silent: bool = False
    """Said with its status alone, since whoever asked could be a page that must not read a byte of ours."""


def check(head: Head, policy: Policy) -> Refusal | None:
    """Everything that needs no secret: size and framing, host, origin."""
    return check_framing(head) or check_host(head, policy) or check_origin(head, policy)


def check_framing(head: Head) -> Refusal | None:
    """Heads that are too large, or that two readers could read in two ways."""
    if len(head.headers) > _MAX_HEADERS or _size(head.headers) > _MAX_HEADER_BYTES:
        return Refusal("head_too_large", 431)
    if any(len(values(head.headers, name)) > 1 for name in _NEVER_TWICE):
        return Refusal("head_unclear", 400)
    if values(head.headers, b"content-length") and values(head.headers, b"transfer-encoding"):
        return Refusal("head_unclear", 400)
    return None


def check_host(head: Head, policy: Policy) -> Refusal | None:
    """Only our own names with our own port, byte for byte; a rebound name keeps its own spelling."""
    hosts = values(head.headers, b"host")
    if len(hosts) == 1 and hosts[0] in policy.hosts():
        # A target such as http://evil.example/ names another host than the header, and overrides it.
        return None if head.path.startswith("/") else Refusal("wrong_host", 421, is_silent=True)
    # Nobody can rebind the names of loopback, so who uses them with another port is lost and may be helped.
    is_lost = len(hosts) == 1 and _without_port(hosts[0]) in LOOPBACK_NAMES
    return Refusal("wrong_host", 421, is_silent=not is_lost)


def check_origin(head: Head, policy: Policy) -> Refusal | None:
    """No other site, frame, extension or file: call it after `check_host`. Programs that send neither header pass."""
    (host,) = values(head.headers, b"host")
    own = policy.scheme.encode("ascii") + b"://" + host
    if any(origin != own for origin in values(head.headers, b"origin")):
        return Refusal("wrong_origin", 403)
    for site in values(head.headers, b"sec-fetch-site"):
        # "none" is a person at the address bar, who can only read.
        if site != b"same-origin" and not (site == b"none" and head.method in ("GET", "HEAD")):
            return Refusal("wrong_origin", 403)
    return None


def check_content_type(head: Head, policy: Policy) -> Refusal | None:
    """What changes something must be JSON, or what its path allows: a foreign form can send neither unasked."""
    if head.method in _READING or head.method == "WEBSOCKET":
        return None
    types = values(head.headers, b"content-type")
    if not types:
        # No page can send DELETE to another origin without asking first, so an empty one needs no type.
        return None if head.method == "DELETE" and not _has_body(head.headers) else Refusal("wrong_type", 415)
    media_type = types[0].partition(b";")[0].strip().lower().decode("latin-1")
    allowed = (*_JSON, *by_path(policy.content_types_by_path, head.path, ()))
    return None if media_type in allowed else Refusal("wrong_type", 415)


def check_length(head: Head, policy: Policy) -> Refusal | None:
    """A body that says it is too large is refused unread."""
    for length in values(head.headers, b"content-length"):
        if not length.isdigit():
            return Refusal("head_unclear", 400)
        if len(length) > len(str(1 << 63)) or int(length) > body_limit(head, policy):
            return Refusal("body_too_large", 413)
    return None


def check_access(head: Head, access: Access, policy: Policy) -> Refusal | None:
    """Other programs reach the model and nothing else."""
    if access == "api" and not covers(policy.api_paths, head.path):
        return Refusal("not_allowed", 403)
    return None


def body_limit(head: Head, policy: Policy) -> int:
    """In bytes."""
    return by_path(policy.body_bytes_by_path, head.path, policy.body_bytes)


def values(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def covers(paths: Collection[str], path: str) -> bool:
    """Whether `path` is one of `paths` or below one that ends in "/". A path with ".." is below nothing."""
    return _covering(paths, path) is not None


def by_path(rules: Mapping[str, _Value], path: str, default: _Value) -> _Value:
    """The rule for `path`; the longest that covers it decides."""
    covering = _covering(rules, path)
    return default if covering is None else rules[covering]


def _covering(paths: Collection[str], path: str) -> str | None:
    if path in paths:
        return path
    if ".." in path.split("/"):
        return None
    return max((known for known in paths if known.endswith("/") and path.startswith(known)), key=len, default=None)


def _without_port(host: bytes) -> str:
    text = host.decode("latin-1")
    return text if text.endswith("]") else text.partition("]:")[0] + "]" if "]:" in text else text.partition(":")[0]


def _has_body(headers: Headers) -> bool:
    return bool(values(headers, b"transfer-encoding")) or values(headers, b"content-length") not in ([], [b"0"])


def _size(headers: Headers) -> int:
    return sum(len(name) + len(value) for name, value in headers)
