"""ChatGPT data exports made up for tests: single conversations node by node, and whole exports with an account of them.

The words are invented; the fields are those of exports of 2024 to 2026. The same seed gives the same export.
"""

import json
import random
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BEGAN = 1_709_294_400.0
"""1 March 2024, 12:00 UTC."""
MALFORMED = 3
_WORDS = ["coffee", "tea", "咖啡", "拿铁", "garden", "river", "code", "train", "music", "winter", "茶", "bread", "🌱"]


class Chat:
    """One conversation, built message by message. `after` defaults to the message that was added last."""

    def __init__(self, name: str, title: str | None = "Tea", began: float = BEGAN) -> None:
        self.name, self.title, self.began = name, title, began
        self.nodes: dict[str, dict[str, Any]] = {}
        self.last = self._node(None, None, f"{name}-root")
        self.current: str | None = None

    def add(
        self,
        role: str,
        content: Any,
        *,
        after: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        recipient: str = "all",
        **fields: Any,
    ) -> str:
        """A message; a text stands for the content that it usually has. Returns its node."""
        node_id = f"{self.name}-{len(self.nodes)}"
        message = {
            "id": node_id,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": self.began + 60.0 * len(self.nodes),
            "update_time": None,
            "content": {"content_type": "text", "parts": [content]} if isinstance(content, str) else content,
            "status": "finished_successfully",
            "end_turn": role == "assistant",
            "weight": 1.0,
            "metadata": {"model_slug": "gpt-4o", **(metadata or {})} if role == "assistant" else dict(metadata or {}),
            "recipient": recipient,
            "channel": None,
        }
        self.last = self._node(message | fields, after or self.last, node_id)
        return self.last

    def user(self, text: str, *, after: str | None = None, files: tuple[str, ...] = ()) -> str:
        attached = [{"id": f"file-{name}", "name": name, "size": 7, "mime_type": "text/plain"} for name in files]
        return self.add("user", text, after=after, metadata={"attachments": attached} if files else {})

    def assistant(self, text: str, *, after: str | None = None) -> str:
        return self.add("assistant", text, after=after)

    @property
    def data(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "create_time": self.began,
            "update_time": self.began + 60.0 * len(self.nodes),
            "mapping": self.nodes,
            "moderation_results": [],
            "current_node": self.current or self.last,
            "conversation_id": self.name,
            "is_archived": False,
            "default_model_slug": "gpt-4o",
            "id": self.name,
        }

    def _node(self, message: dict[str, Any] | None, parent: str | None, node_id: str) -> str:
        self.nodes[node_id] = {"id": node_id, "message": message, "parent": parent, "children": []}
        if parent is not None:
            self.nodes[parent]["children"].append(node_id)
        return node_id


@dataclass
class Account:
    """What is in an export, counted while it was made."""

    turns: dict[str, int] = field(default_factory=dict)
    """By conversation, those of all branches."""
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    attached: set[str] = field(default_factory=set)
    """Names of files that went with messages."""


def write_export(path: Path, count: int, *, seed: int = 1, longer: bool = False, split: int = 0) -> Account:
    """An export of `count` conversations with three malformed ones among them: a zip, a folder or a bare file.

    `longer`: the same conversations later, when every third has another turn. `split`: conversations per file.
    """
    account = Account()
    elements = list(_elements(count, seed, longer, account))
    size = split or len(elements)
    lists = [elements[start : start + size] for start in range(0, len(elements), size)]
    names = [f"conversations-{number:03}.json" if split else "conversations.json" for number in range(len(lists))]
    texts = [b"[" + b", ".join(one) + b"]" for one in lists]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("chat.html", "<html></html>")
            archive.writestr("user.json", "{}")
            archive.writestr("file-abc-picture.png", b"\x89PNG")
            for name, text in zip(names, texts, strict=True):
                archive.writestr(name, text)
    elif path.suffix == ".json":
        path.write_bytes(texts[0])
    else:
        path.mkdir()
        for name, text in zip(names, texts, strict=True):
            (path / name).write_bytes(text)
    return account


def malformed() -> tuple[bytes, bytes, bytes]:
    """Elements of a list that are no conversations: one without messages, one in a circle, one that is not UTF-8."""
    circle = Chat("circle")
    circle.assistant("Yes.", after=circle.user("Round?"))
    circle.nodes["circle-1"]["parent"] = "circle-2"
    return (
        json.dumps({"title": "No tree", "conversation_id": "bad", "mapping": ["a"]}).encode(),
        json.dumps(circle.data).encode(),
        b'{"title": "\xff\xfe", "conversation_id": "bytes", "mapping": {}}',
    )


def _elements(count: int, seed: int, longer: bool, account: Account) -> Iterator[bytes]:
    bad = dict(zip((count // 4, count // 2, 3 * count // 4), malformed(), strict=True))
    for number in range(count):
        if number in bad:
            yield bad[number]
        yield json.dumps(_conversation(number, seed, longer, account), ensure_ascii=number % 2 == 0).encode()


def _conversation(number: int, seed: int, longer: bool, account: Account) -> dict[str, Any]:
    """A few rounds: every 2nd conversation has an answer regenerated, every 3rd a message edited, every 5th files."""
    chance = random.Random(f"{seed} {number}")
    chat = Chat(f"chat-{number:06}", f"Conversation {number}", BEGAN + 86_400.0 * number / 10)
    left_out: Counter[str] = Counter()
    chat.add("system", "")
    if number % 4 == 0:
        context = {"content_type": "user_editable_context", "user_profile": "I like tea.", "user_instructions": ""}
        chat.add("user", context, metadata={"is_visually_hidden_from_conversation": True})
        left_out["hidden"] += 1
    turns = rounds = chance.randint(1, 6)
    for place in range(rounds):
        before = chat.last
        files = (f"notes-{number}.txt", f"plan-{number}.pdf") if number % 5 == 0 and place == 0 else ()
        account.attached.update(files)
        asked = chat.user(_sentence(chance), files=files)
        _answer(chat, chance, left_out)
        end = chat.last
        if number % 2 == 0 and place == 0:
            chat.assistant(_sentence(chance), after=asked)
            turns += 1
        if number % 3 == 0 and place == rounds - 1:
            chat.assistant(_sentence(chance), after=chat.user(_sentence(chance), after=before))
            turns += 1
        chat.last = end
    chat.current = chat.last
    if longer and number % 3 == 0:
        chat.assistant("And more.", after=chat.user("More?"))
        chat.current = chat.last
        turns += 1
    account.turns[chat.name] = turns
    account.left_out[chat.name] = dict(left_out)
    return chat.data


def _answer(chat: Chat, chance: random.Random, left_out: Counter[str]) -> None:
    kind = chance.randrange(4)
    if kind == 1:
        chat.add("assistant", {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]})
        left_out["reasoning"] += 1
    elif kind == 2:
        chat.add("assistant", {"content_type": "code", "language": "unknown", "text": 'search("x")'}, recipient="web")
        chat.add("tool", {"content_type": "tether_quote", "url": "https://example.org", "text": "Long."})
        left_out["tool"] += 2
    elif kind == 3:
        chat.add("assistant", {"content_type": "code", "language": "python", "text": "print(6)"}, recipient="python")
        chat.add("tool", {"content_type": "execution_output", "text": "6\n"})
    chat.assistant(_sentence(chance))


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(3, 60)))
