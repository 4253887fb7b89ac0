"""Copies of trusted configurations in the home, so that what is run is what was trusted, whatever changes meanwhile.

Named by the content hash and compared with it before every use. Decides no trust.
"""

import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from app.files import written
from app.harness.reading import read_source
from engine.harness.config.source import Source

FOLDER_NAME: Final = "trusted"


def copy_of(source: Source, folder: Path) -> Path:
    """The folder below `folder` that holds exactly the files of `source`, made or mended where it does not.

    Raises: DiskFull, AgentError.
    """
    content_hash = source.content_hash
    copy = folder / content_hash
    with written(copy):
        if copy.is_dir() and not copy.is_symlink() and read_source(copy.resolve()).files == source.files:
            return copy
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
        try:
            for path, data in source.files.items():
                file = part.joinpath(*path.split("/"))
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file.write_bytes(data)
                file.chmod(0o700)  # which of them are programs, their hash does not say
            shutil.rmtree(copy, ignore_errors=True)
            os.replace(part, copy)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return copy


def remove_others(folder: Path, kept: Collection[str]) -> None:
    """Remove the copies whose hash is not among `kept`, for which no trust is left."""
    if folder.is_dir():
        for copy in folder.iterdir():
            if copy.name not in kept:
                shutil.rmtree(copy, ignore_errors=True)
