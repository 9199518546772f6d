"""A tool: a contract the model sees, a function that runs, a policy for how it may run. And the decorator that makes one.

The decorator leaves the function as it is and only writes down what its author says about it; `adopting` turns functions
and other things into tools when an agent is built, because only then every type hint can be resolved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, overload

import msgspec

from tukang.errors import ToolDefinitionError
from tukang.tools.coercion import coerce
from tukang.tools.complaints import Complaint, as_fault
from tukang.tools.context import CallContext
from tukang.tools.contract import Contract
from tukang.tools.json_text import Unreadable, canonical
from tukang.tools.outcome import Fault
from tukang.tools.policy import Policy, ToolEffect
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
    """

    contract: Contract
    policy: Policy
    function: Function
    signature: Signature
    parameters: Parameters

    @property
    def name(self) -> str:
        return self.contract.name

    def validate(self, value: dict[str, Any]) -> Validated | Fault:
        """Check arguments; what does not fit is coerced as the schema says, and checked again. Never raises."""
        try:
            text = canonical(value)
            if not self.parameters.complaints(value, text):
                return Validated(value, text, coerced=False)
            schema = self.contract.parameters
            arguments = coerce(value, schema, schema)
            text = canonical(arguments)
        except Unreadable as error:
            return Fault("invalid_arguments", f"the arguments cannot be read: {error.reason}", error.hint)
        complaints = self.parameters.complaints(arguments, text)
        return as_fault(complaints, schema) if complaints else Validated(arguments, text, coerced=True)


class Declaration(msgspec.Struct, frozen=True):
    """What an author said about a function with `@tool`."""

    policy: Policy = Policy()
    name: str | None = None
    description: str | None = None


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    effect: ToolEffect = ...,
    timeout: float | None = ...,
    terminal: bool = ...,
    repeatable: bool = ...,
    name: str | None = ...,
    description: str | None = ...,
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    effect: ToolEffect = "unknown",
    timeout: float | None = None,
    terminal: bool = False,
    repeatable: bool = False,
    name: str | None = None,
    description: str | None = None,
) -> Any:
    """Say how a function may run as a tool. The function stays as it is: call it, await it, test it as before.

    Works on functions, async functions and methods, as `@tool` or `@tool(effect="read")`. Called on something that is a tool
    already, or that takes no attributes (a bound method, a builtin), it returns a `functools.partial` of it instead.

    Args:
        effect: what it does to the world; see `ToolEffect`.
        timeout: seconds one call may take; None for what is left of the turn.
        terminal: its result is the answer.
        repeatable: the same call may be run again in one turn.
        name: what the model calls it; the function's own name by default.
        description: what the model reads; the docstring without its parameters by default.

    Raises:
        ToolDefinitionError: the policy is not a possible one.
    """
    try:
        policy = Policy(effect, timeout, terminal, repeatable)
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(
            f"@tool on {label_of(function) if function else name or 'a function'}: {error}"
        ) from error
    declaration = Declaration(policy, name, description)
    return functools.partial(_declare, declaration) if function is None else _declare(declaration, function)


def declaration_of(thing: Any) -> Declaration | None:
    """What `@tool` wrote down about this thing, if anything."""
    found = getattr(thing, _MARK, None)
    return found if isinstance(found, Declaration) else None


def _declare(declaration: Declaration, function: Any) -> Any:
    wrapped = isinstance(function, (staticmethod, classmethod))
    if not wrapped and not callable(function):
        raise ToolDefinitionError(f"@tool goes on a function, not on an object of type {type(function).__qualname__}")
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
