"""What can go wrong, said in two sentences: what happened, and what to do next.

AgentError
├── UsageProblem          the caller asked for something impossible (exit code 2)
│   ├── UnknownName       no such expert, profile, conversation or turn
│   ├── ConversationBusy  one of its turns waits for an approval or a tool
│   ├── HookForbids       a program of the user's objects to the turn
│   └── BadText           empty text, or text that is not valid Unicode
├── ModelProblem          a file is missing or is not what it should be
│   ├── ModelMissing
│   ├── BadModelFile      not a GGUF, truncated, or of an unsupported kind
│   ├── AdapterMismatch   an adapter made for another base
│   └── BindingMismatch   llama.cpp and its Python binding do not belong together
├── ContextOverflow       one message does not fit the context; nothing was cut
├── RuntimeFailed         native code failed: out of memory, a decode error
│   ├── OutOfMemory       the base, its context or an adapter does not fit
│   └── ScoringStopped    scores were asked for and stopped; there are no partial ones
├── StoreProblem
│   ├── DiskFull
│   ├── DatabaseDamaged
│   └── DatabaseTooNew    written by a newer version; left untouched
└── HomeBusy              another process holds this home

Errors never log or print themselves; the face that catches one shows `problem` and `hint`.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class AgentError(Exception):
    """Base of all errors a user may see. `problem` says what happened, `hint` what to do next."""

    exit_code = 1

    def __init__(self, problem: str, hint: str = "") -> None:
        # Both go to args, so that the error survives pickling between processes.
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return self.problem


class UsageProblem(AgentError):
    exit_code = 2


class UnknownName(UsageProblem):
    pass


class ConversationBusy(UsageProblem):
    pass


class HookForbids(UsageProblem):
    pass


class BadText(UsageProblem):
    pass


class ModelProblem(AgentError):
    pass


class ModelMissing(ModelProblem):
    pass


class BadModelFile(ModelProblem):
    pass


class AdapterMismatch(ModelProblem):
    pass


class BindingMismatch(ModelProblem):
    pass


class ContextOverflow(UsageProblem):
    pass


class RuntimeFailed(AgentError):
    pass


class OutOfMemory(RuntimeFailed):
    pass


class NoNumbers(RuntimeFailed):
    """What a base computes with an adapter, or alone, is not a number."""


class ScoringStopped(RuntimeFailed):
    pass


class StoreProblem(AgentError):
    pass


class DiskFull(StoreProblem):
    pass


class DatabaseDamaged(StoreProblem):
    pass


class DatabaseTooNew(StoreProblem):
    pass


class HomeBusy(AgentError):
    pass


@contextmanager
def boundary(error_type: type[AgentError], problem: str, hint: str = "") -> Iterator[None]:
    """Attribute a stray exception once, at the edge; our own errors pass through.

    Raises: `error_type`, with the stray exception as its cause.
    """
    try:
        yield
    except AgentError:
        raise
    except Exception as error:
        raise error_type(f"{problem}: {error}", hint) from error
