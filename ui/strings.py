"""Every text that a face shows, in English and Chinese. Knows no event and no widget.

Placeholders are those of `str.format`. Both languages of a text have the same placeholders; a test holds them to it.
"""

from collections.abc import Mapping
from typing import Final

from ui.texts import (
    adapter_screens,
    adapters,
    evaluation,
    forgetting,
    gate,
    host,
    interview,
    jobs,
    memories,
    models,
    page,
    program,
    servers,
    signals,
    suggestions,
    teaching,
    terminal,
    tools,
    training,
    turns,
    verdicts,
)
from ui.texts.wording import Wording

LANGUAGES = ("en", "zh")


def detect_language(environment: Mapping[str, str]) -> str:
    """`zh` when the locale of the environment is Chinese, else `en`. The first variable that is set decides."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if locale := environment.get(variable, ""):
            return "zh" if locale.lower().startswith("zh") else "en"
    return "en"


def say(key: str, language: str, **values: object) -> str:
    """The text of `key`, filled in. A language we do not have reads English."""
    wording = TEXTS[key]
    return (wording.zh if language == "zh" else wording.en).format(**values)


def say_count(key: str, language: str, count: int) -> str:
    """The text of `key` for `count` things; English has a text of its own for one."""
    return say(f"{key}.one" if count == 1 else key, language, count=count)


TEXTS: Final[Mapping[str, Wording]] = {
    **turns.TEXTS,
    **signals.TEXTS,
    **teaching.TEXTS,
    **terminal.TEXTS,
    **tools.TEXTS,
    **servers.TEXTS,
    **page.TEXTS,
    **models.TEXTS,
    **program.TEXTS,
    **host.TEXTS,
    **jobs.TEXTS,
    **memories.TEXTS,
    **suggestions.TEXTS,
    **interview.TEXTS,
    **adapters.TEXTS,
    **adapter_screens.TEXTS,
    **gate.TEXTS,
    **training.TEXTS,
    **verdicts.TEXTS,
    **evaluation.TEXTS,
    **forgetting.TEXTS,
}
