"""What became of one call: content, or a fault, both as data for the model.

Faults have a closed list of kinds. A message is precise enough for the model to mend its call; it carries no secret and no
traceback.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tukang.conversation import File, Image, Text

FaultKind = Literal[
    "unknown_tool",  # there is no tool of that name
    "invalid_arguments",  # the arguments could not be read, or do not fit the schema
    "tool_failed",  # the function raised
    "nothing_done",  # the function says for certain that it did nothing (`NothingDone`)
    "timed_out",  # a read did not finish in its time
    "outcome_unknown",  # started, not known to have finished: it may or may not have happened
    "not_run",  # a limit was reached before it started
    "cancelled",  # the turn was cancelled before it finished; nothing but a read was under way
    "no_progress",  # the same call again and again: refused
    "refused",  # a person or a policy said no
]

HARMLESS: frozenset[FaultKind] = frozenset(
    {"unknown_tool", "invalid_arguments", "nothing_done", "not_run", "no_progress", "refused"}
)
"""Faults after which it is certain that the function did nothing, so that even a write may be asked for again."""


class Fault(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An error the model reads."""

    kind: FaultKind
    message: str
    hint: str | None = None

    def as_text(self) -> str:
        """`{"error": {"kind", "message", "hint"}}`, in UTF-8."""
        return msgspec.json.encode({"error": msgspec.to_builtins(self)}).decode()


class Outcome(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What became of one call. `content` is what the model reads; with a `fault` it is the fault as data. `cut` says that
    the result was longer than that; `origin` where it came from, if that is somewhere whose words are not to be trusted;
    `found` the names of tools that it puts into the menu."""

    content: tuple[Text | Image | File, ...]
    fault: Fault | None = None
    cut: bool = False
    origin: str | None = None
    found: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        first = self.content[0] if len(self.content) == 1 else None
        if isinstance(first, Text):  # nearly always
            return first.text
        return "\n".join([part.text for part in self.content if isinstance(part, Text)])


def failed(kind: FaultKind, message: str, hint: str | None = None) -> Outcome:
    """An outcome that is a fault."""
    fault = Fault(kind, message, hint)
    return Outcome((Text(fault.as_text()),), fault)


class NothingDone(Exception):
    """Raised by a tool that looked before it acted, and did nothing at all.

    The model reads it as a fault of the kind `nothing_done`; since it is then certain that nothing happened, even a write
    may be asked for again.

    Args:
        message: why nothing was done, for the model; no secrets.
        hint: what would help.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class OutcomeUnknown(Exception):
    """Raised by a tool that handed its call to somebody else, and lost sight of it before it was answered.

    The model reads it as a fault of the kind `outcome_unknown`: it is not repeated, and somebody has to find out what
    happened.

    Args:
        message: why it is not known, for the model; no secrets.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
