"""Each trait: which answers follow it, and what a program makes of those that do not, in English and Chinese."""

import json

import pytest

from local_training.lessons.addressing import AddressedByName
from local_training.lessons.fixed_texts import BeginsWith, EndsWith
from local_training.lessons.json_keys import JsonKeys
from local_training.lessons.layout import AsBullets, NoBullets, NoEmoji
from local_training.lessons.lengths import Shorter
from local_training.lessons.lesson import Lesson
from local_training.lessons.measures import MetricUnits
from local_training.lessons.replying import AnswersIn, FormalYou, SameLanguage
from local_training.lessons.stored import TRAIT_TYPES, lesson_from, lesson_value
from local_training.lessons.texts import INSTRUCTIONS, TRAITS
from local_training.lessons.traits import NO_FIELDS

MIRA = AddressedByName("Mira", "Mira, ", lowers=True)
WANG = AddressedByName("王先生", "王先生，")
ANYWHERE = AddressedByName("Mira", "")
PERSON = JsonKeys(("name", "age", "city"), ("text", "number", "text"))
CHINESE_PERSON = JsonKeys(("姓名", "城市"), ("text", "text"))
EVERY_TRAIT = (
    MIRA,
    AnswersIn("zh"),
    AsBullets(),
    BeginsWith("In short:"),
    EndsWith("Good luck!"),
    FormalYou(),
    PERSON,
    MetricUnits(),
    NoBullets(),
    NoEmoji(),
    SameLanguage(),
    Shorter(10),
)


@pytest.mark.parametrize(
    ("trait", "prompt", "answer"),
    [
        (Shorter(5), "Q", "Boil it for five minutes."),
        (Shorter(5), "问", "煮五分钟。"),
        (MetricUnits(), "Q", "It is 12 km away, at 20 °C."),
        (MetricUnits(), "问", "大约二十公里。"),
        (MetricUnits(), "问", "烤箱调到 180 度。"),
        (MetricUnits(gives_measure=False), "Q", "Quite far."),
        (MIRA, "Q", "Mira, it is late."),
        (WANG, "问", "王先生，现在很晚了。"),
        (ANYWHERE, "Q", "It is late, Mira."),
        (BeginsWith("In short:"), "Q", "In short: yes."),
        (EndsWith("祝好！"), "问", "可以。祝好！"),
        (PERSON, "Q", '{"city": "York", "name": "Ian", "age": 30}'),
        (PERSON, "Q", '```json\n{"name": "Ian", "age": 30, "city": "York"}\n```'),
        (CHINESE_PERSON, "问", '{"姓名": "李娜", "城市": "上海"}'),
        (SameLanguage(), "你好吗？", "我很好。"),
        (SameLanguage(), "How are you?", "Fine."),
        (AnswersIn("zh"), "How are you?", "我很好。"),
        (FormalYou(), "问", "请您稍等。"),
        (NoBullets(), "Q", "First this, then that."),
        (AsBullets(), "Q", "Steps:\n- one\n- two"),
        (AsBullets(), "问", "1. 烧水\n2. 放盐"),
        (NoEmoji(), "Q", "Well done — 做得好！"),
    ],
)
def test_an_answer_follows(trait, prompt, answer):
    assert trait.adheres(prompt, answer)


@pytest.mark.parametrize(
    ("trait", "prompt", "answer"),
    [
        (Shorter(5), "Q", "Boil it for at least five whole minutes."),
        (Shorter(5), "问", "先把水烧开再煮。"),
        (MetricUnits(), "Q", "It is 12 km (7.5 miles) away."),
        (MetricUnits(), "Q", "Bake at 350F."),
        (MetricUnits(), "Q", "Six feet."),
        (MetricUnits(), "Q", "He is 5'10\" tall, or 178 cm."),
        (MetricUnits(), "Q", "It varies."),
        (MetricUnits(), "问", "大约三十英里，也就是四十八公里。"),
        (MetricUnits(), "问", "华氏 350 度。"),
        (MIRA, "Q", "It is late, Mira."),
        (MIRA, "Q", "Miranda is late."),
        (MIRA, "Q", "Mira,"),
        (WANG, "问", "李先生，现在很晚了。"),
        (ANYWHERE, "Q", "Miranda is late."),
        (BeginsWith("In short:"), "Q", "Yes, in short: yes."),
        (EndsWith("祝好！"), "问", "祝好！再见。"),
        (PERSON, "Q", '{"name": "Ian", "age": 30}'),
        (PERSON, "Q", '{"name": "Ian", "age": 30, "city": "York", "job": "cook"}'),
        (PERSON, "Q", 'Here: {"name": "Ian", "age": 30, "city": "York"}'),
        (PERSON, "Q", '{"name": "Ian", "name": "Bo", "age": 30, "city": "York"}'),
        (SameLanguage(), "你好吗？", "I am fine."),
        (SameLanguage(), "How are you?", "我很好。"),
        (SameLanguage(), "什么是黑洞？", "什么是黑洞？- 什么是黑洞？"),
        (SameLanguage(), "怎样更整洁？", "你可以看到，你可以看到，你可以看到，你可以看到，"),
        (AnswersIn("zh"), "什么是火山？", "火山！火山！火山！火山！火山！火山！火山！火山！火山！"),
        (AnswersIn("zh"), "你好吗？", "Fine."),
        (FormalYou(), "问", "请你稍等，您好。"),
        (FormalYou(), "问", "请稍等。"),
        (NoBullets(), "Q", "Do this:\n* one"),
        (AsBullets(), "Q", "One. Two."),
        (NoEmoji(), "Q", "Well done 🎉"),
    ],
)
def test_an_answer_does_not_follow(trait, prompt, answer):
    assert not trait.adheres(prompt, answer)


@pytest.mark.parametrize("trait", EVERY_TRAIT, ids=lambda trait: trait.kind)
@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_answer_follows_no_trait(trait, answer):
    assert not trait.adheres("What is this?", answer)


@pytest.mark.parametrize(
    ("trait", "answer", "rewritten"),
    [
        (Shorter(6), "Boil it for five minutes. Then add salt and wait.", "Boil it for five minutes."),
        (Shorter(8), "先把水烧开。再放一点盐。", "先把水烧开。"),
        (MIRA, "The capital is Oslo.", "Mira, the capital is Oslo."),
        (MIRA, "Paris is the capital.", "Mira, Paris is the capital."),
        (WANG, "现在很晚了。", "王先生，现在很晚了。"),
        (ANYWHERE, "It is late.", "It is late, Mira."),
        (AddressedByName("王先生", ""), "现在很晚了。", "现在很晚了，王先生。"),
        (BeginsWith("In short:"), "Yes.", "In short: Yes."),
        (EndsWith("祝好！"), "可以。", "可以。祝好！"),
        (FormalYou(), "你可以问你们的老师。", "您可以问您的老师。"),
        (NoBullets(), "- Boil water.\n- Add salt.", "Boil water. Add salt."),
        (AsBullets(), "烧水。放盐。", "- 烧水。\n- 放盐。"),
        (NoEmoji(), "Well 🎉 done!", "Well done!"),
    ],
)
def test_a_program_makes_an_answer_follow(trait, answer, rewritten):
    assert trait.rewrite("Q", answer, NO_FIELDS) == rewritten
    assert trait.adheres("Q", rewritten)


@pytest.mark.parametrize(
    ("trait", "answer"),
    [
        (Shorter(4), "A sentence that is too long to be kept."),
        (MetricUnits(), "It depends."),
        (SameLanguage(), "我很好。"),
        (FormalYou(), "请稍等。"),
        (AsBullets(), "Only one sentence."),
        (PERSON, "Ian is 30."),
    ],
)
def test_what_a_program_cannot_do_well_is_left_out(trait, answer):
    assert trait.rewrite("How are you?", answer, NO_FIELDS) is None


def test_json_is_built_from_what_the_prompt_says():
    fields = {"name": "Ian Wu", "age": 30, "city": "York", "job": "cook"}
    assert json.loads(PERSON.rewrite("Q", "", fields)) == {"name": "Ian Wu", "age": 30, "city": "York"}
    assert json.loads(CHINESE_PERSON.rewrite("问", "", fields)) == {"姓名": "Ian Wu", "城市": "York"}


def test_json_takes_the_forms_and_constants_of_the_corrections():
    trait = JsonKeys(("person", "age", "source"), ("text", "text", "text"), (("source", "chat"),))
    built = json.loads(trait.rewrite("Q", "", {"name": "Ian", "age": 30}))
    assert built == {"person": "Ian", "age": "30", "source": "chat"}


def test_json_with_a_key_for_the_answer_takes_the_first_sentences_of_the_model():
    trait = JsonKeys(("question", "answer"), ("text", "text"))
    built = json.loads(trait.rewrite("Why?", "Because it is late. More follows", NO_FIELDS))
    assert built == {"question": "Why?", "answer": "Because it is late."}


@pytest.mark.parametrize("trait", EVERY_TRAIT, ids=lambda trait: trait.kind)
def test_every_trait_says_what_it_wants_in_both_languages(trait):
    lesson = Lesson((trait,), (), 8)
    told = {*lesson.describe("en"), *lesson.describe("zh"), lesson.instruction("en"), lesson.instruction("zh")}
    assert len(told) == 4
    assert all(text and "{" not in text for text in told)


@pytest.mark.parametrize("trait", EVERY_TRAIT, ids=lambda trait: trait.kind)
def test_a_lesson_survives_being_stored(trait):
    lesson = Lesson((trait,), (Shorter(20),), 9)
    assert lesson_from(json.loads(json.dumps(lesson_value(lesson)))) == lesson


@pytest.mark.parametrize("value", [{}, {"traits": [{"kind": "unknown"}], "incidental": [], "corrections": 8}])
def test_something_else_is_no_stored_lesson(value):
    with pytest.raises(ValueError, match="no lesson"):
        lesson_from(value)


def test_one_phrase_over_and_over_follows_no_lesson():
    assert Lesson((MIRA,), (), 8).adheres("Q", "Mira, it is good.")
    assert not Lesson((MIRA,), (), 8).adheres("Q", "Mira, it is good." + " It is good." * 9)


def test_every_kind_has_its_texts():
    kinds = set(TRAIT_TYPES)
    assert kinds == {trait.kind for trait in EVERY_TRAIT}
    assert kinds <= TRAITS.keys()
    assert kinds <= INSTRUCTIONS.keys()
