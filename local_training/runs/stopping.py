"""Rules that end a run before its last step. Pure; acts on nothing itself."""

from local_training.runs.metrics import StepMetrics
from local_training.runs.recipe import StopTable


def broken_rule(metrics: StepMetrics, rules: StopTable, first_entropy_nats: float | None) -> str:
    """Why a run must end after this step, in a sentence that names the rule; empty when it may go on."""
    bounds = (
        ("stop.kl_general_nats", "the KL on general texts", metrics.kl_general_nats, rules.kl_general_nats),
        ("stop.kl_target_nats", "the KL on the answers trained", metrics.kl_target_nats, rules.kl_target_nats),
        ("stop.mismatch_nats", "the gap between trainer and engine", metrics.mismatch_nats, rules.mismatch_nats),
        ("stop.masked_share", "the share of masked tokens", metrics.masked_share, rules.masked_share),
    )
    for name, what, value, bound in bounds:
        if value is not None and bound is not None and value > bound:
            return f"{what[0].upper()}{what[1:]} was {value:.3g}, above {bound:g} ({name})."
    if rules.entropy_drop is not None and first_entropy_nats and metrics.entropy_nats is not None:
        drop = 1.0 - metrics.entropy_nats / first_entropy_nats
        if drop > rules.entropy_drop:
            return f"The answers lost {drop:.0%} of their entropy, above {rules.entropy_drop:.0%} (stop.entropy_drop)."
    return ""


def barren_rule(barren_steps: int, rules: StopTable) -> str:
    """The same for steps in which no answer was worth more than the others, or none enough to be imitated."""
    if barren_steps < rules.barren_steps:
        return ""
    return (
        f"In {barren_steps} steps in a row no answers could teach anything: all to a prompt were worth the same, or "
        "none was good enough (stop.barren_steps)."
    )
