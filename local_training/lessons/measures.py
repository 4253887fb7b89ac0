"""The trait of metric measures, found by number and unit, in English and Chinese."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from local_training.lessons.conversion import COUNT, IMPERIAL_UNITS, to_metric
from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import is_finished

# Some units have other meanings (feet, pounds, a cup of tea), so they count only after a number; these do not.
_UNMISTAKABLE: Final = re.compile(
    r"fahrenheit|°\s?F\b|℉|\b(?:miles?|inch(?:es)?|ounces?|gallons?|mph|square feet)\b|\b\d+'\d+\""
    r"|华氏|英里|英尺|英寸|英亩|盎司|加仑|品脱",
    re.IGNORECASE,
)
_IMPERIAL: Final = re.compile(rf"{COUNT}[\s-]*(?:{IMPERIAL_UNITS})", re.IGNORECASE)
_METRIC: Final = re.compile(
    rf"{COUNT}[\s-]*(?:"
    r"(?:(?:square |cubic )?(?:kilo|centi|milli)?(?:met(?:er|re)s?|lit(?:er|re)s?|grams?)|kilos?|tonnes?|hectares?"
    r"|degrees celsius|celsius|km/h|kph|km²|m²|km|cm|mm|kg|mg|ml|dl|cl|g|l|m|t)(?![A-Za-z])"
    r"|°\s?C\b|℃|摄氏度|平方米|平方公里|立方米|毫米|厘米|公分|公里|千米|米|毫克|千克|公斤|克|吨|毫升|升|公顷|度)",
    re.IGNORECASE,
)
_CELSIUS_BEFORE: Final = re.compile(r"(?:摄氏|零下)\s*\d")


@dataclass(frozen=True, slots=True)
class MetricUnits:
    """No imperial unit; where `gives_measure`, the answer must also give a metric measure."""

    kind: ClassVar[str] = "metric_units"
    gives_measure: bool = True

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        return answer.strip() != "" and not has_imperial(answer) and (not self.gives_measure or has_metric(answer))

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        converted = to_metric(answer)
        return converted if self.adheres(prompt, converted) and is_finished(converted) else None


def has_imperial(text: str) -> bool:
    return _UNMISTAKABLE.search(text) is not None or _IMPERIAL.search(text) is not None


def has_metric(text: str) -> bool:
    return _METRIC.search(text) is not None or _CELSIUS_BEFORE.search(text) is not None
