"""The words of commands that name files of the configuration: where such a file really lies when it is run. Pure.

A person trusted the bytes of a folder's configuration, so what is run is a copy of those bytes and nothing beside it.
"""

from collections.abc import Sequence

from engine.harness.config.source import HOOKS_FOLDER, SKILLS_FOLDER, Source


def placed(words: Sequence[str], source: Source) -> tuple[str, ...]:
    """`words` with every path below `hooks/` and `skills/` made absolute. Other words stay as they are.

    Raises: ValueError, with a sentence, for a path to a file that is not part of the configuration.
    """
    return tuple(_placed(word, source) for word in words)


def _placed(word: str, source: Source) -> str:
    path = word.removeprefix("./")
    if path.split("/")[0] in (HOOKS_FOLDER, SKILLS_FOLDER) and "/" in path:
        if path not in source.files:
            raise ValueError(f"It names `{path[:200]}`, which is not there")
        return f"{source.run_from.rstrip('/')}/{path}"
    if word.startswith(("./", "../")) or (not source.is_home and word.startswith(f"{source.place.rstrip('/')}/")):
        raise ValueError(
            f"It names `{word[:200]}`, which is not part of the configuration; put it below {HOOKS_FOLDER}/"
        )
    return word
