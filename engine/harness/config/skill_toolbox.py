"""The tool by which a model reads a skill that its head only lists. Reads what is in force, and nothing else."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from engine.errors import UsageProblem
from engine.harness.config.harnessed import Harnessed
from engine.harness.config.model import Skill
from engine.harness.config.rendering import READ_SKILL, Count, opened_skill
from engine.harness.tool_calls import Tool
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec
from engine.strict_json import loads

_DESCRIPTION: Final = "Read one of the listed skills: how a task of its kind is done here."


class SkillToolbox:
    """A `Toolbox` of one tool, or of none where there is no skill."""

    def __init__(self, current: Callable[[], Harnessed], count: Count, *, files_at: str = "") -> None:
        """`current` is what is in force in the turn that runs; `files_at` where a program of the model finds skills.

        A skill's files are then expected in the folder of its name below `files_at`.
        """
        self._current = current
        self._count = count
        self._files_at = files_at

    def specs(self) -> Sequence[ToolSpec]:
        names = [skill.name for skill in self._current().config.skills]
        if not names:
            return ()
        parameters: dict[str, Any] = {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": names}},
            "required": ["name"],
            "additionalProperties": False,
        }
        return (ToolSpec(Tool(READ_SKILL, _DESCRIPTION, parameters), reach="own_data", changes=False),)

    def preview(self, invocation: Invocation) -> Preview:
        skill = self._skill(invocation)
        return Preview(f"Read the skill {skill.name}", skill.body)

    def run(self, invocation: Invocation) -> ToolResult:
        try:
            skill = self._skill(invocation)
        except UsageProblem as error:
            return ToolResult(f"{error.problem} {error.hint}", is_error=True, is_tainted=False)
        files_at = f"{self._files_at.rstrip('/')}/{skill.name}" if self._files_at else ""
        return ToolResult(opened_skill(self._current().config, skill, self._count, files_at=files_at))

    def _skill(self, invocation: Invocation) -> Skill:
        """Raises: UsageProblem."""
        config = self._current().config
        try:
            arguments = loads(invocation.call.arguments)
        except ValueError as error:
            raise UsageProblem(f"The arguments cannot be read: {error}.", 'Write {"name": "..."}.') from error
        name = arguments.get("name") if isinstance(arguments, dict) else None
        skill = config.skill(name) if isinstance(name, str) else None
        if skill is None:
            listed = ", ".join(known.name for known in config.skills)
            raise UsageProblem(f"There is no skill {str(name)[:100]}.", f"There are: {listed or 'none'}.")
        return skill
