"""Imperial measures become metric ones, rounded as a person would."""

import random

import pytest

from local_training.lessons.conversion import to_metric
from local_training.lessons.measures import has_imperial


@pytest.mark.parametrize(
    ("imperial", "metric"),
    [
        ("Bake at 350°F for an hour.", "Bake at 175 °C for an hour."),
        ("It is 98.6 degrees Fahrenheit.", "It is 37 °C."),
        ("Between 60 and 70°F.", "Between 16 and 21 °C."),
        ("About 5 feet 4 inches tall.", "About 163 cm tall."),
        ("He is 6'2\" tall.", "He is 188 cm tall."),
        ("It is 3 miles away.", "It is 4.8 km away."),
        ("A 10-mile walk.", "A 16 km walk."),
        ("Drive at 65 mph.", "Drive at 105 km/h."),
        ("Use 8 ounces of butter.", "Use 230 g of butter."),
        ("It weighs 2,000 pounds.", "It weighs 910 kg."),
        ("It weighs half a pound.", "It weighs 230 g."),
        ("Add 1 1/2 cups of milk.", "Add 360 ml of milk."),
        ("Add 1 ½ cups of milk.", "Add 360 ml of milk."),
        ("Six to eight inches deep.", "15 to 20 cm deep."),
        ("A yard of 500 square feet.", "A yard of 46 square metres."),
        ("It holds two gallons.", "It holds 7.6 litres."),
        ("It is 350°F (175°C).", "It is 175°C."),
        ("It is 5 km (3.1 miles) long.", "It is 5 km long."),
        ("大约 30 英里。", "大约 48 公里。"),
        ("华氏 350 度。", "175 摄氏度。"),
        ("重十磅。", "重4.5 公斤。"),
    ],
)
def test_a_measure_is_converted(imperial, metric):
    assert to_metric(imperial) == metric
    assert not has_imperial(metric)


@pytest.mark.parametrize(
    "text",
    ["My feet hurt.", "It costs pounds and pence.", "Walk 5 km at 20 °C.", "两米长，三公斤重。", "Come in, please."],
)
def test_what_is_no_imperial_measure_stays(text):
    assert to_metric(text) == text
    assert not has_imperial(text)


JUMBLE = "1 ,|2/0|/3|½|.5|-| |to|and|feet|'|\"|inches|°F|华氏|度|磅|三|万|lbs|(|)|cm|5'10\"|half a|a|cups|mile"


def test_no_jumble_of_numbers_and_units_breaks_the_conversion():
    lot = random.Random(5)
    for _ in range(300):
        assert isinstance(to_metric("".join(lot.choices(JUMBLE.split("|"), k=8))), str)


@pytest.mark.parametrize("unit", [" feet", "°F", "/3 cups", "'5\"", " 英里"])
def test_a_number_that_is_too_long_for_a_measure_breaks_nothing(unit):
    assert isinstance(to_metric("9" * 320 + unit), str)
