"""What a callable takes and how it runs: its parameters, which of them is the `CallContext`, whether it is async.

Reads functions; calls none, and knows nothing of schemas.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from tukang.errors import ToolDefinitionError
from tukang.tools.context import CallContext
from tukang.tools.long import Task
from tukang.tools.secret import secret_in

Function = Callable[..., Any]


class Parameter(msgspec.Struct, frozen=True):
    """One parameter a model may fill. `default` is `inspect.Parameter.empty` when there is none."""

    name: str
    annotation: Any
    default: Any
    positional_only: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


class Signature(msgspec.Struct, frozen=True):
    """A callable, read.

    Args:
        label: how to name it to its author.
        parameters: what a model may fill, in order.
        context: the parameters that get the `CallContext`.
        takes_any: it has a `**kwargs`.
        is_async: it runs on the event loop: calling it gives a coroutine, or an async generator.
        may_return_none: its return annotation says that None is an answer (`Product | None`), not the lack of one.
        secrets: (parameter, name) of what the host fills with a secret.
        makes_task: its return annotation says that it may return a `Task`.
    """

    label: str
    parameters: tuple[Parameter, ...]
    context: tuple[str, ...]
    takes_any: bool
    is_async: bool
    may_return_none: bool
    secrets: tuple[tuple[str, str], ...] = ()
    makes_task: bool = False


def read(function: Function) -> Signature:
    """Read a function, method, partial or callable object.

    Raises:
        ToolDefinitionError: it has no readable signature, a type hint that cannot be resolved, or a `*args`; or it is a
            method without its object.
    """
    label = label_of(function)
    code = _code(function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"{label} has no signature to read: wrap it in a function of your own") from error
    if next(iter(signature.parameters), None) == "self":
        raise ToolDefinitionError(
            f"{label} is a method without its object: pass it from an object, as in `thing.method`"
        )
    hidden = _bound_by_partials(function)
    returned = _returned(signature.return_annotation, code)
    found: list[Parameter] = []
    context: list[str] = []
    secrets: list[tuple[str, str]] = []
    for parameter in signature.parameters.values():
        if parameter.name in hidden or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise ToolDefinitionError(
                f"{label} takes *{parameter.name}, which no JSON Schema can name: take a list instead"
            )
        annotation = _resolve(parameter.annotation, code, f"parameter {parameter.name!r} of {label}")
        if _wants_context(annotation):
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise ToolDefinitionError(
                    f"{label}: {parameter.name!r} is a CallContext, so it must be passed by name: remove the '/'"
                )
            context.append(parameter.name)
        elif secret := secret_in(annotation, f"parameter {parameter.name!r} of {label}"):
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise ToolDefinitionError(f"{label}: {parameter.name!r} is a Secret, so it must be passed by name")
            secrets.append((parameter.name, secret.name))
        else:
            positional = parameter.kind is parameter.POSITIONAL_ONLY
            found.append(Parameter(parameter.name, annotation, parameter.default, positional))
    return Signature(
        label,
        tuple(found),
        tuple(context),
        any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()),
        inspect.iscoroutinefunction(code) or inspect.isasyncgenfunction(code),
        type(None) in returned and len(returned) > 1,
        tuple(secrets),
        Task in returned,
    )


def label_of(function: Any) -> str:
    """A callable's name for its author: `cek_harga()`, `Shop.find()`, or the type of an object."""
    inner = innermost(function)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return f"{name.rpartition('<locals>.')[2]}()"


def name_of(function: Any) -> str:
    """The name a callable suggests for its tool."""
    inner = innermost(function)
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def documentation_of(function: Any) -> str | None:
    """The callable's own docstring; for an object, that of its `__call__`, then of its class."""
    inner = innermost(function)
    if inspect.isroutine(inner):
        return inspect.getdoc(inner)
    return getattr(inner.__call__, "__doc__", None) or inspect.getdoc(cast("type[Any]", type(inner)))


def innermost(function: Any) -> Any:
    """What partials were made of."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    return function


def bind(signature: Signature, values: dict[str, Any], context: CallContext) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments for a call; what is not in `values` is left to the function's own default."""
    named = {**values, **dict.fromkeys(signature.context, context)}
    positional: list[Any] = []
    for parameter in signature.parameters:
        if not parameter.positional_only:
            break
        positional.append(named.pop(parameter.name, parameter.default))
    return positional, named


def _code(function: Function) -> Any:
    """The plain function behind a method, a partial, or an object with `__call__`."""
    inner = innermost(function)
    if not inspect.isroutine(inner):
        inner = cast("Any", type(inner)).__call__
    return getattr(inner, "__func__", inner)


def _bound_by_partials(function: Any) -> set[str]:
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        partial = cast("functools.partial[Any]", function)
        bound.update(partial.keywords)
        function = partial.func
    return bound


def _resolve(annotation: Any, code: Any, label: str) -> Any:
    """An annotation with the names in it looked up; only this one, so that a fault in another does not matter."""
    if annotation is inspect.Parameter.empty:
        return Any
    function = inspect.unwrap(code)
    names = {"CallContext": CallContext, **getattr(function, "__globals__", {})}
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except Exception as error:  # whatever evaluating somebody's annotation raises
        raise ToolDefinitionError(
            f"{label}: the type hint {annotation!r} cannot be resolved ({error}); import or define what it names at "
            "module level, not under TYPE_CHECKING or inside a function"
        ) from error


def _wants_context(annotation: Any) -> bool:
    return any(member is CallContext or typing.get_origin(member) is CallContext for member in _members(annotation))


def _returned(annotation: Any, code: Any) -> list[Any]:
    """What may be returned, as far as the annotation says."""
    try:
        return list(_members(_resolve(annotation, code, "the result")))
    except ToolDefinitionError:  # nothing else depends on it
        return []


def _members(annotation: Any) -> Iterator[Any]:
    """The alternatives of a union, without what `Annotated` adds."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        yield from _members(typing.get_args(annotation)[0])
    elif origin is typing.Union or origin is types.UnionType:
        for argument in typing.get_args(annotation):
            yield from _members(argument)
    else:
        yield annotation
