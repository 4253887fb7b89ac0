"""Put the parts of a split model together into one GGUF file. The parts have been checked; nothing is computed."""

import os
from pathlib import Path
from typing import Final

from app.models.disk import not_written
from engine.errors import BadModelFile, boundary
from engine.runtime.gguf import read_header

_SPLIT: Final = "split."
_HINT: Final = "Fetch the parts again, or choose a file that holds the whole model."


def join_parts(parts: tuple[Path, ...], target: Path) -> None:
    """Write the model that `parts` hold, in order, to `target`, which must not exist yet.

    Raises: BadModelFile when they do not belong together, DiskFull, AgentError.
    """
    headers = [read_header(part) for part in parts]
    numbers = [header.metadata.get("split.no") for header in headers]
    counts = {header.metadata.get("split.count") for header in headers}
    tensors = [name for header in headers for name in header.tensors]
    if numbers != list(range(len(parts))) or counts != {len(parts)} or len(tensors) != len(set(tensors)):
        raise BadModelFile(f"{parts[0].name} and its other parts do not belong together.", _HINT)
    try:
        with boundary(BadModelFile, f"{parts[0].name} cannot be joined with its other parts", _HINT):
            _write(parts, target)
    except BadModelFile as error:
        target.unlink(missing_ok=True)
        if isinstance(error.__cause__, OSError):
            raise not_written(target, error.__cause__) from error
        raise


def _write(parts: tuple[Path, ...], target: Path) -> None:
    from gguf import GGUFReader, GGUFValueType, GGUFWriter

    readers = [GGUFReader(part) for part in parts]
    first = readers[0]
    writer = GGUFWriter(target, str(first.fields["general.architecture"].contents()))
    for field in first.fields.values():
        if field.name.startswith(("GGUF.", _SPLIT)) or field.name == "general.architecture":
            continue
        inner = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    for reader in readers:
        for tensor in reader.tensors:
            writer.add_tensor_info(
                tensor.name, tensor.data.shape, tensor.data.dtype, tensor.data.nbytes, tensor.tensor_type
            )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for reader in readers:
        for tensor in reader.tensors:
            writer.write_tensor_data(tensor.data)
    writer.close()
    with target.open("rb") as file:
        os.fsync(file.fileno())
