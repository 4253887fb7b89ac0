"""Whether what is said is meant as the user's own: not a story, not a part that is played, not a guest at the keyboard.

Pure. A frame is opened by one message and holds over the following ones of its conversation until it is closed; while
one is open, nothing that is said is a fact about the user.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.memory.scripts import simplified
from engine.memory.writing.patterns import any_of

_PART: Final = (
    "pirate|king|queen|wizard|dragon|detective|character|knight|alien|captain|vampire|elf|villain|hero|dungeon master"
    "|interviewer|therapist|waiter|customer"
)
_WRITTEN: Final = (
    r"story|stories|tale|poem|haiku|novel|scene|dialogue|lyrics|song|script|screenplay|sketch|fan ?fic\w*|monologue"
    "|limerick|joke|character|persona|plot|chapter|fable|rap|diary entry"
)
_MACHINE: Final = "computer|laptop|pc|account|machine|phone"
_RELATIVE: Final = (
    "friend|sister|brother|wife|husband|partner|son|daughter|colleague|mother|father|mom|mum|dad|roommate|girlfriend"
    "|boyfriend|cousin|nephew|niece"
)
_PLAYED: Final = any_of(
    r"\brole-?play",
    r"\b(?:let's|lets|let us) (?:play|pretend|imagine)\b",
    r"\bpretend (?:that |to |you|i|we)",
    r"\bact as\b",
    rf"\byou are (?:now )?(?:a|an|the|my) (?:\w+ ){{0,2}}(?:{_PART})\b",
    r"\bin character\b",
    r"\b(?:dungeon master|d&d|text adventure)\b",
    r"\bi(?:'m| am|'ll be| will be)? play(?:ing)? (?:the (?:part|role) of|as)\b",
    r"\bi(?:'m| am) writing (?:a|my) (?:\w+ )?(?:novel|story|screenplay|play|book)\b",
    "角色扮演|扮演|假装(?:你|我|我们)|我们来(?:玩|演)|跑团|文字冒险|你现在是一[个名位]|代入",
    "我在写(?:一[部本篇个])?(?:小说|故事|剧本)",
)
_PLAY_OVER: Final = any_of(
    r"\b(?:out of character|ooc)\b",
    r"\bback to (?:reality|real life|the real world|normal)\b",
    r"\bend of (?:the )?(?:story|scene|role-?play|game)\b",
    r"\b(?:stop|end|enough of|done with|finished with|quit) (?:the |this |our )?(?:role-?play\w*|story|game|scene"
    r"|playing)\b",
    r"\b(?:in real life|for real now|seriously now|as myself)\b",
    "出戏|(?:故事|扮演|游戏|剧情|戏)(?:到此)?(?:结束|完了|到这)|不(?:玩|演|扮演)了",
    "回到(?:现实|正题)|说(?:回)?正经的|现实(?:中|里)",
)
_MADE_UP: Final = any_of(
    r"\b(?:write|tell|continue|finish|make up|compose|draft|create|invent|generate|give|imagine|need|want)\b"
    rf"[^.!?\n]{{0,60}}\b(?:{_WRITTEN})\b",
    r"\bonce upon a time\b",
    r"\bin (?:this|the|my|our) (?:story|novel|game|scene|book|script)\b",
    r"\bthe (?:narrator|protagonist)\b",
    r"\bmy (?:character|protagonist|hero|heroine|avatar)\b",
    r"\bchapter (?:one|two|\d+)\b",
    r"\bfiction(?:al)?\b",
    r"(?:写|讲|编|续写|创作|来|作)[^。！？\n]{0,16}(?:故事|小说|诗|剧本|歌词|对白|台词|独白|段子|笑话|童话|人物|角色"
    r"|情节|日记)",
    "从前有|很久很久以前|(?:故事|小说|剧本|游戏)(?:里|中)|主人公|主角|虚构|第一人称",
)
_GUEST: Final = any_of(
    r"\b(?:i(?:'m| am)|this is|it's) (?:just )?(?:a|the) (?:guest|visitor)\b",
    r"\b(?:using|borrowing|on|at) (?!my\b|our\b|your\b|a\b|an\b|the\b)[\w’']+(?:'s|’s|s')"
    rf" (?:\w+ )?(?:{_MACHINE})\b",
    r"\bi(?:'m| am) (?:just )?(?:using|borrowing) (?:his|her|their|my \w+(?:'s|’s)|this)"
    rf" (?:\w+ )?(?:{_MACHINE})\b",
    rf"\b(?:my|his|her) (?:{_RELATIVE}) (?:\w+ )?(?:is (?:typing|using (?:this|my)|at the keyboard)"
    r"|wants to (?:ask|try|chat|talk)|here (?:typing|speaking))",
    rf"\b(?:\w+'s|his|her) (?:{_RELATIVE}) (?:here|speaking|typing)\b",
    rf"\bi(?:'m| am) \w+, \w+'s (?:{_RELATIVE})\b",
    "借用?(?:一下)?[^，。,.]{0,10}(?:电脑|账号|手机)|用(?:的是)?[^我，。,.]{1,8}的(?:电脑|账号|手机)",
    "我不是(?:机主|本人|他本人|她本人)|我是(?:他|她|机主)(?:的)?[^，。,.]{1,6}|客人在用",
    "(?:朋友|同事|妹妹|弟弟|姐姐|哥哥|女朋友|男朋友|老婆|老公|孩子|女儿|儿子)(?:在打字|来用一下|想(?:问|试|聊))",
)
_OWNER_BACK: Final = any_of(
    r"\b(?:i'm back|i am back|it's me again|this is me again|me again|back at my (?:computer|laptop)|owner here)\b",
    "我回来了|是我本人|换回我|又是我|机主回来|本人回来",
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What is open over a conversation."""

    is_played: bool = False
    is_guest: bool = False

    @property
    def is_open(self) -> bool:
        return self.is_played or self.is_guest


NO_FRAME: Final = Frame()


def frame_after(messages: Iterable[str], frame: Frame = NO_FRAME) -> Frame:
    """After the user's messages of a conversation, oldest first."""
    for message in map(simplified, messages):
        frame = Frame(
            is_played=(frame.is_played or bool(_PLAYED.search(message))) and not _PLAY_OVER.search(message),
            is_guest=(frame.is_guest or bool(_GUEST.search(message))) and not _OWNER_BACK.search(message),
        )
    return frame


def is_made_up(message: str) -> bool:
    """Whether a message asks for or holds something invented; the next message is not touched by that."""
    return bool(_MADE_UP.search(simplified(message)))


def speaks_for_themselves(message: str, earlier: Iterable[str] = ()) -> bool:
    """Whether what this message says may be taken for facts about the user."""
    return not frame_after([*earlier, message]).is_open and not is_made_up(message)
