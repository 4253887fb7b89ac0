"""The adapters that a profile came with, entered in the catalogue when it is loaded. Loads none of them."""

from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.routing.profile import Profile
from engine.runtime.gguf import read_header
from engine.runtime.identity import adapter_ref


def enter_factory(catalogue: Catalogue, profile: Profile, base_hash: str) -> None:
    """Raises: ModelMissing, BadModelFile, StoreProblem."""
    for expert in profile.experts:
        if expert.adapter is None:
            continue
        content_hash = adapter_ref(expert.adapter).content_hash
        if catalogue.has(content_hash):
            continue
        header = read_header(expert.adapter)
        ranks = [tensor.shape[0] for name, tensor in header.tensors.items() if name.endswith(".lora_b")]
        catalogue.add(
            AdapterRecord(
                content_hash=content_hash,
                base_hash=base_hash,
                profile=profile.name,
                expert=expert.expert,
                kind="factory",
                file=expert.adapter.name,
                size_bytes=header.size_bytes,
                rank=max(ranks, default=0),
                note=expert.adapter_name,
            )
        )
