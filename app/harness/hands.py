"""The hands of the agent: the tools of its home as its experts are offered them, within what they have room for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.harness.home_tools import HomeTools, Toolboxes
from engine.hands import Offer, Offered, Remark
from engine.harness.approvals import Approvals
from engine.harness.builtin.delegate import DelegateToolbox
from engine.harness.config import HarnessConfig, Harnessed
from engine.harness.config.rendering import READ_SKILL, head_text
from engine.harness.config.skill_toolbox import SkillToolbox
from engine.harness.permissions import Circumstances, Rule
from engine.harness.tool_calls import Style, system_content
from engine.harness.tools.values import Toolbox
from engine.remembering import RecallLimits
from engine.routing.profile import Profile
from engine.runtime.protocol import Encoder

_TOOL_SHARE: Final = 0.2
"""Of the context, for descriptions of tools."""
_FIRST: Final = (
    "python",
    "read_skill",
    "add_reminder",
    "list_events",
    "add_note",
    "search_notes",
    "read_file",
    "list_files",
    "write_file",
    "web_search",
    "delegate",
    "search_files",
    "edit_file",
    "add_event",
    "read_note",
    "web_fetch",
)
"""Those an expert reads of before others, where there is no room for all; after them those that were used most."""


class HomeHands:
    """See `engine.hands.Hands`. Who made the tools closes them."""

    def __init__(self, tools: HomeTools, profile: Profile, encoder: Encoder, style: Style) -> None:
        self._tools = tools
        self._profile = profile
        self._style = style
        self._count: Callable[[str], int] = lambda text: len(encoder.encode(text))
        self._harnessed: Harnessed | None = None
        self._made: tuple[HarnessConfig, Mapping[str, Offered], Offer] | None = None
        experts = [(one.expert, one.description) for one in profile.experts]
        self._own: list[Toolbox] = [SkillToolbox(self.harnessed, self._count)]
        self._own += [DelegateToolbox(experts)] if len(experts) > 1 else []

    @property
    def approvals(self) -> Approvals:
        return self._tools.approvals

    def harnessed(self) -> Harnessed:
        """The configuration of the turn that runs."""
        return self._harnessed or self._tools.harnessed()

    def current(self) -> Offer:
        self._harnessed = harnessed = self._tools.harnessed()
        made = self._tools.toolboxes(harnessed.config)
        made.mcp.start()
        made.mcp.refresh()
        offer = self._offer(harnessed.config, (*made.all, *self._own))
        hooks = self._tools.hooks(harnessed.config)
        return replace(offer, hooks=hooks, remarks=tuple(_remarks(harnessed, made)))

    def circumstances(self, conversation_id: str, *, is_tainted: bool) -> Circumstances:
        return self._tools.circumstances(conversation_id, self.harnessed().config, is_tainted=is_tainted)

    def remember(self, rule: Rule) -> None:
        self._tools.permits.remember(rule)

    def _offer(self, config: HarnessConfig, toolboxes: Sequence[Toolbox]) -> Offer:
        found: dict[str, Offered] = {}
        for toolbox in toolboxes:
            for spec in toolbox.specs():
                if config.is_on(spec.tool.name):
                    found.setdefault(spec.tool.name, Offered(spec, toolbox))
        # What is in use often comes first, but a head changes only where a tool or the configuration does.
        if self._made is None or self._made[0] is not config or self._made[1] != found:
            self._made = (config, found, self._new_offer(config, found))
        return self._made[2]

    def _new_offer(self, config: HarnessConfig, found: Mapping[str, Offered]) -> Offer:
        uses = self._tools.uses()
        experts = self._profile.expert_ids
        tools = {
            expert: self._fitting(config, [one for name, one in found.items() if config.is_offered(name, expert)], uses)
            for expert in experts
        }
        heads = {expert: self._head(config, expert, tools[expert]) for expert in experts}
        return Offer(
            {expert: some for expert, some in tools.items() if some},
            {expert: text for expert, text in heads.items() if text},
            config.budgets.turn_tool_calls,
            config.budgets.result_tokens,
            thinking_tokens=config.budgets.thinking_tokens,
            tool_seconds=config.budgets.turn_seconds,
            memory=RecallLimits(config.memory.is_on, config.memory.recall_items, config.memory.recall_tokens),
        )

    def _fitting(
        self, config: HarnessConfig, offered: Sequence[Offered], uses: Mapping[str, int]
    ) -> tuple[Offered, ...]:
        """All of them, the most wanted first; those are shown whose descriptions fit."""
        room = min(config.budgets.tool_tokens, int(self._profile.context_tokens * _TOOL_SHARE))
        places = {name: place for place, name in enumerate(_FIRST)}

        def rank(one: Offered) -> tuple[int, int, str]:
            name = one.spec.tool.name
            return places.get(name, len(places)), -uses.get(name, 0), name

        ordered = sorted(offered, key=rank)
        fitting: list[Offered] = []
        for one in ordered:
            tools = [*(other.spec.tool for other in fitting if other.is_shown), one.spec.tool]
            size = self._count("".join(part.text for part in system_content("", tools, self._style)))
            fitting.append(replace(one, is_shown=size <= room))
        return tuple(fitting)

    def _head(self, config: HarnessConfig, expert: str, offered: Sequence[Offered]) -> str:
        reads_skills = any(one.spec.tool.name == READ_SKILL and one.is_shown for one in offered)
        return head_text(config, expert, self._count, with_skills=reads_skills).text


def _remarks(harnessed: Harnessed, made: Toolboxes) -> Iterator[Remark]:
    for complaint in harnessed.complaints:
        yield Remark("harness_wrong", complaint.file, complaint.text, complaint.hint)
    for folder in harnessed.waiting:
        yield Remark("folder_changed" if folder.was_trusted else "folder_waits", folder.place)
    for refused in made.refused:
        yield Remark("server_failed", refused.name, refused.problem)
    for server in made.mcp.servers():
        if not server.may_start:
            yield Remark("server_waits", server.name)
        elif server.health.state == "ended":
            yield Remark("server_failed", server.name, server.health.problem)
        elif server.health.listing is not None and not server.may_offer:
            yield Remark("server_tools_wait", server.name)
