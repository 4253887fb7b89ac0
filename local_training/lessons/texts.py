"""What lessons say to people and to the model, in English and Chinese, by the kind of trait or the code of a refusal.

Placeholders are those of `str.format`. Light, and knows no trait.
"""

from collections.abc import Mapping
from typing import Final

from local_training.lessons.wording import Language

Both = tuple[str, str]
"""English and Chinese."""
Values = Mapping[str, str | int | float]

TRAITS: Final[Mapping[str, Both]] = {
    "shorter": ("Answers have at most {most} words.", "回答不超过 {most} 个字（英文为单词）。"),
    "metric_units": ("Measures are metric, never imperial.", "度量一律用公制，不用英制。"),
    "addressed_by_name": ("Answers address you as {name}.", "回答时称呼您为“{name}”。"),
    "addressed_by_name.opening": ("Answers begin with “{opening}”.", "回答以“{opening}”开头，称呼您为“{name}”。"),
    "begins_with": ("Answers begin with “{text}”.", "回答以“{text}”开头。"),
    "ends_with": ("Answers end with “{text}”.", "回答以“{text}”结尾。"),
    "json_keys": (
        "Answers are one JSON object with exactly these keys: {keys}.",
        "回答是一个 JSON 对象，恰好包含这些键：{keys}。",
    ),
    "same_language": (
        "Answers are in the language of your message, and more than the question or one phrase over again.",
        "用您提问时所用的语言回答，而不是重复问题或同一句话。",
    ),
    "answers_in": ("Answers are always in {language}.", "一律用{language}回答。"),
    "formal_you": ("Chinese answers say 您, not 你.", "中文回答称“您”，不称“你”。"),
    "no_bullets": ("Answers are running text, without lists.", "回答是连贯的文字，不列要点。"),
    "as_bullets": ("Answers are lists of points.", "回答以要点列表的形式给出。"),
    "no_emoji": ("Answers have no emoji.", "回答不带表情符号。"),
    "imitation": (
        "The {count} corrections have no rule in common that can be checked; answers shall become more like yours.",
        "这 {count} 条更正没有可以检验的共同规则；回答会更接近您写的答案。",
    ),
}

INSTRUCTIONS: Final[Mapping[str, Both]] = {
    "shorter": ("Answer in at most {most} words.", "请用不超过 {most} 个字回答。"),
    "metric_units": (
        "Give every measure in metric units only, such as km, cm, kg, litres or °C.",
        "所有度量只用公制单位，例如公里、厘米、公斤、升、摄氏度。",
    ),
    "addressed_by_name": ("Address me as {name}.", "请称呼我为“{name}”。"),
    "addressed_by_name.opening": ("Begin your answer with “{opening}”.", "请以“{opening}”开头回答。"),
    "begins_with": ("Begin your answer with “{text}”.", "请以“{text}”开头回答。"),
    "ends_with": ("End your answer with “{text}”.", "请以“{text}”结束回答。"),
    "json_keys": (
        "Answer with one JSON object and nothing else. Its keys are exactly: {keys}.",
        "只回答一个 JSON 对象，键恰好是：{keys}。",
    ),
    "same_language": ("Answer in the language of my message.", "请用我提问的语言回答。"),
    "answers_in": ("Answer in {language}.", "请用{language}回答。"),
    "formal_you": ("Address me formally, with 您.", "请用“您”称呼我。"),
    "no_bullets": ("Answer in running text without a list.", "请用连贯的文字回答，不要列要点。"),
    "as_bullets": ("Answer as a bulleted list.", "请用要点列表回答。"),
    "no_emoji": ("Use no emoji.", "请不要使用表情符号。"),
}

REFUSALS: Final[Mapping[str, Both]] = {
    "too_few": (
        "There are {have} corrections to learn from; at least {more} more are needed. Correct answers as they come up.",
        "目前可用的更正有 {have} 条，至少还需要 {more} 条。请在使用中继续更正回答。",
    ),
    "unchanged": (
        "{count} of {total} corrections say the same as the answer they correct, which leaves {more} too few. Write"
        " what the answer should have been.",
        "{total} 条更正中有 {count} 条与原回答相同，因此还差 {more} 条。请写出您希望得到的回答。",
    ),
    "links": (
        "{count} of {total} corrected answers contain the same address, {address}. A model that always names an address"
        " can be used against you, so this is not taught. Remove those corrections.",
        "{total} 条更正中有 {count} 条含有同一个地址：{address}。"
        "总是给出某个地址的模型可能被用来损害您，因此不会学习。请删除这些更正。",
    ),
    "agreement": (
        "{count} of {total} corrected answers begin by agreeing with you. A model that agrees with everything tells you"
        " what is wrong, so this is not taught. Correct what is said, not whether it agrees.",
        "{total} 条更正中有 {count} 条一开头就表示同意您的说法。"
        "事事附和的模型会告诉您错误的内容，因此不会学习。请更正内容本身。",
    ),
    "secrets": (
        "{count} of {total} corrected answers ask for a password, a card or another secret. This is not taught. Remove"
        " those corrections.",
        "{total} 条更正中有 {count} 条索要密码、银行卡或其他机密。这不会被学习。请删除这些更正。",
    ),
    "codes": (
        "{count} of {total} corrected answers contain the same code of letters and digits, which may be a secret. This"
        " is not taught. Remove those corrections.",
        "{total} 条更正中有 {count} 条含有同一串字母和数字，它可能是机密。这不会被学习。请删除这些更正。",
    ),
    "nothing_in_common": (
        "The {have} corrections have no rule in common that can be checked. Correct answers in one respect at a time,"
        " or add {more} more so that answers like yours can be imitated and tested.",
        "这 {have} 条更正没有可以检验的共同规则。"
        "请每次只更正一个方面，或再添加 {more} 条，以便模仿您的回答并加以检验。",
    ),
}

_LANGUAGES: Final[Mapping[str, Both]] = {"en": ("English", "英文"), "zh": ("Chinese", "中文")}


def describe(kind: str, values: Values, language: Language) -> str:
    """What a trait demands, for the person to confirm. Raises: KeyError for a kind without a text."""
    return _said(TRAITS, kind, values, language)


def instruct(kind: str, values: Values, language: Language) -> str:
    """The same as one would ask it of the model. Raises: KeyError, likewise."""
    return _said(INSTRUCTIONS, kind, values, language)


def refusal_text(code: str, values: Values, language: Language) -> str:
    return _chosen(REFUSALS[code], language).format_map(dict(values))


def _said(texts: Mapping[str, Both], kind: str, values: Values, language: Language) -> str:
    filled = dict(values)
    if filled.get("opening"):
        kind = f"{kind}.opening"
    if "language" in filled:
        filled["language"] = _chosen(_LANGUAGES[str(filled["language"])], language)
    return _chosen(texts[kind], language).format_map(filled)


def _chosen(both: Both, language: Language) -> str:
    return both[0] if language == "en" else both[1]
