"""What becomes of a task: pure decisions from its row. No I/O; the row's own `now` is the only clock.

The rule of all of them: what may have begun is done again only if it may be repeated (`read`, `idempotent`); of anything else
that did not come to its end, nobody knows whether it took effect.
"""

from __future__ import annotations

from tukang.memory.stores.task_values import Move, TaskRow
from tukang.tools.outcome import HARMLESS, FaultKind, Outcome, failed

MOST_LOST = 5
"""Deaths of whoever was at a task after which nobody is given it any more: it may be what they die of."""

LONGEST_PAUSE = 300.0
"""Seconds between two attempts, however many there were."""

_HARMLESS: frozenset[FaultKind] = HARMLESS
_HOPELESS: frozenset[FaultKind] = frozenset({"invalid_arguments", "unknown_tool", "nothing_done"})
"""After these another attempt would end in the same."""


def repeats(row: TaskRow) -> bool:
    """Whether its function may be run again although it may have begun."""
    return row.spec.policy.effect in ("read", "idempotent")


def ended(row: TaskRow, outcome: Outcome) -> Move:
    """Its function has ended, in this."""
    fault = outcome.fault
    if fault is None:
        return Move("done", outcome)
    reads = row.spec.policy.effect == "read"
    certain = reads or fault.kind in _HARMLESS
    if row.cancel is not None and (certain or fault.kind == "cancelled"):
        return Move("cancelled", outcome)
    if row.late and fault.kind in ("timed_out", "outcome_unknown"):
        return Move("expired" if reads else "unknown", outcome)
    if _may_try_again(row, outcome):
        return Move("queued", outcome, delay=min(row.spec.long.backoff * 2.0 ** (row.tries - 1), LONGEST_PAUSE))
    return Move("unknown" if fault.kind == "outcome_unknown" else "failed", outcome)


def _may_try_again(row: TaskRow, outcome: Outcome) -> bool:
    assert outcome.fault is not None, "what has ended well is not tried again"
    kind = outcome.fault.kind
    again = (repeats(row) or kind in _HARMLESS) and kind not in _HOPELESS
    return again and row.cancel is None and not row.late and row.tries < row.spec.long.attempts


def stopped(row: TaskRow) -> Move:
    """It was cancelled while its function was running, which has not stopped by itself."""
    if row.spec.policy.effect == "read":
        return Move("cancelled", failed("cancelled", "it was cancelled"))
    return Move("unknown", _unknown("it was cancelled while it was running"))


def given_up(row: TaskRow) -> Move:
    """Who was at it has been silent for too long."""
    reads = row.spec.policy.effect == "read"
    if not repeats(row):
        return Move("unknown", _unknown("the program that ran it was interrupted"), lost=True)
    if row.cancel is not None:
        return Move("cancelled", failed("cancelled", "it was cancelled"), lost=True) if reads else _lost_for_good()
    if row.late:
        return Move("expired", _late(), lost=True) if reads else _lost_for_good()
    if row.lost + 1 >= MOST_LOST:
        why = f"the programs that ran it died {row.lost + 1} times"
        return Move("failed", failed("tool_failed", why), lost=True) if reads else _lost_for_good()
    return Move("queued", lost=True)


def overdue(row: TaskRow) -> Move:
    """It was not begun, or not begun again, in time."""
    if row.attempts == 0 or row.spec.policy.effect == "read":
        return Move("expired", row.outcome or _late())
    return Move("failed", row.outcome or _unknown("it was not tried again in time"))


def unwanted(row: TaskRow) -> Move:
    """It was cancelled before it was begun, or begun again."""
    return Move("cancelled", row.outcome or failed("cancelled", "it was cancelled before it began"))


def retried(row: TaskRow) -> Move | None:
    """Somebody wants it tried again; None when it must not be."""
    fault = None if row.outcome is None else row.outcome.fault
    harmless = fault is not None and (fault.kind in _HARMLESS or (row.attempts == 0 and fault.kind == "cancelled"))
    if not row.final or row.state == "done" or not (repeats(row) or row.attempts == 0 or harmless):
        return None
    return Move("queued", afresh=True, expires=row.spec.long.expires)


def _lost_for_good() -> Move:
    return Move("unknown", _unknown("the program that ran it was interrupted"), lost=True)


def _late() -> Outcome:
    return failed("not_run", "its time was over before it came to an end")


def _unknown(why: str) -> Outcome:
    return failed(
        "outcome_unknown",
        f"{why}; it may or may not have taken effect",
        "Do not assume either; find out before asking for it again.",
    )
