"""How a tool may run: data, decided by its author, obeyed by the loop and the runtime.

The loop reads a policy from the record of the turn, never from the tool itself, so that a replay does not depend on
today's code.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Literal, TypedDict, cast

import msgspec

from tukang.tools.context import CallContext
from tukang.tools.long import Long
from tukang.tools.names import nearest

ToolEffect = Literal["unknown", "read", "write", "idempotent"]
"""What running a tool does to the world.

* `read`: nothing. Runs beside other reads, may be retried, is run again when a write made it stale.
* `write`: something. Runs alone, in the order asked; never twice.
* `idempotent`: a write that may be repeated with the same key.
* `unknown` (the default): treated as a write that cannot be repeated. Safe when nothing is declared.
"""

Isolation = Literal["async", "thread", "process"]
"""Where a function runs: on the event loop, in a thread, or in a worker process that can be killed."""

Approving = Literal["ask", "never", "function"]
"""Whether a call of a tool needs somebody's permission: always, never, or when a function of its author's says so."""

Predicate = Callable[[Mapping[str, Any], CallContext], bool | str | Awaitable[bool | str]]
"""Whether a call needs permission, from its arguments (as JSON has them) and its context. A text is yes, and what there is to
say to whoever decides. It may be async, and may take time."""

ASKING: frozenset[ToolEffect] = frozenset({"write", "idempotent"})
"""The effects whose tools ask for permission when their author says nothing: those that are declared to be writes."""

MAX_OUTPUT = 40_000
"""Characters of a result that reach the model when a tool says nothing: about ten thousand tokens, a third of the smallest
context window in wide use (32k), so that one result never fills a conversation by itself."""

_EFFECTS = ("unknown", "read", "write", "idempotent")
_ISOLATIONS = ("async", "thread", "process")
_APPROVALS = ("ask", "never", "function")


class PolicyOptions(TypedDict, total=False):
    """A policy in the words of `@tool`; see `Policy`."""

    effect: ToolEffect
    timeout: float | None
    terminal: bool
    repeatable: bool
    isolation: Isolation | None
    memory: int | None
    parallel: int | None
    max_output: int | None
    cache: float | None
    approval: Literal["ask", "never"] | Predicate | None
    needs: str | Collection[str]
    untrusted: bool
    reads_when: Mapping[str, Collection[str]] | None
    long: bool | Long | None
    pause: float | None


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one tool may run.

    Args:
        effect: see `ToolEffect`.
        timeout: seconds a call may take; None for what is left of the turn.
        terminal: its result is the answer; no extra round rewrites it.
        repeatable: the same call may be run again in a turn (a clock, a poll, a die).
        isolation: see `Isolation`; None for the event loop if the function is async, else a thread.
        memory: megabytes a call in a process may take, beside what its modules take; None for no bound.
        parallel: calls of this tool that may run at the same time; None for no bound of its own.
        max_output: characters of a result that reach the model at once; None for no bound. `MAX_OUTPUT` by default, and no
            bound for a terminal tool.
        cache: seconds for which the successful result of an equal call is given again, in later turns of this agent too;
            None for the same turn only. For reads that are not repeatable.
        approval: see `Approving`; None for what its effect says (`ASKING`). The function itself is the tool's.
        untrusted: its results come from outside, and must not count as anybody's wish; see `tukang.tools.untrusted`.
        needs: the scopes that a caller must have been granted; see `tukang.loop.permissions.Principal`.
        reads_when: argument → values: a call with one of them is a read, whatever the effect of the others. For a tool whose
            first argument is a command (`{"command": ["view"]}`).
        long: its work takes long, so that a call makes a task and returns at once; see `tukang.tools.long`.
        pause: of a repeatable tool: seconds after which an equal call is no impatience, even if it brings nothing new.

    Raises:
        ValueError: the values are not possible ones, or contradict each other.
    """

    effect: ToolEffect = "unknown"
    timeout: float | None = None
    terminal: bool = False
    repeatable: bool = False
    isolation: Isolation | None = None
    memory: int | None = None
    parallel: int | None = None
    max_output: int | None = MAX_OUTPUT
    cache: float | None = None
    approval: Approving | None = None
    needs: tuple[str, ...] = ()
    untrusted: bool = False
    reads_when: Mapping[str, tuple[str, ...]] = {}
    long: Long | None = None
    pause: float | None = None

    def effect_of(self, arguments: Mapping[str, Any]) -> ToolEffect:
        """What one call does to the world, by its arguments."""
        if not self.reads_when:
            return self.effect
        reads = any(arguments.get(name) in values for name, values in self.reads_when.items())
        return "read" if reads else self.effect

    @property
    def approving(self) -> Approving:
        """What holds: what was said, else what its effect says."""
        return self.approving_of(self.effect)

    def approving_of(self, effect: ToolEffect) -> Approving:
        """What holds of a call with this effect."""
        return self.approval or ("ask" if effect in ASKING else "never")

    def __post_init__(self) -> None:
        if self.effect not in _EFFECTS:
            raise ValueError(f"effect must be 'unknown', 'read', 'write' or 'idempotent', not {self.effect!r}")
        if self.isolation is not None and self.isolation not in _ISOLATIONS:
            raise ValueError(f"isolation must be 'async', 'thread', 'process' or None, not {self.isolation!r}")
        if self.approval is not None and self.approval not in _APPROVALS:
            raise ValueError(
                f"approval must be 'ask', 'never' or a function of (arguments, context), not {self.approval!r}"
            )
        _positive("timeout", self.timeout, "a number of seconds", (int, float))
        _positive("cache", self.cache, "a number of seconds", (int, float))
        _positive("memory", self.memory, "a whole number of megabytes", int)
        if self.memory is not None and self.isolation != "process":
            raise ValueError("memory is a bound for a process: say isolation='process', or leave memory out")
        _positive("parallel", self.parallel, "a whole number of calls", int)
        _positive("max_output", self.max_output, "a whole number of characters", int)
        if self.reads_when and self.effect == "read":
            raise ValueError("reads_when and effect='read' contradict: every call of a tool that reads is a read")
        if self.cache is not None and self.effect != "read":
            raise ValueError(
                f"cache is for reads, and the effect is {self.effect!r}: a call that may change something is never answered "
                "from an earlier turn; say effect='read', or leave cache out"
            )
        if self.cache is not None and self.repeatable:
            raise ValueError("cache and repeatable contradict: one gives the earlier result, the other runs again")
        _positive("pause", self.pause, "a number of seconds", (int, float))
        if self.pause is not None and not self.repeatable:
            raise ValueError("pause is for tools that are repeatable: say repeatable=True, or leave pause out")
        if self.long is not None:
            self._must_be_possible(self.long)

    def _must_be_possible(self, long: Long) -> None:
        for word, said in (("terminal", self.terminal), ("cache", self.cache), ("repeatable", self.repeatable)):
            if said:
                raise ValueError(f"long and {word} contradict: the call of a long tool returns a task, not its result")
        if long.attempts > 1 and self.effect not in ("read", "idempotent"):
            raise ValueError(
                f"Long(attempts={long.attempts}) is for what may be repeated, and the effect is {self.effect!r}: what may "
                "have begun is not done again; say effect='read' or 'idempotent', or leave attempts out"
            )


def policy_of(options: PolicyOptions) -> Policy:
    """The policy that these words say.

    Raises:
        ValueError: there is no such word, or the policy is not a possible one.
    """
    for word in options:
        if word not in Policy.__struct_fields__:
            close = nearest(word, Policy.__struct_fields__, most=1)
            meant = f"; did you mean {close[0]!r}?" if close else ": " + ", ".join(Policy.__struct_fields__)
            raise ValueError(f"a policy has no {word!r}{meant}")
    if options.get("terminal") and "max_output" not in options:
        options = {**options, "max_output": None}  # its result is the answer: the user wants all of it
    approval = options.get("approval")
    if approval == "function":
        raise ValueError("approval takes the function itself, not the word 'function'")
    if callable(approval):
        approval = "function"
    said = {"approval": approval, "needs": _needs(options.get("needs", ())), "reads_when": _reads(options)}
    whole = cast("dict[str, Any]", {**options, **said})
    if "long" in options:
        whole["long"] = _long(options["long"])
    return Policy(**whole)


def _reads(options: PolicyOptions) -> dict[str, tuple[str, ...]]:
    """Argument → values, in an order that does not depend on how they were given."""
    said = cast("object", options.get("reads_when") or {})
    if not isinstance(said, Mapping):
        raise ValueError(f"reads_when must be argument → values, such as {{'command': ['view']}}, not {said!r}")
    given = cast("Mapping[object, object]", said)
    for name, values in given.items():
        if not isinstance(name, str) or isinstance(values, str) or not isinstance(values, Collection) or not values:
            raise ValueError(f"reads_when must be argument → values, such as {{'command': ['view']}}, not {said!r}")
    return {str(name): tuple(sorted(map(str, cast("Collection[object]", values)))) for name, values in given.items()}


def _long(said: object) -> Long | None:
    if isinstance(said, Long) or said is None:
        return said
    if not isinstance(said, bool):
        raise ValueError(f"long must be True, False or Long(…), not {said!r}")
    return Long() if said else None


def _needs(said: object) -> tuple[str, ...]:
    """Scopes: one text, or several."""
    several = (said,) if isinstance(said, str) else said
    if not isinstance(several, Collection) or isinstance(several, (bytes, Mapping)):
        raise ValueError(f"needs must be a scope or several, such as needs='orders:write', not {said!r}")
    scopes = cast("Collection[object]", several)
    if not all(isinstance(one, str) and one for one in scopes):
        raise ValueError(f"needs must be a scope or several, such as needs='orders:write', not {said!r}")
    return tuple(sorted(cast("Collection[str]", scopes)))


def _positive(name: str, value: object, needed: str, kinds: type | tuple[type, ...]) -> None:
    if value is None:
        return
    # written so that NaN is refused, too
    if isinstance(value, bool) or not isinstance(value, kinds) or not cast("float", value) > 0:
        raise ValueError(f"{name} must be {needed} more than 0, or None, not {value!r}")
