"""The report of a run: one HTML file with everything a person needs to judge it, whole without a network. Light.

Answers, questions and even names in it were written by others. They are shown as text, never as markup, and what
cannot be seen in them is spelled out; besides, the page allows itself no script and no request.
"""

import html
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from engine.adapters.files import put
from local_training.runs.charts import STYLE
from local_training.runs.comparison import Comparison, compare
from local_training.runs.evaluations import EvaluatedItem, evaluated_steps, evaluation_path, read_items
from local_training.runs.folder import Frozen, RunFolder, RunState
from local_training.runs.metrics import History, read_history
from local_training.runs.recipe import SAMPLING_KINDS, Recipe, read_recipe
from local_training.runs.report_charts import chart_sections
from local_training.runs.report_figures import held_out_figures, what_it_took
from local_training.runs.report_texts import Language, say
from local_training.runs.stored import parsed

MOST_CHANGES: Final = 40
"""Shown of each direction."""
MOST_CHARACTERS: Final = 3000
"""Shown of one answer or question."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SEEN_ANYWAY: Final = frozenset("\n\t\u200c\u200d")
"""Laid out by the page, or needed to write Persian, Indic scripts and emoji."""
_SIGNS: Final = {"better": "▲", "worse": "▼", "same": "=", None: "?"}


def write_report(folder: RunFolder, language: Language) -> Path:
    """Write `report.html` anew from what the folder holds now.

    Raises: UsageProblem when it is no run; StoreProblem for a damaged evaluation; DiskFull, AgentError.
    """
    state = folder.read_state()
    history = read_history(folder.metrics)
    page = report_html(
        folder.read_frozen(), read_recipe(folder.recipe), state, history, read_comparison(folder, state.step), language
    )
    put(folder.report, [page.encode("utf-8", "replace")])
    return folder.report


def read_comparison(folder: RunFolder, step: int) -> Comparison | None:
    """The first evaluation beside the last one up to `step`; None where there are no two. Raises: AgentError."""
    steps = [one for one in evaluated_steps(folder.evaluations) if one <= step]
    if len(steps) < 2:
        return None
    first, last = (read_items(evaluation_path(folder.evaluations, one)) for one in (steps[0], steps[-1]))
    return compare((steps[0], first), (steps[-1], last), _questions(folder.data))


def report_html(
    frozen: Frozen,
    recipe: Recipe,
    state: RunState,
    history: History,
    comparison: Comparison | None,
    language: Language,
) -> str:
    """The page. `comparison` is None where held-out items were not evaluated both before and after."""
    return _TEMPLATE.render(
        say=lambda key, **values: say(key, language, **values),
        lang="zh-CN" if language == "zh" else "en",
        frozen=frozen,
        recipe=recipe,
        state=state,
        history=history,
        comparison=comparison,
        outcome=comparison.outcome if comparison else None,
        signs=_SIGNS,
        learned=_learned(recipe, frozen.expert, language),
        figures=held_out_figures(comparison, recipe, language) if comparison else (),
        took=what_it_took(state, history.steps, language),
        sections=[
            (one.title, [Markup(chart) for chart in one.charts]) for one in chart_sections(recipe, history, language)
        ],
        chart_style=Markup(STYLE),
        changes=_changes(comparison, language) if comparison else (),
        recipe_text=recipe_text(recipe),
        inputs=_inputs(frozen, recipe, language),
    )


def visible(text: str) -> Markup:
    """`text` as HTML in which nothing acts: markup is escaped, and characters that cannot be seen, or that turn the
    order of what is read, stand as their code."""
    return Markup("".join(map(_visible_character, text)))


def recipe_text(recipe: Recipe) -> str:
    """All settings, those not given too, as a recipe has them."""
    values = recipe.model_dump()
    lines = [f"{key} = {_toml(value)}" for key, value in values.items() if not isinstance(value, dict)]
    for name, table in values.items():
        if isinstance(table, dict) and (recipe.kind in SAMPLING_KINDS or name not in ("rollouts", "reward")):
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in table.items() if value is not None]
    return "\n".join(lines)


def _visible_character(character: str) -> str:
    if character in _SEEN_ANYWAY or unicodedata.category(character) not in _UNSEEN:
        return html.escape(character)
    return f'<span class="code">U+{ord(character):04X}</span>'


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _questions(data: Path) -> Mapping[str, str]:
    """What the items of a data file ask, by id, as far as it can be read: a report needs no more."""
    found: dict[str, str] = {}
    try:
        lines = data.read_bytes().split(b"\n")
    except OSError:
        return found
    for line in lines:
        values = parsed(line)
        if isinstance(values, dict) and isinstance(values.get("id"), str):
            found[values["id"]] = _question(values.get("prompt"))
    return found


def _question(prompt: Any) -> str:
    """The prompt, or the last message of one that has several."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], dict):
        prompt = prompt[-1].get("content")
    return prompt if isinstance(prompt, str) else ""


@dataclass(frozen=True, slots=True)
class _ChangeList:
    title: str
    changes: Sequence["_ShownChange"]
    more: int


@dataclass(frozen=True, slots=True)
class _ShownChange:
    item_id: str
    question: Markup
    before: Markup
    after: Markup
    before_remark: str
    after_remark: str


def _changes(comparison: Comparison, language: Language) -> Sequence[_ChangeList]:
    """Those that became wrong first: they are what a person must see."""
    lists = []
    for title, became_right in (("items.lost", False), ("items.gained", True)):
        found = [one for one in comparison.changes if one.became_right is became_right]
        shown = [
            _ShownChange(
                one.before.item_id,
                _excerpt(one.question, language),
                _answer(one.before, language),
                _answer(one.after, language),
                _remark(one.before, language),
                _remark(one.after, language),
            )
            for one in found[:MOST_CHANGES]
        ]
        if shown:
            lists.append(_ChangeList(say(title, language, count=len(found)), shown, len(found) - len(shown)))
    return lists


def _answer(item: EvaluatedItem, language: Language) -> Markup:
    return _excerpt(item.text, language) if item.text else Markup.escape(say("empty", language))


def _excerpt(text: str, language: Language) -> Markup:
    rest = len(text) - MOST_CHARACTERS
    cut = Markup('<span class="cut">{}</span>').format(say("cut", language, count=f"{rest:,}")) if rest > 0 else ""
    return visible(text[:MOST_CHARACTERS]) + cut


def _remark(item: EvaluatedItem, language: Language) -> str:
    told: Iterable[str] = (
        say("tokens", language, count=f"{item.tokens:,}") if item.tokens is not None else "",
        say("cut_off", language) if item.finish == "length" else "",
    )
    return " · ".join(filter(None, told))


def _learned(recipe: Recipe, expert: str, language: Language) -> str:
    return say(
        f"learned.{recipe.kind}",
        language,
        expert=expert,
        prompts=recipe.batch.prompts,
        branches=recipe.rollouts.branches,
        examples=recipe.batch.examples,
    )


def _inputs(frozen: Frozen, recipe: Recipe, language: Language) -> Sequence[tuple[str, str, str]]:
    """Label, name and hash of all that was frozen. Of files the name alone: a report may be passed on."""
    begun = datetime.fromtimestamp(frozen.created_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = ", ".join(f"{name} {version}" for name, version in frozen.versions.items() if version)
    return [
        (say("inputs.base", language), Path(frozen.base).name, frozen.base_hash),
        (say("inputs.expert", language), frozen.expert, ""),
        (
            say("inputs.adapter", language),
            Path(frozen.expert_adapter).name or say("none", language),
            frozen.expert_adapter_hash,
        ),
        (say("inputs.recipe", language), frozen.title, frozen.recipe_hash),
        (say("inputs.data", language), recipe.data, frozen.data_hash),
        (say("inputs.created", language), begun, ""),
        (say("inputs.versions", language), versions or say("none", language), ""),
    ]


def _template_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    return environment


_TEMPLATE: Final = _template_environment().get_template("report.html.jinja")
