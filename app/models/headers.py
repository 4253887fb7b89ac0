"""What a GGUF file on this machine is, from its checked header: sizes for the fit, the chat family, the title.

Reads the header only. Knows no profile and no hub.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.models.fit import Shape
from app.models.naming import title_of
from engine.errors import BadModelFile
from engine.harness.formats import Family, detect_family
from engine.runtime.gguf import ArrayInfo, GGUFHeader, check_base, read_header

_MARKUP: Final = ("<|im_start|>", "<|im_sep|>", "<think>", "<|start_header_id|>", "<start_of_turn>", "[INST]")
"""Tokens that tell the families apart."""
_VISION: Final = ("v.", "mm.", "a.")
"""How the tensors of a vision or audio part begin."""
_SPLIT: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_STATE_BYTES: Final = 4
"""Recurrent states are kept in 32 bits."""


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A model file that can be a base."""

    path: Path
    title: str
    architecture: str
    family: Family | None
    """None where it is not certain; the engine then says so when it loads the base."""
    shape: Shape
    size_bytes: int
    quantisation: str
    """The type most weights have."""
    parameters: int


def read_base(path: Path) -> BaseFile:
    """Raises: ModelMissing, BadModelFile with the reason."""
    header = read_header(path)
    if header.architecture == "clip" or header.metadata.get("general.type") == "mmproj":
        raise BadModelFile(
            f"{path.name} is the vision part of a model, not a model.", "Choose the file that holds the text model."
        )
    check_base(header)
    if any(name.startswith(_VISION) for name in header.tensors):
        raise BadModelFile(
            f"{path.name} holds a vision part beside the text model, which llama.cpp reads from a file of its own.",
            "Get this model as a GGUF file made for llama.cpp, such as one from the hub.",
        )
    return BaseFile(
        path=path,
        title=title_of(header.metadata.get("general.name"), path.stem),
        architecture=header.architecture,
        family=family_of(header),
        shape=shape_of(header),
        size_bytes=header.size_bytes,
        quantisation=_quantisation(header),
        parameters=sum(math.prod(tensor.shape) for tensor in header.tensors.values()),
    )


def split_place(name: str) -> tuple[int, int] | None:
    """(number of the part, how many parts) of a file that is one part of a split model; None for others."""
    match = _SPLIT.search(name)
    return (int(match[1]), int(match[2])) if match else None


def part_names(name: str) -> tuple[str, ...]:
    """The names of all parts of the model that `name` is part of, or the name alone."""
    place = split_place(name)
    if place is None:
        return (name,)
    stem = _SPLIT.sub("", name)
    return tuple(f"{stem}-{number:05d}-of-{place[1]:05d}.gguf" for number in range(1, place[1] + 1))


def whole_name(name: str) -> str:
    """The name of the whole model that `name` is a part of."""
    return _SPLIT.sub(".gguf", name)


def family_of(header: GGUFHeader) -> Family | None:
    """The chat family, where its markup tokens make it certain."""
    with header.path.open("rb") as file:
        data = file.read(header.header_bytes)
    # A token of the vocabulary is a text of its own: its length stands before it.
    markup = {token for token in _MARKUP if len(token).to_bytes(8, "little") + token.encode() in data}
    family, is_certain = detect_family(header.architecture, markup)
    return family if is_certain else None


def shape_of(header: GGUFHeader) -> Shape:
    """What takes memory. Where the file is silent or gives one number per layer, the larger estimate is taken."""
    blocks = _number(header, "block_count", 1) - _number(header, "nextn_predict_layers", 0)
    heads = _number(header, "attention.head_count", 1)
    head_size = _number(header, "attention.key_length", _number(header, "embedding_length", 0) // max(heads, 1))
    interval = _number(header, "full_attention_interval", 1)
    attention = max(blocks // max(interval, 1), 0)
    weights = sum(tensor.size_bytes for tensor in header.tensors.values())
    return Shape(
        weights_bytes=weights,
        active_bytes=_active_bytes(header, weights),
        layers=attention,
        kv_heads=_number(header, "attention.head_count_kv", heads),
        head_size=head_size,
        vocabulary=_vocabulary(header),
        context_tokens=_number(header, "context_length", 2048),
        state_bytes=_state_bytes(header) * (blocks - attention if interval > 1 else blocks),
    )


def _state_bytes(header: GGUFHeader) -> int:
    """What one recurrent layer keeps; 0 where there is none."""
    inner, state = _number(header, "ssm.inner_size", 0), _number(header, "ssm.state_size", 0)
    kept = max(_number(header, "ssm.conv_kernel", 1) - 1, 0)
    channels = inner + 2 * _number(header, "ssm.group_count", 0) * state
    return _STATE_BYTES * (inner * state + kept * channels)


def _active_bytes(header: GGUFHeader, weights: int) -> int:
    """Weights read per token: of routed experts the used ones, of the input embedding next to nothing."""
    experts, used = _number(header, "expert_count", 0), _number(header, "expert_used_count", 0)
    routed = sum(tensor.size_bytes for name, tensor in header.tensors.items() if "_exps." in name)
    lookup = header.tensors.get("token_embd.weight")
    unread = lookup.size_bytes if lookup and "output.weight" in header.tensors else 0
    return weights - unread - (routed - routed * used // experts if experts else 0)


def _number(header: GGUFHeader, key: str, default: int) -> int:
    value = header.metadata.get(f"{header.architecture}.{key}")
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _vocabulary(header: GGUFHeader) -> int:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    return tokens.count if isinstance(tokens, ArrayInfo) else 0


def _quantisation(header: GGUFHeader) -> str:
    sizes: dict[str, int] = {}
    for tensor in header.tensors.values():
        sizes[tensor.type_name] = sizes.get(tensor.type_name, 0) + tensor.size_bytes
    return max(sizes, key=sizes.__getitem__)
