"""Folders of files as tests write them."""

from pathlib import Path

SKILL = "---\nname: {0}\ndescription: What it is.\n---\n{1}\n"


def write(place: Path, **files: str | bytes) -> Path:
    """Files are named by their path, or shortly: `table`, `agents`."""
    short = {"table": "harness.toml", "agents": "AGENTS.md"}
    place.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        file = place / short.get(name, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return place.resolve()


def skill(name: str, body: str = "How it is done.") -> dict[str, str]:
    return {f"skills/{name}/SKILL.md": SKILL.format(name, body)}
