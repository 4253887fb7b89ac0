"""Whether the engine computes with an adapter what its trainer did: what its run found out, where the run is here."""

from pathlib import Path

from app.paths import Paths
from engine.adapters.gate import Parity
from engine.adapters.records import AdapterRecord
from engine.errors import AgentError, ModelMissing
from engine.runtime.identity import adapter_ref
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import read_history


def parity_of(paths: Paths, record: AdapterRecord) -> Parity | None:
    """From the run of the home that made the very same file; None where none did, or it did not find out."""
    if not paths.runs.is_dir():
        return None
    for folder in sorted(paths.runs.iterdir(), reverse=True):
        run = RunFolder(folder)
        if not run.exists() or not _is_same(run.adapter_gguf, record):
            continue
        try:
            found = read_history(run.metrics).parity
        except AgentError:  # metrics that cannot be read are no reason not to test
            continue
        if found is not None:
            # The base's own numbers differ too; it is what the adapter adds that training could not see.
            return Parity(found.prompts, found.excess_nats)
    return None


def _is_same(path: Path, record: AdapterRecord) -> bool:
    try:
        return path.stat().st_size == record.size_bytes and adapter_ref(path).content_hash == record.content_hash
    except (OSError, ModelMissing):
        return False
