"""A type hint as Pydantic can take it: a few that it does not, or not as a tool needs them, are said in another way.

Only the hint of a parameter is looked at, not the fields of the classes in it: those are their authors'.
"""

from __future__ import annotations

import collections.abc
import enum
import sys
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, LiteralString, cast

import typing_extensions
from pydantic import BeforeValidator

_CALLABLE: Any = collections.abc.Callable
_ITERABLES = (collections.abc.Iterable, collections.abc.Iterator, collections.abc.Generator)


class UnfitHintError(TypeError):
    """A hint that no JSON value can fill. The message completes "the hint …"."""


def fit(hint: Any) -> Any:
    """The hint, or one that means the same.

    * `Iterable[X]` becomes `list[X]`: Pydantic would check its items only when the function takes them.
    * A `TypedDict` of the standard library is made anew before Python 3.12, where Pydantic needs `typing_extensions`.
    * A `Literal` of Enum members is read from their values.
    * `LiteralString` is `str`.

    Raises:
        UnfitHintError: no JSON value can be such a thing.
    """
    return _fit(hint, ())


def _fit(hint: Any, within: tuple[Any, ...]) -> Any:
    origin = typing.get_origin(hint)
    if hint is LiteralString:
        return str
    if hint is type or origin is type or _CALLABLE in (hint, origin):
        raise UnfitHintError("is a class or a function, which JSON has not")
    if _is_typed_dict(hint) and hint not in within:
        return _typed_dict(hint, within)
    if hint in _ITERABLES:
        return list
    if origin is None:
        return hint
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return Annotated[_fit(arguments[0], within), *arguments[1:]]
    if origin is Literal:
        return _literal(hint, arguments)
    if origin in _ITERABLES:
        return list[_fit(arguments[0], within)]
    fitted = tuple(_fit(argument, within) if _is_hint(argument) else argument for argument in arguments)
    if fitted == arguments:
        return hint
    if origin in (typing.Union, types.UnionType):
        return typing.Union[fitted]  # noqa: UP007
    return hint.copy_with(fitted) if hasattr(hint, "copy_with") else types.GenericAlias(origin, fitted)


def _is_hint(argument: Any) -> bool:
    return argument is not ... and not isinstance(argument, list)


def _is_typed_dict(hint: Any) -> bool:
    """Whether this is one that has to be made anew."""
    return sys.version_info < (3, 12) and typing.is_typeddict(hint) and type(hint).__module__ == "typing"


def _typed_dict(hint: Any, within: tuple[Any, ...]) -> Any:
    members: dict[str, Any] = {}
    for name, member in typing.get_type_hints(hint, include_extras=True).items():
        required = name in hint.__required_keys__
        while typing.get_origin(member) in (typing.Required, typing.NotRequired):  # hidden by a postponed annotation
            required = typing.get_origin(member) is typing.Required
            member = typing.get_args(member)[0]
        wrap: Any = typing_extensions.Required if required else typing_extensions.NotRequired
        members[name] = wrap[_fit(member, (*within, hint))]
    made: Any = cast("Callable[..., Any]", typing_extensions.TypedDict)(hint.__name__, members)
    made.__doc__ = hint.__doc__
    made.__module__ = hint.__module__
    if hasattr(hint, "__pydantic_config__"):
        made.__pydantic_config__ = hint.__pydantic_config__
    return made


def _literal(hint: Any, members: tuple[Any, ...]) -> Any:
    """Pydantic compares a literal with what JSON gave, which is never an Enum member, unless that is a string or number."""
    by_value: dict[Any, enum.Enum] = {
        member.value: member
        for member in members
        if isinstance(member, enum.Enum) and not isinstance(member, (str, int)) and _hashable(member.value)
    }
    if not by_value:
        return hint

    def member(given: Any) -> Any:
        return by_value.get(given, given) if _hashable(given) else given

    return Annotated[hint, BeforeValidator(member)]


def _hashable(value: Any) -> bool:
    return isinstance(value, collections.abc.Hashable)
