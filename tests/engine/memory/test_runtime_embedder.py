"""The embedder of memories in the engine: what its file says, and real vectors."""

from pathlib import Path

import numpy as np
import pytest

from app.settings import Settings
from app.wiring import embedder_file
from engine.errors import BadModelFile, ModelMissing, RuntimeFailed
from engine.memory.embedding import embedded, similarities
from engine.memory.runtime_embedder import RuntimeEmbedder
from engine.runtime.embedder import Embedder


def unloaded(texts):
    raise RuntimeFailed("No base is loaded.", "Load one.")


def test_its_file_says_what_it_is_before_it_runs():
    embedder = RuntimeEmbedder(embedder_file(Settings()), unloaded)
    assert embedder.dimensions == 384
    assert not embedder.is_multilingual
    assert embedder.name.startswith("all-MiniLM-L6-v2")
    with pytest.raises(RuntimeFailed):
        embedder.embed(["tea"])


@pytest.mark.model
def test_texts_about_the_same_are_near_each_other():
    native = Embedder(str(embedder_file(Settings())), 1)
    try:
        embedder = RuntimeEmbedder(embedder_file(Settings()), native.embed)
        tea, drink, car = embedded(embedder, ["I like green tea", "My favourite hot drink is tea", "The car is broken"])
    finally:
        native.close()
    near, far = similarities([drink.vector, car.vector], tea.vector)
    assert near > far + 0.2
    assert len(tea.vector) == 384 * np.dtype(np.float32).itemsize


def test_a_file_that_is_no_embedder_is_refused(tmp_path: Path):
    with pytest.raises(ModelMissing):
        RuntimeEmbedder(tmp_path / "none.gguf", unloaded)
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF" + bytes(20))
    with pytest.raises(BadModelFile):
        RuntimeEmbedder(wrong, unloaded)


def test_another_one_is_named_by_its_path_or_its_name_in_the_models_folder(tmp_path: Path):
    (tmp_path / "own.gguf").write_bytes(b"")
    assert embedder_file(Settings(embedder="own.gguf"), tmp_path) == tmp_path / "own.gguf"
    assert embedder_file(Settings(embedder="/elsewhere/own.gguf"), tmp_path) == Path("/elsewhere/own.gguf")
    assert embedder_file(Settings(embedder="~/other.gguf"), tmp_path) == Path.home() / "other.gguf"
