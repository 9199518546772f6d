"""Makes tools out of what people have: decorated and plain functions, a schema and a function, objects with both.

Everything that can be wrong with a tool is found here, when an agent is built, and said to its author.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

from tukang.errors import ToolDefinitionError, ToolWarning
from tukang.tools.contract import Contract
from tukang.tools.declared import DeclaredParameters
from tukang.tools.docstrings import Described, describe
from tukang.tools.hinted import HintedParameters
from tukang.tools.names import nearest
from tukang.tools.signature import Function, Signature, documentation_of, label_of, name_of, read
from tukang.tools.tool import Declaration, Tool, declaration_of

_FORMS = (
    "a function (with or without @tool), (schema, function), a class or object with get_schema() and execute(), "
    "or a Tool"
)
_SCHEMA_KEYS = frozenset(("name", "description", "parameters", "strict"))


def as_tool(thing: Any) -> Tool:
    """Make a tool.

    Args:
        thing: a `Tool`; a function, async function, bound method, partial or callable object, decorated with `@tool` or not
            (then its effect is `unknown`); a pair `(schema, function)` with the schema in OpenAI's form
            `{"type": "function", "function": {…}}` or `{"name", "description", "parameters"}`; a class or an object with
            `get_schema()`, which returns such a schema, and `execute(...)`.

    Raises:
        ToolDefinitionError: it is none of these, or its contract and its function do not fit.
    """
    if isinstance(thing, Tool):
        return thing
    if isinstance(thing, tuple):
        return _from_pair(cast("tuple[Any, ...]", thing))
    if hasattr(thing, "get_schema") and hasattr(thing, "execute"):
        return _from_object(thing)
    if not callable(thing) or isinstance(thing, type):
        raise ToolDefinitionError(f"{_shown(thing)} is not a tool: give {_FORMS}")
    return _from_function(thing)


def _from_function(function: Function) -> Tool:
    signature = read(function)
    declaration = declaration_of(function) or Declaration()
    described = describe(documentation_of(function))
    _warn_of_unread(described, signature)
    parameters = HintedParameters(signature, described.parameters)
    name = declaration.name or name_of(function)
    description = declaration.description if declaration.description is not None else described.description
    contract = Contract(name, description, parameters.schema)
    return Tool(contract, declaration.policy, function, signature, parameters)


def _from_pair(pair: tuple[Any, ...]) -> Tool:
    if len(pair) != 2 or not isinstance(pair[0], Mapping) or not callable(pair[1]):
        raise ToolDefinitionError(f"{_shown(pair)} is not (schema, function): a dict first, then something to call")
    schema, function = cast("tuple[Mapping[str, Any], Function]", pair)
    return _from_schema(schema, function)


def _from_object(thing: Any) -> Tool:
    label = thing.__qualname__ if isinstance(thing, type) else type(thing).__qualname__
    if isinstance(thing, type):
        try:
            thing = cast("Callable[[], Any]", thing)()
        except TypeError as error:
            raise ToolDefinitionError(
                f"{label} cannot be made without arguments ({error}): pass an object of it"
            ) from error
    try:
        schema = thing.get_schema()
    except Exception as error:
        raise ToolDefinitionError(f"{label}.get_schema() failed: {type(error).__name__}: {error}") from error
    if not isinstance(schema, Mapping):
        raise ToolDefinitionError(f"{label}.get_schema() must return a dict, not {_shown(schema)}")
    return _from_schema(cast("Mapping[str, Any]", schema), thing.execute)


def _from_schema(schema: Mapping[str, Any], function: Function) -> Tool:
    name, description, parameters = _parts(schema, label_of(function))
    signature = read(function)
    declaration = declaration_of(function) or Declaration()
    for said, written in ((declaration.name, name), (declaration.description, description)):
        if said is not None and said != written:
            raise ToolDefinitionError(
                f"tool {name!r}: its schema says {written!r}, @tool on {signature.label} says {said!r}: say it once"
            )
    contract = Contract(name, description, parameters)
    return Tool(contract, declaration.policy, function, signature, DeclaredParameters(name, parameters, signature))


def _parts(schema: Mapping[str, Any], label: str) -> tuple[str, str, Mapping[str, Any]]:
    """Name, description and parameters from either form of schema."""
    if "function" in schema:
        if schema.get("type", "function") != "function" or not isinstance(schema["function"], Mapping):
            raise ToolDefinitionError(
                f'the schema for {label} must look like {{"type": "function", "function": {{…}}}}'
            )
        schema = cast("Mapping[str, Any]", schema["function"])
    name = schema.get("name")
    if not isinstance(name, str):
        raise ToolDefinitionError(f"the schema for {label} has no 'name'")
    for key in set(schema) - _SCHEMA_KEYS - {"type"}:
        close = nearest(key, _SCHEMA_KEYS, most=1)
        raise ToolDefinitionError(
            f"tool {name!r}: its schema has the unknown key {key!r}"
            + (f"; did you mean {close[0]!r}?" if close else ": name, description and parameters are known")
        )
    description = schema.get("description") or ""
    parameters: Any = schema.get("parameters")
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    if not isinstance(description, str) or not isinstance(parameters, Mapping):
        raise ToolDefinitionError(f"tool {name!r}: 'description' must be a string and 'parameters' a JSON Schema")
    written = copy.deepcopy(dict(cast("Mapping[str, Any]", parameters)))  # its author may go on to change it
    return name, description, {"type": "object"} | written


def _warn_of_unread(described: Described, signature: Signature) -> None:
    """A docstring that its author believes to be read, and that was not."""
    if not described.documented:
        return
    names = [parameter.name for parameter in signature.parameters]
    strange = [name for name in described.parameters if name not in names and name not in signature.context]
    if not described.parameters:
        _warn(f"{signature.label}: its docstring has a section about parameters, but none could be read from it")
    for name in strange:
        close = nearest(name, names, most=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        _warn(f"{signature.label}: its docstring describes {name!r}, which it does not take{meant}")


def _warn(text: str) -> None:
    warnings.warn(text, ToolWarning, stacklevel=2)


def _shown(thing: Any) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__qualname__}"
    return f"an object of type {type(thing).__qualname__}"
