"""The report of a run, in the user's language. Knows when there is one; what is in it is the learning side's."""

from pathlib import Path

from app.output import print_note
from engine.errors import AgentError
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import History


def write_report_in(run: RunFolder, language: str) -> Path:
    """Raises: UsageProblem, DiskFull, AgentError."""
    from local_training.runs.report import write_report  # draws charts; the list and the controls need none

    return write_report(run, "zh" if language == "zh" else "en")


def report_at_end(run: RunFolder, history: History, language: str, *, is_quiet: bool) -> Path | None:
    """The report, where there is anything to report. One that cannot be written takes nothing from the run."""
    if not history.steps and not history.evaluations:
        return None
    try:
        return write_report_in(run, language)
    except AgentError as error:
        if not is_quiet:
            print_note(error.problem)
        return None
