"""What a user says for themselves in a message: sentences that are theirs, that claim something, and nothing quoted.

Pure and on the safe side: what may come from somebody else is left out, since a memory that is missing can be said
again while one that was planted works on. A message that is not known to be typed has no own words at all.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.memory.scripts import simplified
from engine.memory.writing.patterns import any_of
from engine.values import Attachment, Provenance

MOST_SENTENCES: Final = 30
"""Nobody types more about themselves in one message; the rest is not looked at."""
MOST_CHARACTERS: Final = 4_000
"""A longer message was hardly typed: it has no own words."""
SENTENCE_CHARACTERS: Final = 300
"""Longer sentences are left out."""
_LEFT_OUT: Final = "\ufffc"
"""Where a quotation was; a sentence that holds one is left out too."""
_SHORT_QUOTE_WORDS: Final = 3
_SHORT_QUOTE_CHARACTERS: Final = 12

_APOSTROPHE: Final = re.compile(r"(?<=[A-Za-z])[’ʼ](?=[A-Za-z])")
"""As keyboards with typographic quotation marks set it."""
_FENCE: Final = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)", re.DOTALL)
_MARKUP: Final = re.compile(
    r"<memory>.*?(?:</memory>|\Z)|<\|?(?:im_start|im_end|start_header_id|tool_call|think|system|assistant)[^>]*>.*"
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>.*|(?:\[/?(?:INST|SYSTEM_PROMPT)\]|<</?SYS>>|</?(?:start|end)_of_turn>).*",
    re.DOTALL | re.IGNORECASE,
)
_TERMINAL: Final = re.compile(
    r"^[ \t]*(?:(?:\$|>>>|\w+@[\w.-]+:[^\n$#]*[$#]|(?:PS )?[A-Z]:\\[^>\n]*>)[ \t]+\S|Traceback \()"
    r"[^\n]*(?:\n(?![ \t]*(?:\n|\Z))[^\n]*)*",
    re.MULTILINE,
)
"""A command or a fault, and what a program printed after it, up to an empty line."""
_HEADER: Final = "from|to|subject|sent|date|cc|reply-to|发件人|收件人|主题|日期|发送时间|时间|抄送"
_MATERIAL: Final = (
    "text|e-?mail|message|letter|article|paragraph|story|sentence|note|review|post|document|page|quote|example"
    "|transcript|lyrics"
)
_FORWARDED: Final = any_of(
    r"^[ \t]*-{2,}[ \t]*(?:original|forwarded|原始邮件|转发邮件|转发的邮件).*",
    r"^[ \t]*begin forwarded message.*",
    r"^[ \t]*on .{4,80} wrote:.*",
    r"^[ \t]*在.{2,60}写道[:：].*",
    rf"^[ \t]*(?:{_HEADER})[ \t]*[:：][^\n]*\n[ \t]*(?:{_HEADER})[ \t]*[:：]",
    r"^[ \t]*(?:subject|发件人|主题)[ \t]*[:：]",
    r"^[ \t]*(?:dear [^\n]{1,40}|(?:hi|hello) [A-Z][^\n]{1,40}),[ \t]*$",
    r"^[ \t]*尊敬的[^\n]{1,20}[:：,，]",
    flags=re.IGNORECASE | re.MULTILINE,
)
_TASK: Final = any_of(
    r"\b(?:translat|rewrit|rephras|paraphras|summari[sz]|proofread|correct|fix|improve|polish|edit|explain|analy[sz]e"
    r"|classify|continue|complete|reply to|respond to|answer|read|check|shorten|expand|extract|format|convert|spell"
    r"|what does|how do (?:i|you) say|the following)[^\n:：]{0,80}[:：]",
    rf"\b(?:{_MATERIAL})[^\n:：]{{0,40}}[:：]",
    r"\bhere(?:'s| is| are| comes?)\b(?![^\n:：]{0,40}\b(?:about me|about myself|details|facts)\b)[^\n:：]{0,60}[:：]",
    r"\b(?:says|said|wrote|writes|reads|told me)[^\n:：]{0,30}[:：]",
    "(?:翻译|改写|润色|总结|概括|校对|续写|解释|分析|缩写|扩写|修改|改一下|回复|朗读|检查|提取|转换"
    "|读一下)[^\n:：。]{0,30}[:：]",
    "(?:下面|以下|如下|这段|这封|这篇|这句|这条|邮件|短信|文章|例句|例子|比如|歌词|原文|内容|说"
    "|写道|这是(?!关于我)|提示词?|消息|文档|文字|文本|评论|帖子|报告|指令|日志|台词)[^\n:：。]{0,30}[:：]",
)
_ASKED_FOR: Final = any_of(
    r"(?:^|[.!?,]\s*|\bplease,?\s+)(?:remember|note|keep in mind|don't forget|memori[sz]e|for the record)\b"
    r"[^\n:：]{0,30}[:：]",
    "(?:记住|记一下|记下|记得|别忘了|备注)[^\n:：]{0,12}[:：]",
    flags=re.IGNORECASE | re.MULTILINE,
)
_FOREIGN_LINE: Final = any_of(
    r"[ \t]*[>|]",
    r"[ \t]*[-*][ \t]*\[(?:preference|fact|relation|plan|instruction),",
    r"[ \t]*#{1,6}[ \t]",
    r"[ \t]*(?:system|assistant|user|human|ai|bot|tool|系统|助手|用户)[ \t]*[:：]",
    r"[ \t]*[\"“「『].{40,}$",
)
_QUOTE: Final = any_of(
    "“([^”\n]*)”?",
    '"([^"\n]*)"?',
    "「([^」\n]*)」?",
    "『([^』\n]*)』?",
    "«([^»\n]*)»?",
    r"(?<!\w)'([^'\n]{12,})'(?!\w)",
)
_FIRST_PERSON: Final = any_of(r"\b(?:i|i'm|my|me|mine|we|our|you|your|always|never)\b", "我|咱|你|总是|永远|必须")
_ENDS: Final = any_of(
    r"(?<=[!?])\s+",
    r"(?<=(?<!\bDr)(?<!\bMr)(?<!\bSt)(?<!\bMs)(?<!\bMrs)(?<!\be\.g)(?<!\bi\.e)\.)\s+",
    "(?<=[。！？；])",
    r"(?<=;)\s+",
    r"\n+",
)
_FILLER: Final = r"(?:(?:so|and|but|ok|okay|well|hey|hi)[,\s]+)*"
_QUESTION: Final = any_of(
    r"[?？]\s*$",
    r"[吗呢][。!！]?\s*$",
    rf"^\s*{_FILLER}(?:who|whom|whose|what|when|where|which|why|how|do|does|did|am|is|are|was|were|can|could|should"
    r"|shall|would|will|may|have|has)\b",
    r"^\s*(?:谁|什么|哪|怎么|怎样|为什么|多少|几|是不是|能不能|可不可以|要不要|有没有|会不会)",
)
_STATES_WHEN: Final = any_of(r"^\s*(?:when|whenever)\b(?!.*[?？]\s*$)")
_SUPPOSED: Final = any_of(
    r"^\s*(?:(?:and|but|so|or)\s+)?(?:if|suppose|supposing|imagine|assume|assuming|pretend|let's say|say i|what if"
    r"|unless|as if|in case|for example|for instance|e\.g\.)\b",
    r"\b(?:i wish|if i (?:were|was|had|lived|moved|could|ever)|i would have|i'd have|i could have|i might|i may)\b",
    r"\bi (?:would|'d|could) (?:be|live|work|move|own|buy)\b",
    r"\b(?:maybe i|perhaps i|hypothetically|just kidding|only joking|not really true|i doubt|i'm not sure)\b",
    r"\b(?:in my (?:dream|novel|story|book|game)|i dreamt|i dreamed|thinking (?:of|about))\b",
    "^\\s*(?:如果|要是|假如|假设|假使|假装|想象|比如|例如|万一|倘若)|(?:如果|要是|假如)我|我要是|我如果",
    "可能会|也许我|说不定我|开玩笑|我梦见|我梦到|做梦|我希望我|要不是|我在想要不要|我不确定",
)
_REPORTED: Final = any_of(
    r"\b(?:he|she|they|it|who|someone|somebody|everyone|people|the (?:man|woman|author|character|narrator|sign"
    rf"|{_MATERIAL})|(?:my|a|our|the) \w+|(?!i\b)\w+) (?:says?|said|told|thinks?|thought|claims?|claimed|wrote|writes"
    r"|asked|asks|believes?|mentioned|insists?|replied)\b[^.]{0,40}\b(?:i|i'm|my|me)\b",
    "(?:他|她|他们|有人|别人|对方|老板|客户|朋友|同事|邮件|信|文章|书)(?:里|中|上)?(?:说|问|写|认为|觉得|以为|告诉我"
    "|提到)",
)


def own_sentences(
    text: str, provenance: Provenance = "typed", attachments: Sequence[Attachment] = ()
) -> tuple[str, ...]:
    """The sentences in which the user claims something in their own words, in order. Attached files count for nothing,
    but what is typed beside them does."""
    return sentences_claimed(text) if provenance == "typed" else ()


def sentences_claimed(text: str) -> tuple[str, ...]:
    """As `own_sentences` of a message that is not known to be typed here. What is made of them may be shown to the
    user, who says whether it is so; it must not count before."""
    if len(text) > MOST_CHARACTERS:
        return ()
    return tuple(sentence for sentence in _sentences(own_text(text)) if claims(sentence))[:MOST_SENTENCES]


def own_text(text: str) -> str:
    """A message without code, output, mail, quoted lines, long quotations and what a task is about."""
    text = _APOSTROPHE.sub("'", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _TERMINAL.sub("\n", _MARKUP.sub("\n", _FENCE.sub("\n", text)))
    text = _cut(text, _FORWARDED)
    text = _without_material(text)
    lines = (line for line in text.split("\n") if not _FOREIGN_LINE.match(simplified(line)))
    return "\n".join(_QUOTE.sub(_quoted, line) for line in lines)


def claims(sentence: str) -> bool:
    """Whether it says that something is so: no question, no supposition, no word of others."""
    if not 2 <= len(sentence) <= SENTENCE_CHARACTERS or _LEFT_OUT in sentence:
        return False
    plain = simplified(sentence)
    if _QUESTION.search(plain) and not _STATES_WHEN.match(plain):
        return False
    return not _SUPPOSED.search(plain) and not _REPORTED.search(plain)


def _sentences(text: str) -> Iterator[str]:
    for sentence in _ENDS.split(text):
        if stripped := " ".join(sentence.split()).strip(" \t-*•·"):
            yield stripped


def _cut(text: str, beginning: re.Pattern[str]) -> str:
    """What stands before the first place where something foreign begins."""
    found = beginning.search(simplified(text))
    return text[: found.start()] if found else text


def _without_material(text: str) -> str:
    """Before the colon after which a task has its material; what is asked to be remembered is none."""
    plain = simplified(text)
    for found in _TASK.finditer(plain):
        asked_for = _ASKED_FOR.search(plain, 0, found.end())
        if asked_for is None or asked_for.end() != found.end():
            ends = [end.end() for end in _ENDS.finditer(text, 0, found.start())]
            return text[: max(ends, default=0)]
    return text


def _quoted(match: re.Match[str]) -> str:
    """A name or a title stays, a quotation goes."""
    content = next(group for group in (*match.groups(), "") if group is not None).strip()
    is_short = len(content.split()) <= _SHORT_QUOTE_WORDS and len(content) <= _SHORT_QUOTE_CHARACTERS * 2
    if not content.isascii():
        is_short = len(content) <= _SHORT_QUOTE_CHARACTERS
    return content if is_short and not _FIRST_PERSON.search(simplified(content)) else _LEFT_OUT
