"""The trait of answering with one JSON object that has exactly the given keys."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from engine import strict_json
from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import first_sentences

ValueForm = Literal["text", "number"]
_MOST_KEYS: Final = 12
_MOST_ANSWER_UNITS: Final = 30
_FENCE: Final = re.compile(r"\A```(?:json)?\s*\n(.*?)\n```\Z", re.DOTALL)
_SAME_FIELDS: Final[Mapping[str, str]] = {
    "name": "name full_name fullname person who product item 名字 姓名 名称 产品 商品",
    "age": "age years years_old 年龄 岁数",
    "city": "city town place location where lives_in 城市 地点 所在地 地方 居住地",
    "job": "job occupation profession work role 职业 工作 职务",
    "event": "event title what subject name 活动 事件 标题 名称",
    "date": "date day when weekday 日期 时间 星期 哪天",
    "time": "time hour start start_time at 时间 几点 开始时间",
    "product": "product item name article thing 产品 商品 物品 名称",
    "price": "price cost amount 价格 价钱 金额",
    "colour": "colour color 颜色",
    "quantity": "quantity count number amount 数量 件数",
}
"""The keys by which people call our fields."""
_WHOLE_ANSWER: Final = "answer reply response text message content 回答 答案 回复 内容"
_WHOLE_PROMPT: Final = "question prompt query request 问题 提问"


@dataclass(frozen=True, slots=True)
class JsonKeys:
    """One JSON object and nothing else, with these keys and no others."""

    kind: ClassVar[str] = "json_keys"
    keys: tuple[str, ...]
    forms: tuple[ValueForm, ...]
    """Whether the user writes each value as a number."""
    constants: tuple[tuple[str, str | int | float | bool | None], ...] = ()
    """Keys that have the same value in every correction."""

    @property
    def values(self) -> Values:
        return {"keys": ", ".join(self.keys)}

    def adheres(self, prompt: str, answer: str) -> bool:
        value = read_object(answer)
        return value is not None and value.keys() == set(self.keys)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        """From what the practice prompt says of its content; keys such as `answer` take the model's first sentences."""
        built: dict[str, Any] = {}
        for key, form in zip(self.keys, self.forms, strict=True):
            value = self._value(key, prompt, answer, fields)
            if value is None:
                return None
            built[key] = _formed(value, form)
        return json.dumps(built, ensure_ascii=False)

    def covers(self, fields: Fields) -> bool:
        """Whether a prompt with these fields has a value for every key, without help from the model."""
        constant = dict(self.constants)
        return all(key in constant or field_of(key, fields) is not None for key in self.keys)

    def needs_answer(self) -> bool:
        return any(_called(key) in _WHOLE_ANSWER.split() for key in self.keys)

    def _value(self, key: str, prompt: str, answer: str, fields: Fields) -> str | int | float | bool | None:
        constant, called = dict(self.constants), _called(key)
        if key in constant:
            return constant[key]
        if (field := field_of(key, fields)) is not None:
            return fields[field]
        if called in _WHOLE_PROMPT.split():
            return prompt
        return first_sentences(answer, _MOST_ANSWER_UNITS) if called in _WHOLE_ANSWER.split() else None


def field_of(key: str, fields: Fields) -> str | None:
    """The field that a key means; one of just that name goes before one that may be called so."""
    called = _called(key)
    if called in fields:
        return called
    return next((field for field in fields if called in _SAME_FIELDS.get(field, "").split()), None)


def read_object(answer: str) -> dict[str, Any] | None:
    """The JSON object that an answer is, perhaps in a fence; None where it is anything else."""
    text = answer.strip()
    if (fenced := _FENCE.match(text)) is not None:
        text = fenced[1]
    if not text.startswith("{"):
        return None
    try:
        value = strict_json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None


def infer_json_keys(afters: Sequence[str], share: float) -> JsonKeys | None:
    """The keys that at least `share` of the answers have, in the usual order."""
    objects = [value for after in afters if (value := read_object(after)) is not None]
    counted = Counter(frozenset(value) for value in objects)
    if not counted:
        return None
    names, times = counted.most_common(1)[0]
    if times < share * len(afters) or len(names) > _MOST_KEYS:
        return None
    alike = [value for value in objects if value.keys() == names]
    keys = Counter(map(tuple, alike)).most_common(1)[0][0]
    return JsonKeys(keys, tuple(_form(key, alike) for key in keys), _constants(keys, alike))


def _form(key: str, objects: Sequence[dict[str, Any]]) -> ValueForm:
    numbers = sum(isinstance(value[key], int | float) and not isinstance(value[key], bool) for value in objects)
    return "number" if 2 * numbers > len(objects) else "text"


def _constants(
    keys: Sequence[str], objects: Sequence[dict[str, Any]]
) -> tuple[tuple[str, str | int | float | bool | None], ...]:
    found = []
    for key in keys:
        first = objects[0][key]
        if not isinstance(first, dict | list) and all(strict_json.same(value[key], first) for value in objects):
            found.append((key, first))
    return tuple(found)


def _formed(value: str | int | float | bool | None, form: ValueForm) -> Any:
    if form == "number" and isinstance(value, str):
        digits = re.search(r"\d+(?:\.\d+)?", value)
        return float(digits[0]) if digits and "." in digits[0] else int(digits[0]) if digits else value
    if form == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _called(key: str) -> str:
    return key.strip().casefold().replace("-", "_").replace(" ", "_")
