"""What a model hub says of a repository: its files with sizes and hashes, its licence, who may have it.

The only module that asks huggingface_hub. Fetches no file of weights.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from app.models.redirects import check_endpoint, next_address, system_look_up
from app.models.transfer import DownloadFailed
from app.settings import Settings
from engine.errors import AgentError, UnknownName, UsageProblem, boundary

_REPO: Final = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_NOT_FOUND: Final = frozenset({401, 403, 404})
"""The hub tells nobody whether a repository they may not read exists."""
_TIMEOUT_S: Final = 20.0
_MIRROR_HINT: Final = "Check the connection, or set a mirror with `hub` in settings.toml or HF_ENDPOINT."


@dataclass(frozen=True, slots=True)
class RepoFile:
    path: str
    size_bytes: int
    sha256: str | None
    """None for small files, which the hub keeps otherwise."""
    blob_id: str | None
    """Git's name of the content of such a file."""


@dataclass(frozen=True, slots=True)
class Repo:
    name: str
    commit: str
    files: tuple[RepoFile, ...]
    licence: str
    """As its card names it; empty where it does not."""
    licence_link: str
    is_gated: bool
    base_model: str
    """What it was made from, in the words of its card."""

    def file(self, path: str) -> RepoFile | None:
        return next((file for file in self.files if file.path == path), None)


def endpoint_of(settings: Settings, environment: Mapping[str, str]) -> str:
    """The hub in use: the setting, the variable HF_ENDPOINT, or the hub itself. Raises: UsageProblem."""
    return check_endpoint(settings.hub or environment.get("HF_ENDPOINT", "") or default_endpoint())


def _library() -> Any:
    """huggingface_hub, told to send nothing about this machine: to find that out, it would ask hosts of its own."""
    import huggingface_hub
    from huggingface_hub import constants

    constants.HF_HUB_DISABLE_TELEMETRY = True
    return huggingface_hub


def check_repo_name(name: str) -> str:
    """Raises: UsageProblem."""
    if not _REPO.fullmatch(name) or ".." in name:
        raise UsageProblem(
            f"`{name[:120]}` is neither a base of the catalogue nor a repository.",
            "Choose a name from `macaron models list`, or write OWNER/NAME or OWNER/NAME:FILE.",
        )
    return name


def default_endpoint() -> str:
    """The hub itself, whatever the settings and the environment say."""
    address: str = _library().constants._HF_DEFAULT_ENDPOINT
    return address


def file_url(endpoint: str, repo: Repo, path: str) -> str:
    return f"{endpoint}/{repo.name}/resolve/{quote(repo.commit, safe='')}/{quote(path)}"


def describe_repo(endpoint: str, name: str, *, revision: str | None, token: str | None) -> Repo:
    """Ask the hub. Raises: UnknownName, DownloadFailed, UsageProblem."""
    check_repo_name(name)
    library = _library()
    from huggingface_hub import errors

    watch_redirects(library.get_session(), endpoint)
    api = library.HfApi(endpoint=endpoint)
    with boundary(DownloadFailed, f"The hub at {endpoint} cannot be asked about {name}", _MIRROR_HINT):
        try:
            info = api.model_info(
                name, revision=revision, files_metadata=True, timeout=_TIMEOUT_S, token=token or False
            )
        except errors.OfflineModeIsEnabled as error:
            raise DownloadFailed(
                "HF_HUB_OFFLINE is set, so the hub is not asked.", "Unset it, or use `macaron models add FILE`."
            ) from error
        except errors.RevisionNotFoundError as error:
            raise UnknownName(f"{name} has no revision {revision}.", "Leave --revision out, or correct it.") from error
        except errors.HfHubHTTPError as error:
            raise _refusal(endpoint, name, error.response.status_code) from error
    return _repo_of(name, revision, info)


def _refusal(endpoint: str, name: str, status: int) -> AgentError:
    """What an answer means that tells of no repository; mirrors say it by the status alone."""
    if status in _NOT_FOUND:
        return UnknownName(
            f"The hub at {endpoint} has no public repository {name}.",
            "Check the name. If it is private, store a token that may read it with `macaron models token set`.",
        )
    return DownloadFailed(f"The hub at {endpoint} answered {status} when asked about {name}.", _MIRROR_HINT)


def watch_redirects(session: Any, endpoint: str) -> None:
    """Hold the library's own requests to the rules for redirects. The hook of an earlier call is replaced."""

    def check_redirect_of_hub(response: Any) -> None:
        if response.has_redirect_location:
            next_address(str(response.url), response.headers["location"], endpoint, system_look_up)

    hooks = session.event_hooks
    others = [hook for hook in hooks["response"] if getattr(hook, "__name__", "") != check_redirect_of_hub.__name__]
    session.event_hooks = {**hooks, "response": [*others, check_redirect_of_hub]}


def _repo_of(name: str, revision: str | None, info: Any) -> Repo:
    card = info.card_data.to_dict() if info.card_data is not None else {}
    licence = _text(card.get("license"))
    return Repo(
        name=name,
        commit=_text(info.sha) or revision or "main",
        files=tuple(_file_of(sibling) for sibling in info.siblings or ()),
        licence=(_text(card.get("license_name")) or licence) if licence == "other" else licence,
        licence_link=_text(card.get("license_link")),
        is_gated=bool(info.gated),
        base_model=_text(card.get("base_model")),
    )


def _file_of(sibling: Any) -> RepoFile:
    sha256 = str(sibling.lfs.sha256).lower() if sibling.lfs is not None else ""
    size = sibling.lfs.size if sibling.lfs is not None else sibling.size
    return RepoFile(
        path=str(sibling.rfilename),
        size_bytes=size if isinstance(size, int) and size >= 0 else 0,
        sha256=sha256 if _SHA256.fullmatch(sha256) else None,
        blob_id=sibling.blob_id if isinstance(sibling.blob_id, str) else None,
    )


def _text(value: object) -> str:
    """A text of a card on one line; of several, all of them."""
    if isinstance(value, list | tuple):
        value = ", ".join(str(one) for one in value)
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


def gated_problem(repo: Repo) -> AgentError:
    """The error that says how to get access, for the caller to raise."""
    return DownloadFailed(
        f"{repo.name} is gated: its owner wants you to agree to something first.",
        "Open the page of the model at the hub, agree there, make a token in the settings of your account, "
        "and store it with `macaron models token set`.",
    )
