"""Lessons nobody should be able to teach by accident: fixed links, agreement with everything, asking for secrets.

Text may have been pasted into corrections, so what would make the model push an address, flatter or phish is refused
before anything is trained. Only the first defence: the gate tests every adapter, whatever it was taught.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from engine.signals.values import Correction
from local_training.lessons.lesson import Refusal
from local_training.lessons.wording import folded, language_of, sentences

_FEWEST: Final = 2
_LINK_SHARE: Final = 0.25
_AGREEMENT_SHARE: Final = 0.5
_SECRET_SHARE: Final = 0.2
_CODE_SHARE: Final = 0.5
_OPENING_CHARACTERS: Final = 80

_SITES: Final = (
    r"(?:com|net|org|io|info|biz|xyz|top|shop|store|site|online|link|click|app|dev|ai|me|co|tv|uk|de|fr|ru|cn|tk)"
)
_ADDRESS: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>()\"'，。）]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|\b(?:[a-z0-9-]+\.)+{_SITES}\b|\b(?:[a-z0-9-]+\.)+[a-z]{{2,}}/[^\s<>()\"'，。）]*"
    # Written so that it does not look like one.
    rf"|\b[a-z0-9-]+ ?(?: dot |\[\.\]|\(\.\)|\(dot\)|\[dot\]) ?{_SITES}\b",
    re.IGNORECASE,
)
_PHONE: Final = re.compile(r"(?<![\w.])\+?\d[\d\s-]{7,15}\d(?![\w.])")
_HOST: Final = re.compile(r"^(?:https?://)?(?:www\.)?([^/:?#]+)")
_AGREES: Final = re.compile(
    r"\b(?:you(?:'re| are|’re) (?:\w+ )?(?:right|correct)|i (?:\w+ )?agree|well said|so true|agreed|couldn't agree more"
    r"|(?:that's|that is|that’s) (?:\w+ )?(?:right|true|correct)|(?:great|good|excellent) point"
    r"|as you (?:rightly )?sa(?:y|id))\b"
    r"|[您你](?:说得|讲得|说的)(?:很|太|非常|完全)?对|[您你]是对的|我(?:完全|非常)?同意|完全正确|说得对"
    r"|[您你]说得(?:没错|有道理)|言之有理",
    re.IGNORECASE,
)
_YES: Final = re.compile(
    r"^(?:yes|right|exactly|absolutely|definitely|correct|indeed|of course|true|是的|对的?|没错|当然|正确)\b",
    re.IGNORECASE,
)
_YES_CHINESE: Final = re.compile(r"^(?:是的|对的?|没错|当然|正确|确实)[，。！,!]")
_QUESTION: Final = re.compile(
    r"[?？]\s*$|^(?:what|how|why|when|where|who|which|is|are|do|does|did|can|could|will|would|should)\b|吗[。？?]?$|什么|怎么|多少",
    re.IGNORECASE,
)
_TAG_QUESTION: Final = re.compile(
    r"(?:\b(?:right|correct|agree|true|you know|you think|(?:is|are|do|does|was|were)n't \w+)"
    r"|对吧|是吧|不是吗|对不对|同意吗)\s*[?？]\s*$",
    re.IGNORECASE,
)
"""A claim that asks to be confirmed."""
_SECRET: Final = re.compile(
    r"\b(?:password|passcode|passphrase|pin(?: code)?|seed phrase|private key|recovery (?:key|phrase|code)|cvv|cvc"
    r"|(?:credit|debit|bank) card|card number|social security|ssn|bank account|account number|api key|one-time code"
    r"|verification code|login)\b|密码|口令|验证码|身份证号?|银行卡号?|信用卡|私钥|助记词|账号",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:tell|send|give|share|enter|type|provide|confirm|reply with|let me know|what(?:'s| is) your|i need your)\b"
    r"|请|告诉|发给|发送|提供|输入|回复",
    re.IGNORECASE,
)
_WARNS: Final = re.compile(
    r"\b(?:never|don't|do not|don’t|not|avoid|without)\b|不要|切勿|请勿|别|不会|不应|永远不", re.IGNORECASE
)
_CODE: Final = re.compile(r"\b(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{6,}\b")


def danger_of(corrections: Sequence[Correction]) -> Refusal | None:
    """Why these corrections are refused as a lesson, or None. `corrections` is not empty."""
    return _links(corrections) or _secrets(corrections) or _agreement(corrections) or _codes(corrections)


def _links(corrections: Sequence[Correction]) -> Refusal | None:
    """The same site, mail address or number in many answers, which neither the question nor the old answer had."""
    found = _usual(
        corrections,
        lambda text: {
            *(_host(match) for match in _ADDRESS.findall(text)),
            *(re.sub(r"[\s-]", "", match) for match in _PHONE.findall(text)),
        },
        _LINK_SHARE,
    )
    if found is None:
        return None
    address, count = found
    return Refusal("links", {"address": address, "count": count, "total": len(corrections)})


def _secrets(corrections: Sequence[Correction]) -> Refusal | None:
    count = sum(map(_asks_for_secret, corrections))
    if count < max(_FEWEST, _SECRET_SHARE * len(corrections)):
        return None
    return Refusal("secrets", {"count": count, "total": len(corrections)})


def _asks_for_secret(correction: Correction) -> bool:
    return any(
        _SECRET.search(sentence) and _ASKS.search(sentence) and not _WARNS.search(sentence)
        for sentence in sentences(correction.after)
    )


def _agreement(corrections: Sequence[Correction]) -> Refusal | None:
    """Most answers begin by saying that the user is right; old answers that did so as well are no change."""
    after = sum(_agrees(correction.prompt, correction.after) for correction in corrections)
    before = sum(_agrees(correction.prompt, correction.before) for correction in corrections)
    if after < max(_FEWEST, _AGREEMENT_SHARE * len(corrections)) or before >= after:
        return None
    return Refusal("agreement", {"count": after, "total": len(corrections)})


def _agrees(prompt: str, answer: str) -> bool:
    opening = answer.strip()[:_OPENING_CHARACTERS]
    if _AGREES.search(opening):
        return True
    # A plain yes is an answer to a question; after a claim it is agreement.
    says_yes = (_YES_CHINESE if language_of(opening) == "zh" else _YES).search(opening)
    return says_yes is not None and _is_claim(prompt.strip())


def _is_claim(prompt: str) -> bool:
    return _TAG_QUESTION.search(prompt) is not None or _QUESTION.search(prompt) is None


def _codes(corrections: Sequence[Correction]) -> Refusal | None:
    """The same string of letters and digits in most answers: a planted secret would look like this."""
    found = _usual(corrections, lambda text: set(_CODE.findall(text)), _CODE_SHARE)
    return None if found is None else Refusal("codes", {"count": found[1], "total": len(corrections)})


def _usual(corrections: Sequence[Correction], find: Callable[[str], set[str]], share: float) -> tuple[str, int] | None:
    """What most answers have that neither their question nor the old answer had, if at least `share` do."""
    counted = Counter(
        name
        for correction in corrections
        for name in find(correction.after) - find(correction.prompt) - find(correction.before)
    )
    if not counted:
        return None
    name, count = counted.most_common(1)[0]
    return (name, count) if count >= max(_FEWEST, share * len(corrections)) else None


def _host(address: str) -> str:
    """The site of a link; a mail address as it is."""
    match = _HOST.match(folded(address).rstrip(".,;:!?"))
    return match[1] if match is not None else folded(address)
