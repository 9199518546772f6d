"""A tool: a contract the model sees, a function that runs, a policy for how it may run. And the decorator that makes one.

The decorator leaves the function as it is and only writes down what its author says about it; `adopting` turns functions
and other things into tools when an agent is built, because only then every type hint can be resolved.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, Unpack, cast, overload

import msgspec

from tukang.errors import ToolDefinitionError
from tukang.tools.coercion import coerce
from tukang.tools.complaints import Complaint, as_fault
from tukang.tools.context import CallContext
from tukang.tools.contract import Contract
from tukang.tools.isolation import must_fit
from tukang.tools.json_text import Unreadable, canonical
from tukang.tools.outcome import Fault
from tukang.tools.policy import Policy, PolicyOptions, Predicate, policy_of
from tukang.tools.signature import Function, Signature, label_of

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__tukang_tool__"


class Parameters(Protocol):
    """What stands between a model's arguments and a function's: from type hints, or from a schema written by hand."""

    schema: Mapping[str, Any]

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        """What is wrong with arguments, given as a value and as its canonical text; empty when they fit."""
        ...

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The positional and keyword arguments for the function."""
        ...


class Pace:
    """How a tool's function runs here. Not part of what the tool is: it is found out, and forgotten with the process.

    `quick` says that it ended at once the last time.
    """

    __slots__ = ("quick",)

    def __init__(self) -> None:
        self.quick = False


class Validated(msgspec.Struct, frozen=True):
    """Arguments that fit. `text` is their canonical JSON; `coerced` says that a value was read as another type."""

    arguments: dict[str, Any]
    text: str
    coerced: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One tool, complete. Made by `as_tool`.

    Args:
        contract: what the model sees.
        policy: how it may run.
        function: what runs.
        signature: what the function takes, and whether it is async.
        parameters: how arguments are checked and handed over.
        said: the parts of the policy that somebody said; the others are as they are by default.
        approval: says whether a call needs permission, where the policy leaves that to a function.

    Raises:
        ToolDefinitionError: the function cannot run where its policy wants it to.
    """

    contract: Contract
    policy: Policy
    function: Function
    signature: Signature
    parameters: Parameters
    said: frozenset[str] = frozenset()
    approval: Predicate | None = None
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        must_fit(self.contract.name, self.policy, self.function, self.signature, self.parameters)

    @property
    def name(self) -> str:
        """As the model sees it."""
        return self.contract.name

    def validate(self, value: dict[str, Any]) -> Validated | Fault:
        """Check arguments; what does not fit is coerced as the schema says, and checked again. Never raises."""
        schema = self.contract.parameters
        try:
            text = canonical(value)
            complaints = self.parameters.complaints(value, text)
            if not complaints and ".0" not in text:  # nothing that may be an integer written as a float
                return Validated(value, text, coerced=False)
            arguments = coerce(value, schema, schema, [complaint.path for complaint in complaints])
            coerced = canonical(arguments)
        except Unreadable as error:
            return Fault("invalid_arguments", f"the arguments cannot be read: {error.reason}", error.hint)
        if coerced != text:
            complaints = self.parameters.complaints(arguments, coerced)
        return as_fault(complaints, schema) if complaints else Validated(arguments, coerced, coerced=coerced != text)


class Declaration(msgspec.Struct, frozen=True):
    """What an author said about a function with `@tool`; `said` names the parts of the policy among it."""

    policy: Policy = Policy()
    name: str | None = None
    description: str | None = None
    said: frozenset[str] = frozenset()
    approval: Predicate | None = None

    @classmethod
    def of(cls, policy: PolicyOptions, name: str | None = None, description: str | None = None) -> Declaration:
        """From the words of `@tool`.

        Raises:
            ValueError: the policy is not a possible one.
        """
        approval = policy.get("approval")
        asks = approval if callable(approval) else None
        if asks is not None:
            _must_take_two(asks)
        return cls(policy_of(policy), name, description, frozenset(policy), asks)

    def with_policy(self, **more: Unpack[PolicyOptions]) -> Declaration:
        """The same, and this."""
        said: dict[str, Any] = {name: getattr(self.policy, name) for name in self.said}
        if self.approval is not None:
            said["approval"] = self.approval
        return Declaration.of(cast("PolicyOptions", said | {**more}), self.name, self.description)


class Marked(msgspec.Struct, frozen=True):
    """What becomes a tool and is no function (a pair, an object), with what is said about it."""

    thing: Any
    declaration: Declaration


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    thing: Any, /, *, name: str | None = ..., description: str | None = ..., **policy: Unpack[PolicyOptions]
) -> Any: ...


@overload
def tool(
    *, name: str | None = ..., description: str | None = ..., **policy: Unpack[PolicyOptions]
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **policy: Unpack[PolicyOptions],
) -> Any:
    """Say how a function may run as a tool. The function stays as it is: call it, await it, test it as before.

    Works on functions, async functions and methods, as `@tool` or `@tool(effect="read")`. Called on something that is a tool
    already, or that takes no attributes (a bound method, a builtin), it returns a `functools.partial` of it instead. For what
    is no function but can be a tool, `tool((schema, function), effect="read")`, it returns something to give to an agent.

    Args:
        function: what it is about.
        name: what the model calls it; the function's own name by default.
        description: what the model reads; the docstring without its parameters by default.
        policy: how it may run: `effect`, `timeout` (seconds), `terminal`, `repeatable`, `isolation`, `memory` (megabytes),
            `parallel` (calls), `max_output` (characters), `cache` (seconds), `approval` (`"ask"`, `"never"`, or a function
            of the arguments and a `CallContext`), `long` (True, or a `Long`); see `tukang.tools.policy`.

    Raises:
        ToolDefinitionError: the policy is not a possible one.
    """
    try:
        declaration = Declaration.of(policy, name, description)
    except (TypeError, ValueError) as error:
        about = name or ("a function" if function is None else label_of(function))
        raise ToolDefinitionError(f"@tool on {about}: {error}") from error
    return functools.partial(_declare, declaration) if function is None else _declare(declaration, function)


def declaration_of(thing: Any) -> Declaration | None:
    """What `@tool` wrote down about this thing, if anything."""
    found = getattr(thing, _MARK, None)
    return found if isinstance(found, Declaration) else None


def _declare(declaration: Declaration, function: Any) -> Any:
    wrapped = isinstance(function, (staticmethod, classmethod))
    if not wrapped and not callable(function):
        return Marked(function, declaration)
    marked: Any = cast("Any", function).__func__ if wrapped else function
    if declaration_of(marked) is None:
        try:
            setattr(marked, _MARK, declaration)
        except (AttributeError, TypeError):
            pass
        else:
            return cast("Any", function)
    partial: Any = functools.partial(cast("Function", function))
    setattr(partial, _MARK, declaration)
    return partial


def _must_take_two(asks: Predicate) -> None:
    """Hold a function that says whether a call needs permission against how it is called."""
    try:
        inspect.signature(asks).bind({}, None)
    except TypeError as error:
        raise ValueError(
            f"approval is called with (arguments, context), which {label_of(asks)} does not take"
        ) from error
    except ValueError:  # some that are built in cannot be looked at
        return
