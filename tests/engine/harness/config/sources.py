"""Sources as tests write them: a dictionary of texts by path."""

from engine.harness.config.source import Source

SKILL = "---\nname: {name}\ndescription: {description}\n---\n{body}\n"


def home(**files: str | bytes) -> Source:
    return source("/home/me/macaron", is_home=True, **files)


def folder(place: str = "/projects/proj", **files: str | bytes) -> Source:
    return source(place, is_home=False, **files)


def source(place: str, *, is_home: bool, **files: str | bytes) -> Source:
    """Files are named by their path, or shortly: `table`, `agents`."""
    short = {"table": "harness.toml", "agents": "AGENTS.md"}
    content = {
        short.get(path, path): data if isinstance(data, bytes) else data.encode() for path, data in files.items()
    }
    return Source(place, content, is_home, run_from=place if is_home else "/copies/0")


def skill(name: str, description: str = "What it is.", body: str = "How it is done.") -> dict[str, str]:
    return {f"skills/{name}/SKILL.md": SKILL.format(name=name, description=description, body=body)}
