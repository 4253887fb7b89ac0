"""One turn, from the user's message to the agent's answer.

One word per thing, here, in tables and on screens:

base              the frozen GGUF model
adapter           one LoRA: weights plus manifest
expert            a route target, L0...Ln: what it is for, and its adapter stack
personal adapter  an adapter grown on this machine, stacked on an expert
profile           a folder that describes one Mixture-of-LoRA: base, experts, texts
turn              one user message to one final answer; made of steps
step              one request to the runtime within a turn
route             the expert chosen for a turn, and why
view              one expert's tokens of a conversation
segment           the tokens of one turn within a view
epoch             a stretch of a view in which its past never changes
summary           one or two sentences on a turn, for the other experts
memory            one remembered fact, tied to where it comes from
running memory    lines that stand for the turns a view does not read any more; folding writes them
tool              a function the model may call
artifact          a surface the agent made
trace             what one step read and wrote, as token ids
suggestion        something the agent offers to do by itself, with its reason
signal            evidence about how good a turn was
night             one training run, a folder; it yields a candidate and a report

This package imports nothing else of ours.
"""

from engine.errors import AgentError
from engine.values import Answer, Route, TurnRecord

__all__ = ["AgentError", "Answer", "Route", "TurnRecord"]
