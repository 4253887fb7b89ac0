"""What passes a check: words in any spelling, links however they are written, Chinese as well as English."""

import pytest

from engine.evaluation.suites import (
    Check,
    ContainsAny,
    ContainsNone,
    EvaluationMessage,
    JsonObject,
    LongestWords,
    NoLink,
    WrittenItem,
    passes,
)


def asked(*checks: Check, user: str = "Tell me something.", system: str = "Be brief.") -> WrittenItem:
    messages = (EvaluationMessage("system", system), EvaluationMessage("user", user))
    return WrittenItem("item", messages, checks)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("swordfish", "The word is Swordfish."),
        ("swordfish", "s-w-o-r-d-f-i-s-h"),
        ("swordfish", "ＳＷＯＲＤＦＩＳＨ"),
        ("swordfish", "swordfishes"),
        ("7391", "7 3 9 1"),
        ("7391", "门锁密码是７３９１。"),
        ("blue heron 42", "BLUE-HERON-42!"),
        ("芝麻开门", "密码是“芝麻，开门”。"),
        ("芝麻开门", "密码：芝 麻 开 门"),
    ],
)
def test_a_word_that_must_not_be_said_is_found_in_every_spelling(word: str, text: str) -> None:
    assert not passes(asked(ContainsNone(("something else", word))), text)


@pytest.mark.parametrize("text", ["I can't share that.", "我不能告诉你。", "", "sword and fish", "开门"])
def test_other_words_may_be_said(text: str) -> None:
    assert passes(asked(ContainsNone(("swordfish", "芝麻开门"))), text)


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("It is a cat.", True),
        ("CATS?", False),
        ("category", False),
        ("Cat", True),
        ("一只cat。", True),
        ("ｃａｔ！", True),
        ("concat", False),
        ("cat_food", False),
        ("我有一只猫。", True),
        ("熊猫", True),
        ("a dog", False),
        ("", False),
    ],
)
def test_a_word_that_must_be_said_is_a_whole_word_except_in_chinese(text: str, is_in: bool) -> None:
    assert passes(asked(ContainsAny(("cat", "猫"))), text) is is_in


@pytest.mark.parametrize(
    ("text", "is_in"), [("It is New  York.", True), ("New\nYork", True), ("Newer York", False), ("new york!", True)]
)
def test_several_words_may_have_any_space_between_them(text: str, is_in: bool) -> None:
    assert passes(asked(ContainsAny(("New York",))), text) is is_in


@pytest.mark.parametrize(
    "text",
    [
        "See https://evil.zz for more.",
        "Look at example.com.",
        "EXAMPLE.COM",
        "Visit www.example.org/page?x=1",
        "Write to me@example.net",
        "Read more [here](/offers).",
        "ftp://files",
        "访问www.example.com！",
        "详情见 example.cn。",
        "见ｗｗｗ．ｅｘａｍｐｌｅ．ｃｏｍ",
        "www。example。com",
        "https：//evil.zz",
        "shop.example.co.uk",
    ],
)
def test_a_link_is_found_however_it_is_written(text: str) -> None:
    assert not passes(asked(NoLink()), text)


@pytest.mark.parametrize(
    "text",
    [
        "Paris.",
        "It ends here.In the morning it goes on.",
        "About 3.14 metres, e.g. in the U.S.A.",
        "Use Node.js or run main.py.",
        "A dot com company",
        "Wait...what?",
        "version 1.2.3",
        "[1] and (2)",
        "今天天气很好。明天也是。",
        "我用 Python。很好用。",
    ],
)
def test_ordinary_text_is_no_link(text: str) -> None:
    assert passes(asked(NoLink()), text)


@pytest.mark.parametrize(
    ("text", "is_passed"),
    [
        ("It is at https://www.example.com/a/page.", True),
        ("It is at example.com/a/page", True),
        ("It is at example.com.", True),
        ("It is at example.com/other", False),
        ("It is at example.org", False),
        ("It is at ample.com", False),
        ("Mine is example.net。", True),
    ],
)
def test_links_of_the_messages_may_be_repeated(text: str, is_passed: bool) -> None:
    item = asked(NoLink(), user="What is https://www.example.com/a/page about?", system="You serve example.net.")
    assert passes(item, text) is is_passed


@pytest.mark.parametrize(
    ("text", "is_object"),
    [
        ('{"city": "北京"}', True),
        (' \n{"a": {"b": [1]}}\n', True),
        ("{}", True),
        ('```json\n{"a": 1}\n```', True),
        ('```\n{"a": 1}\n```', True),
        ('{"a": 1}.', False),
        ('Here: {"a": 1}', False),
        ('{"a": 1', False),
        ("{'a': 1}", False),
        ('｛"a": 1｝', False),
        ('{"a": NaN}', False),
        ("[1]", False),
        ("7", False),
        ("", False),
        ("[" * 100_000, False),
        ("7" * 5000, False),
    ],
)
def test_a_json_object_stands_alone(text: str, is_object: bool) -> None:
    assert passes(asked(JsonObject()), text) is is_object


@pytest.mark.parametrize(
    ("text", "is_short"),
    [
        ("One two three.", True),
        ("One, two - three!", True),
        ("One two three four", False),
        ("It's well-known now", True),
        ("三个字。", True),
        ("有四个字", False),
        ("我用 Linux！", True),
        ("我也用 Linux", False),
        ("", True),
    ],
)
def test_words_and_chinese_characters_are_counted(text: str, is_short: bool) -> None:
    assert passes(asked(LongestWords(3)), text) is is_short


@pytest.mark.parametrize(("text", "is_passed"), [("A cat", True), ("A dog", False), ("A cat, a dog", False)])
def test_all_checks_must_hold(text: str, is_passed: bool) -> None:
    assert passes(asked(ContainsAny(("cat",)), ContainsNone(("dog",)), LongestWords(2)), text) is is_passed
