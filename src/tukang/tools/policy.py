"""How a tool may run: data, decided by its author, obeyed by the loop.

The loop reads a policy from the record of the turn, never from the tool itself, so that a replay does not depend on
today's code.
"""

from __future__ import annotations

from typing import Literal

import msgspec

ToolEffect = Literal["unknown", "read", "write", "idempotent"]
"""What running a tool does to the world.

* `read`: nothing. Runs beside other reads, may be retried, is run again when a write made it stale.
* `write`: something. Runs alone, in the order asked; never twice.
* `idempotent`: a write that may be repeated with the same key.
* `unknown` (the default): treated as a write that cannot be repeated. Safe when nothing is declared.
"""


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one tool may run.

    Args:
        effect: see `ToolEffect`.
        timeout: seconds a call may take; None for what is left of the turn.
        terminal: its result is the answer; no extra round rewrites it.
        repeatable: the same call may be run again in a turn (a clock, a poll, a die).
    """

    effect: ToolEffect = "unknown"
    timeout: float | None = None
    terminal: bool = False
    repeatable: bool = False

    def __post_init__(self) -> None:
        if self.effect not in ("unknown", "read", "write", "idempotent"):
            raise ValueError(f"effect must be 'unknown', 'read', 'write' or 'idempotent', not {self.effect!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout must be more than 0 seconds, not {self.timeout!r}")
