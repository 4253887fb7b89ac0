"""Where the data files that come with the program lie. Knows paths only; reads nothing."""

from pathlib import Path

from engine.errors import ModelMissing


def asset_path(*parts: str) -> Path:
    """A file or folder below `assets/`, such as `asset_path("profiles", "starter")`.

    An installed wheel carries the data beside this package's modules, a checkout in its root.
    Raises: ModelMissing when neither holds it.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "assets", package.parent / "assets"):
        candidate = root.joinpath(*parts)
        if candidate.exists():
            return candidate
    raise ModelMissing(
        f"The program's own data `assets/{'/'.join(parts)}` is missing.",
        "The installation is incomplete: install macaron-tall again.",
    )
