"""Whether a function can run where its policy wants it to run: found out when the tool is made, and said to its author.

A function in a process is found again there by its name, and its arguments are sent to it. So both must be such that a new
interpreter that imports the same modules can have them. Nothing is run here.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.tools.declared import DeclaredParameters
from tukang.tools.failure import words
from tukang.tools.hints import fit
from tukang.tools.policy import Policy
from tukang.tools.signature import Function, Parameter, Signature, innermost

_MODULE_LEVEL = "define it at the top level of a module, and bind what it needs with functools.partial"
_NOT_MAIN = "put it into a module of its own, and import it from there"


def must_fit(name: str, policy: Policy, function: Function, signature: Signature, parameters: object) -> None:
    """Hold a tool's function against the isolation of its policy.

    Args:
        name: the tool's.
        policy, function, signature, parameters: the tool's.

    Raises:
        ToolDefinitionError: it cannot run there; the message says why, and how to mend it.
    """
    if policy.isolation == "async" and not signature.is_async:
        raise ToolDefinitionError(
            f"tool {name!r}: isolation='async', but {signature.label} is a plain function, which would hold up the event "
            "loop for everybody: make it `async def`, or leave isolation out (it then runs in a thread)"
        )
    if policy.isolation == "thread" and signature.is_async:
        raise ToolDefinitionError(
            f"tool {name!r}: isolation='thread', but {signature.label} is async: leave isolation out (it then runs on the "
            "event loop), or say isolation='process'"
        )
    if policy.isolation != "process":
        return
    reason = _no_processes(policy) or _unfit(function, signature)
    if reason is None and not isinstance(parameters, DeclaredParameters):  # those are given plain JSON values
        reason = next(filter(None, (_unfit_parameter(one, signature.label) for one in signature.parameters)), None)
    if reason is not None:
        raise ToolDefinitionError(f"tool {name!r} cannot run with isolation='process': {reason}")


def cannot_be_stopped(policy: Policy, signature: Signature) -> bool:
    """Whether a call goes on when its time is over: it runs in a thread. In a process it would not."""
    return policy.isolation in (None, "thread") and not signature.is_async


def must_be_sendable(context: object, tools: tuple[str, ...]) -> None:
    """Hold the caller's own object against tools that run in a process and ask for it.

    Args:
        context: what was given to the run.
        tools: their names.

    Raises:
        ConfigurationError: it cannot be sent there.
    """
    if context is None or not tools:
        return
    reason = _unsendable(context)
    if reason is not None:
        raise ConfigurationError(
            f"context: {type(context).__qualname__} cannot be sent to the process of tool {tools[0]!r}, which asks for it: "
            f"{reason}; give what can be pickled, such as an id, and let the function look the rest up"
        )


def _no_processes(policy: Policy) -> str | None:
    if os.name != "posix":
        return "there is no way to end a process with all it started on this system; leave isolation out"
    if not sys.executable or getattr(sys, "frozen", False):
        return "this program is not run by a Python interpreter that could be started again; leave isolation out"
    if policy.memory is not None and not sys.platform.startswith("linux"):
        return "memory can be bounded on Linux only; leave memory out"
    return None


def _unfit(function: Function, signature: Signature) -> str | None:
    inner: object = innermost(function)
    bound = isinstance(inner, types.MethodType)
    reason = _not_found_again(inner if hasattr(inner, "__qualname__") and not bound else _class_of(inner))
    if reason is not None:
        return f"{signature.label} {reason}"
    reason = _unsendable(function)
    if reason is not None:
        return (
            f"{signature.label} holds what cannot be sent there: {reason}; let it make that itself, when it is called"
        )
    return None


def _class_of(thing: object) -> type:
    """Of a bound method, the class of what it is bound to."""
    owner: object = getattr(thing, "__self__", thing)
    return type(owner)


def _unfit_parameter(parameter: Parameter, label: str) -> str | None:
    try:
        schema: Any = TypeAdapter(fit(parameter.annotation)).core_schema
    except (PydanticUserError, TypeError, ValueError):  # it is no parameter at all, and refused for that
        return None
    for kind, thing in _kinds(schema):
        if kind == "generator":
            return (
                f"parameter {parameter.name!r} of {label} has an Iterable in it, which cannot be sent: make it a list"
            )
        if isinstance(thing, type) and (reason := _not_found_again(thing)):
            return f"parameter {parameter.name!r} of {label} takes {thing.__qualname__}, which {reason}"
    return None


def _kinds(schema: Any) -> Iterator[tuple[str, Any]]:
    """What a Pydantic schema is made of: the kind of each node, and the class that it makes, if it makes one."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        kind = node.get("type")
        if kind in ("model", "dataclass", "enum", "is-instance", "generator"):
            yield kind, node.get("cls")
        elif kind == "call":  # a named tuple
            yield kind, node.get("function")
        for key, member in node.items():
            if key not in ("metadata", "serialization", "cls"):
                yield from _kinds(member)
    elif isinstance(schema, (list, tuple)):
        for member in cast("list[Any]", schema):
            yield from _kinds(member)


def _not_found_again(thing: object) -> str | None:
    """Why a new interpreter would not find this function or class by its name; None if it would."""
    name = str(getattr(thing, "__qualname__", ""))
    module = getattr(thing, "__module__", None)
    if name.endswith("<lambda>"):
        return "is a lambda, which has no name to be found by: " + _MODULE_LEVEL
    if "<locals>" in name:
        return "is defined inside a function: " + _MODULE_LEVEL
    if module == "__main__":
        return "is defined in the program that was started (__main__), which a worker does not import: " + _NOT_MAIN
    if isinstance(module, str) and not _importable(module):
        return f"is defined in {module!r}, which cannot be imported by that name: {_NOT_MAIN}"
    return None


def _importable(name: str) -> bool:
    parent = name.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    return any(finder.find_spec(name, path) is not None for finder in sys.meta_path)


def _unsendable(thing: Any) -> str | None:
    """Why this cannot be pickled, or not unpickled in another interpreter; None if it can."""
    try:
        _Looking(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(thing)
    except Exception as error:  # whatever a `__reduce__` of the user's raises
        return words(error)
    return None


class _Looking(pickle.Pickler):
    """A pickler that also looks where the functions and classes in a thing come from."""

    def reducer_override(self, obj: Any) -> Any:
        if hasattr(obj, "__qualname__") and (reason := _not_found_again(obj)):
            raise pickle.PicklingError(f"{obj.__qualname__} {reason}")
        return NotImplemented
