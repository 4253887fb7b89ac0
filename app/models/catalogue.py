"""The short list of bases that comes with the program. Reads one data file; asks no hub."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.models.fit import Shape
from engine.assets import asset_path
from engine.errors import ModelProblem
from engine.harness.formats import Family

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_BITS_PER_BYTE: Final = 8


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Words(_Table):
    """A text in both languages."""

    en: str
    zh: str

    def in_language(self, language: str) -> str:
        return self.zh if language == "zh" else self.en


class CatalogueBase(_Table):
    """One base; the comments of the file say what its fields mean."""

    name: str
    title: Words
    about: Words
    repo: str
    file: str
    revision: str | None = None
    size_bytes: int | None = None
    sha256: Sha256 | None = None
    licence: str
    family: Family
    context_tokens: int
    parameters: int
    active_parameters: int
    bits: float
    layers: int
    kv_heads: int
    head_size: int
    vocabulary: int
    state_bytes: int = 0

    @property
    def download_bytes(self) -> int:
        """Of the file; an estimate where the size is not known."""
        return self.size_bytes or int(self.parameters * self.bits / _BITS_PER_BYTE)

    @property
    def shape(self) -> Shape:
        return Shape(
            weights_bytes=self.download_bytes,
            active_bytes=int(self.download_bytes * self.active_parameters / self.parameters),
            layers=self.layers,
            kv_heads=self.kv_heads,
            head_size=self.head_size,
            vocabulary=self.vocabulary,
            context_tokens=self.context_tokens,
            state_bytes=self.state_bytes,
        )


class _Catalogue(_Table):
    base: list[CatalogueBase]


def parse_catalogue(text: str, name: str) -> tuple[CatalogueBase, ...]:
    """Raises: ModelProblem naming the file and what is wrong with it."""
    try:
        bases = tuple(_Catalogue.model_validate(tomllib.loads(text)).base)
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise ModelProblem(f"The catalogue {name} is damaged: {error}.", "Install macaron-tall again.") from error
    names = [base.name for base in bases]
    if double := sorted({name for name in names if names.count(name) > 1}):
        raise ModelProblem(f"The catalogue {name} holds {double[0]} twice.", "Install macaron-tall again.")
    return bases


@cache
def catalogue() -> tuple[CatalogueBase, ...]:
    """The shipped list, smallest first. Raises: ModelProblem."""
    return _read(asset_path("models", "catalogue.toml"))


def _read(path: Path) -> tuple[CatalogueBase, ...]:
    return parse_catalogue(path.read_text(encoding="utf-8"), path.name)


def catalogue_base(name: str) -> CatalogueBase | None:
    return next((base for base in catalogue() if base.name == name.lower()), None)


def catalogue_base_of_file(file: str) -> CatalogueBase | None:
    """The base whose file has this name."""
    return next((base for base in catalogue() if base.file == file), None)
