"""One conversation of an export as one of ours: its tree of messages becomes a tree of turns.

Pure. There a message follows a message; here a turn is what the user said and all that came after it until they spoke
again. So an answer that was regenerated makes a sibling turn with the same question, and a message that was edited one
with another. Messages that say nothing to the user are passed through, whatever hangs on them.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from app.chatgpt.messages import Message, as_object, clean, read_message, read_moment
from engine.errors import UsageProblem
from engine.harness.message import shown_name
from engine.store.copies import MAX_TURNS
from engine.values import Conversation, ConversationCopy, Route, TurnRecord

_HINT: Final = "Nothing of this conversation was imported; it is still in the export."
_SOURCE: Final = "ChatGPT"
"""Who answered, where turns of this program name their expert. Its model, where it is known, comes after it."""
_TITLE_CHARACTERS: Final = 200
_MOST_CHARACTERS: Final = 100_000_000
"""Of all turns together. What branches share counts for each of them, as each turn holds all of it."""
_MESSAGE_CHARACTERS: Final = 100
"""What a message costs beside its text."""
_NOTHING: Final = Message()


@dataclass(frozen=True, slots=True)
class Grown:
    """A conversation as a copy of ours would be, and how many of its messages were left out, by the reason."""

    copy: ConversationCopy
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Said:
    """The messages of an answer, the last one first; branches share what came before them."""

    message: Message
    before: "_Said | None"


@dataclass(frozen=True, slots=True)
class _Run:
    """A turn as far as it is read."""

    after: str | None = None
    """The turn it follows, by its key."""
    key: str | None = None
    """The last message that added to it; None where none has."""
    asked: Message = _NOTHING
    said: _Said | None = None
    characters: int = 0


@dataclass(frozen=True, slots=True)
class _Walked:
    runs: Mapping[str, _Run]
    """Whole turns by their key, a parent before its children."""
    keys: Mapping[str, str | None]
    """By node, the key of the turn as far as that node."""
    left_out: Mapping[str, int]


def title_of(data: Any) -> str:
    """On one line; empty where it has none."""
    title = as_object(data).get("title")
    return " ".join(clean(title).split())[:_TITLE_CHARACTERS] if isinstance(title, str) else ""


def grow(data: Any, profile: str, now: datetime) -> Grown | None:
    """None where nothing was said in it. Raises: UsageProblem."""
    chat = as_object(data)
    name, nodes = chat.get("conversation_id") or chat.get("id"), chat.get("mapping")
    if not isinstance(nodes, dict):
        raise _wrong("It holds no messages: `mapping` is missing or is no object.")
    if not isinstance(name, str):
        raise _wrong("It has no id by which it could be known again.")
    children = _children(nodes)
    walked = _walk(nodes, children)
    if not walked.runs:
        return None
    moments = [moment for run in walked.runs.values() if (moment := _moment(run))]
    began = read_moment(chat.get("create_time")) or min(moments, default=now)
    ended = read_moment(chat.get("update_time")) or max(moments, default=began)
    leaf = _leaf(chat.get("current_node"), walked, children)
    turns = tuple(_turns(walked.runs, _name(name), began))
    conversation = Conversation(
        _name(name), title_of(chat), profile, began.isoformat(), ended.isoformat(), leaf and _name(leaf), len(turns)
    )
    return Grown(ConversationCopy(conversation, turns), walked.left_out)


def _children(nodes: Mapping[str, Any]) -> dict[str | None, list[str]]:
    """By node the nodes after it; under None those with which a branch begins, as their parent is not there."""
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        listed = as_object(node).get("children")
        claimed.update((child, key) for child in (listed if isinstance(listed, list) else ()) if isinstance(child, str))
    children: dict[str | None, list[str]] = {}
    for key, node in nodes.items():
        parent = as_object(node).get("parent", "")
        if parent is not None and not (isinstance(parent, str) and parent in nodes):
            parent = claimed.get(key)
        children.setdefault(parent, []).append(key)
    return children


def _walk(nodes: Mapping[str, Any], children: Mapping[str | None, Sequence[str]]) -> _Walked:
    """Raises: UsageProblem for messages in a circle, and for more than a conversation may hold."""
    runs: dict[str, _Run] = {}
    keys: dict[str, str | None] = {}
    left_out: Counter[str] = Counter()
    characters = 0

    def close(run: _Run) -> str | None:
        """The turn that what comes next follows."""
        nonlocal characters
        if run.key is None:
            return run.after
        if run.key not in runs:
            runs[run.key] = run
            characters += run.characters
            if len(runs) > MAX_TURNS or characters > _MOST_CHARACTERS:
                raise _wrong(f"It holds more than {MAX_TURNS:,} turns or {_MOST_CHARACTERS:,} characters.")
        return run.key

    ahead = [(key, _Run()) for key in reversed(children.get(None, ()))]
    while ahead:
        key, run = ahead.pop()
        message = read_message(as_object(nodes[key]).get("message"))
        if message.left_out:
            left_out[message.left_out] += 1
        if message.speaker == "user":
            run = _Run(close(run), key, message, characters=_size(message))
        elif message.speaker:
            size = run.characters + _size(message)
            run = replace(run, key=key, said=_Said(message, run.said), characters=size)
        keys[key] = run.key
        if key in children:
            ahead += [(child, run) for child in reversed(children[key])]
        else:
            close(run)
    if len(keys) < len(nodes):
        raise _wrong("Some of its messages follow one another in a circle.")
    return _Walked(runs, keys, dict(left_out))


def _size(message: Message) -> int:
    return len(message.text) + _MESSAGE_CHARACTERS


def _turns(runs: Mapping[str, _Run], conversation_id: str, began: datetime) -> Iterator[TurnRecord]:
    """A turn without a time is as old as the one it follows."""
    moments: dict[str | None, datetime] = {None: began}
    for key, run in runs.items():
        moments[key] = _moment(run) or moments[run.after]
        said = list(_messages(run))
        yield TurnRecord(
            turn_id=_name(key),
            conversation_id=conversation_id,
            parent_turn_id=None if run.after is None else _name(run.after),
            state=("stopped" if said[-1].is_cut_off else "answered") if said else "interrupted",
            user_text=run.asked.text,
            answer_text="\n\n".join(message.text for message in said),
            provenance="imported",
            created_at=moments[key].isoformat(),
            route=Route(shown_name(f"{_SOURCE} {said[-1].model}"), "imported") if said else None,
        )


def _messages(run: _Run) -> Iterator[Message]:
    """Those of the answer, the first one first."""
    found, said = [], run.said
    while said is not None:
        found.append(said.message)
        said = said.before
    return reversed(found)


def _moment(run: _Run) -> datetime | None:
    return run.asked.moment or next((message.moment for message in _messages(run) if message.moment), None)


def _leaf(current: Any, walked: _Walked, children: Mapping[str | None, Sequence[str]]) -> str | None:
    """The turn in use, by its key: the one that ends with the node in use, or the last one that ends below it."""
    node = current if isinstance(current, str) else None
    while node is not None and node in walked.keys:
        key = walked.keys[node]
        if key is not None and key in walked.runs:
            return key
        node = children[node][-1] if node in children else None
    return None


def _name(source: str) -> str:
    """Ids of an export may be anything; as digests they are short and plain."""
    return hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()[:32]


def _wrong(problem: str) -> UsageProblem:
    return UsageProblem(problem, _HINT)
