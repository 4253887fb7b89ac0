"""`macaron models pull`: from a name to a checked file in the home and a profile that uses it.

Says what it does through `Talk`; prints nothing itself.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import httpx

from app.credentials import hub_token
from app.models.catalogue import CatalogueBase, catalogue_base
from app.models.choosing_files import choose_files, published_texts, split_target
from app.models.disk import make_folder
from app.models.download import MARGIN_BYTES, Report, Step, Wanted, check_room, download
from app.models.fit import Machine
from app.models.headers import read_base, whole_name
from app.models.hub import Repo, RepoFile, describe_repo, endpoint_of, file_url, gated_problem
from app.models.joining import join_parts
from app.models.making import TEXT_FILES, Made, free_name, make_profile, profile_exists
from app.models.naming import profile_name, safe_name
from app.models.parts import CHUNK_BYTES
from app.models.records import Record, read_record, write_record
from app.models.redirects import headers_for
from app.models.transfer import PATIENT, DownloadFailed, Pace
from app.paths import Paths, make_home
from app.settings import Settings
from engine.errors import BadModelFile, UnknownName, boundary
from engine.routing.profile import load_profile

_LARGEST_TEXT: Final = 1 << 20
_READ_BYTES: Final = 1 << 20
_TEXT_TIMEOUT_S: Final = 30.0


class Talk(Protocol):
    """What a pull tells while it goes."""

    def plan(self, repo: Repo, files: tuple[RepoFile, ...], known: CatalogueBase | None) -> None:
        """What will be fetched, and under which licence; before anything is."""
        ...

    def step(self, file: str, step: Step) -> None: ...


@dataclass(frozen=True, slots=True)
class Pulled:
    file: Path
    made: Made | None
    """None when the profile was there already."""
    name: str
    was_here: bool
    licence: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How a download goes about it."""

    pace: Pace = PATIENT
    chunk_bytes: int = CHUNK_BYTES
    margin_bytes: int = MARGIN_BYTES


def pull(
    paths: Paths,
    settings: Settings,
    environment: Mapping[str, str],
    machine: Machine,
    target: str,
    talk: Talk,
    *,
    revision: str | None = None,
    name: str | None = None,
    force: bool = False,
    limits: Limits = Limits(),
) -> Pulled:
    """Fetch `target`, a name of the catalogue or OWNER/NAME[:FILE], and make a profile of it.

    Raises: UnknownName, UsageProblem, ModelProblem, DiskFull, AgentError.
    """
    make_home(paths)
    known = catalogue_base(target)
    repo_name, wanted_file = (known.repo, known.file) if known else split_target(target)
    if name is not None:
        name = free_name(paths, name, force=force)
    endpoint = endpoint_of(settings, environment)
    repo, token = _ask(endpoint, repo_name, revision or (known.revision if known else None), environment)
    files = choose_files(repo, wanted_file)
    if known and revision is None:
        _check_pin(known, files)
    talk.plan(repo, files, known)
    if repo.is_gated and token is None:
        raise gated_problem(repo)
    model, was_here = _fetch_model(paths, endpoint, repo, files, token, talk, limits)
    chosen = name or (known.name if known else profile_name(model.name))
    if name is None and not force and _uses(paths, chosen, model):
        return Pulled(model, None, chosen, was_here, repo.licence)
    texts = _fetch_texts(endpoint, repo, token)
    if name is None and not force and profile_exists(paths, chosen):
        chosen = _other_name(paths, chosen)
    made = make_profile(paths, chosen, read_base(model), machine, texts=texts, force=force)
    return Pulled(model, made, made.name, was_here, repo.licence)


def _ask(endpoint: str, name: str, revision: str | None, environment: Mapping[str, str]) -> tuple[Repo, str | None]:
    """The repository, and the token if it is needed there. A public one never sees it."""
    try:
        repo = describe_repo(endpoint, name, revision=revision, token=None)
        if not repo.is_gated:
            return repo, None
    except UnknownName:
        found = hub_token(environment)
        if found is None:
            raise
        return describe_repo(endpoint, name, revision=revision, token=found.secret), found.secret
    found = hub_token(environment)
    return repo, found.secret if found else None


def _check_pin(known: CatalogueBase, files: tuple[RepoFile, ...]) -> None:
    """Raises: BadModelFile when the hub offers another file than the catalogue pins."""
    if known.sha256 is not None and (len(files) != 1 or files[0].sha256 != known.sha256):
        raise BadModelFile(
            f"{known.name} is not what the catalogue says: the hub offers a file with another SHA-256 than the one "
            f"pinned here, {known.sha256[:12]}….",
            "Nothing was fetched. If you set a mirror, try without it; a newer version of this program may know more.",
        )


def _fetch_model(
    paths: Paths,
    endpoint: str,
    repo: Repo,
    files: tuple[RepoFile, ...],
    token: str | None,
    talk: Talk,
    limits: Limits,
) -> tuple[Path, bool]:
    """(the model in the home, whether it was there already)"""
    name = safe_name(whole_name(files[0].path.rpartition("/")[2]))
    sha256 = files[0].sha256 if len(files) == 1 else _together(files)
    report: Report = lambda step: talk.step(name, step)  # noqa: E731
    theirs = paths.models / name
    if read_record(theirs) is None and _is_right(theirs, sha256 or "", files[0].size_bytes, report):
        return theirs, True  # the user put it there, and so it stays the user's
    final = _place(paths, name, sha256 or "")
    record = Record(repo.name, files[0].path, repo.commit, sha256 or "", sum(f.size_bytes for f in files), repo.licence)
    if _is_here(final, record, report):
        return final, True
    make_folder(paths.models)
    if len(files) == 1:
        # Written first: a record without a file is harmless, a file without a record could never be removed.
        write_record(final, record)
        _download(paths, endpoint, repo, files[0], final, token, talk, limits, is_whole=True)
        return final, False
    parts = tuple(paths.downloads / safe_name(f"{file.sha256}-{file.path.rpartition('/')[2]}") for file in files)
    for file, part in zip(files, parts, strict=True):
        _download(paths, endpoint, repo, file, part, token, talk, limits, is_whole=False)
    joined = paths.downloads / f"{sha256}.joined"
    joined.unlink(missing_ok=True)
    check_room(paths.downloads, record.size_bytes, limits.margin_bytes)
    join_parts(parts, joined)
    read_base(joined)
    write_record(final, record)
    joined.replace(final)
    for part in parts:
        part.unlink()
    return final, False


def _download(
    paths: Paths,
    endpoint: str,
    repo: Repo,
    file: RepoFile,
    final: Path,
    token: str | None,
    talk: Talk,
    limits: Limits,
    *,
    is_whole: bool,
) -> None:
    name = file.path.rpartition("/")[2]
    wanted = Wanted(file_url(endpoint, repo, file.path), endpoint, file.sha256 or "", file.size_bytes, name)
    report: Report = lambda step: talk.step(name, step)  # noqa: E731
    download(
        wanted,
        final,
        paths.downloads,
        token=token,
        report=report,
        pace=limits.pace,
        chunk_bytes=limits.chunk_bytes,
        margin_bytes=limits.margin_bytes,
        check=_check_model if is_whole else lambda path: None,
    )


def _check_model(path: Path) -> None:
    """Raises: BadModelFile."""
    read_base(path)


def _together(files: tuple[RepoFile, ...]) -> str:
    """One name for the content of all parts."""
    return hashlib.sha256("".join(file.sha256 or "" for file in files).encode()).hexdigest()


def _place(paths: Paths, name: str, sha256: str) -> Path:
    """Where the model goes: under its own name, unless a file of that name is another one."""
    final = paths.models / name
    record = read_record(final)
    if final.exists() and (record is None or record.sha256 != sha256):
        return final.with_name(f"{final.stem}-{sha256[:8]}{final.suffix}")
    return final


def _is_here(final: Path, record: Record, report: Report) -> bool:
    """Whether the file is here and its bytes are still right; one that rotted is deleted."""
    if not final.exists() or read_record(final) is None:
        return False
    if record.file != whole_name(record.file):
        return True  # joined here; its parts were checked, its own hash is nobody's
    if _is_right(final, record.sha256, record.size_bytes, report):
        return True
    final.unlink()
    return False


def _is_right(path: Path, sha256: str, size_bytes: int, report: Report) -> bool:
    """Whether there is a file with this hash at `path`."""
    if not path.is_file() or path.stat().st_size != size_bytes:
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
            report(Step("verifying", file.tell(), size_bytes))
    return digest.hexdigest() == sha256


def _uses(paths: Paths, name: str, model: Path) -> bool:
    """Whether the profile `name` is there and has `model` as its base."""
    folder = paths.profiles / name
    if not (folder / "lora.md").is_file():
        return False
    base = load_profile(folder).base
    return (paths.models / base.file if base.path is None else base.path) == model


def _other_name(paths: Paths, name: str) -> str:
    return next(other for number in range(2, 1000) if not profile_exists(paths, other := f"{name}-{number}"))


def _fetch_texts(endpoint: str, repo: Repo, token: str | None) -> dict[str, str] | None:
    """The texts of the published Mixture-of-LoRA in the repository; None where there is none.

    Raises: DownloadFailed, BadModelFile.
    """
    texts: dict[str, str] = {}
    for file in published_texts(repo):
        url = file_url(endpoint, repo, file.path)
        headers = {"User-Agent": "macaron-tall", **headers_for(url, endpoint, token)}
        with boundary(
            DownloadFailed, f"{file.path} of {repo.name} could not be fetched", "Run the same command again."
        ):
            content = _small_file(url, headers)
        if len(content) != file.size_bytes or file.blob_id != _git_blob_id(content):
            raise BadModelFile(f"{file.path} of {repo.name} is not what the hub says it is.", "Use another mirror.")
        try:
            texts[file.path.rpartition("/")[2]] = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadModelFile(f"{file.path} of {repo.name} is not UTF-8 text.", "Tell its publisher.") from error
    return texts if set(texts) == set(TEXT_FILES) else None


def _small_file(url: str, headers: Mapping[str, str]) -> bytes:
    """Such files come from the hub itself, so no redirect is followed. Raises: httpx.HTTPError, ValueError."""
    content = b""
    with httpx.stream("GET", url, headers=headers, timeout=_TEXT_TIMEOUT_S) as response:
        response.raise_for_status()
        for block in response.iter_bytes():
            content += block
            if len(content) > _LARGEST_TEXT:
                raise ValueError(f"it is larger than {_LARGEST_TEXT} bytes")
    return content


def _git_blob_id(content: bytes) -> str:
    """Git's name for the content of a file; a check against accidents, as git itself makes it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
