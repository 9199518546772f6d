"""Makes tools out of what people have: decorated and plain functions, a schema and a function, objects with both, tools that
other libraries made.

Everything that can be wrong with a tool is found here, when an agent is built, and said to its author.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec.structs import replace
from pydantic import BaseModel

from tukang.errors import ToolDefinitionError, ToolWarning
from tukang.tools import foreign, modelled
from tukang.tools.contract import Contract
from tukang.tools.declared import DeclaredParameters
from tukang.tools.docstrings import Described, describe
from tukang.tools.forms import Form, read_form
from tukang.tools.hinted import HintedParameters
from tukang.tools.long import Long
from tukang.tools.names import nearest
from tukang.tools.policy import Policy
from tukang.tools.signature import Function, Signature, documentation_of, label_of, name_of, read
from tukang.tools.tool import Declaration, Marked, Parameters, Tool, declaration_of

_FORMS = (
    "a function (with or without @tool), (schema, function), a class or object with get_schema() and execute(), a LangChain "
    "tool, (MCP tool, function), or a Tool"
)


def as_tool(thing: Any) -> Tool:
    """Make a tool.

    Args:
        thing: a `Tool`; a function, async function, bound method, partial or callable object, decorated with `@tool` or not
            (then its effect is `unknown`), whose parameters are the tool's, or the fields of the one Pydantic model it takes;
            a pair `(schema, function)` with the schema in any form that `forms.read_form` reads; a class or an object with
            `get_schema()`, which returns such a schema, and `execute(...)`; a LangChain tool; a pair of a tool of the MCP SDK
            and a function that calls it; or any of these in `tool(thing, effect=…)`.

    Raises:
        ToolDefinitionError: it is none of these, its contract and its function do not fit, or its policy does not fit it.
    """
    said: Declaration | None = None
    while isinstance(thing, Marked):
        said = said or thing.declaration
        thing = thing.thing
    if isinstance(thing, Tool):
        return thing if said is None else _again(thing, said)
    return _made(thing, said)


def _made(thing: Any, said: Declaration | None) -> Tool:
    if isinstance(thing, tuple):
        return _from_pair(cast("tuple[Any, ...]", thing), said)
    if hasattr(thing, "get_schema") and hasattr(thing, "execute"):
        return _from_object(thing, said)
    if foreign.is_langchain(thing):
        return _from_foreign(foreign.from_langchain(thing), said or Declaration())
    if isinstance(thing, type) and issubclass(thing, BaseModel):
        raise ToolDefinitionError(
            f"the class {thing.__qualname__} is not a tool: give a function that takes it, def f(data: {thing.__qualname__})"
        )
    if isinstance(thing, type) or not callable(thing):
        hint = " (an MCP tool needs a function that calls it beside it)" if foreign.is_mcp(thing) else ""
        raise ToolDefinitionError(f"{_shown(thing)} is not a tool{hint}: give {_FORMS}")
    return _from_function(thing, said)


def _again(made: Tool, said: Declaration) -> Tool:
    """The same tool under another declaration."""
    contract = made.contract
    form = Form(contract.name, contract.description, contract.parameters)
    again = _tool(said, form, made.function, made.signature, made.parameters)
    if contract.defined is None or again.name != contract.name:  # under another name it is no longer what models know
        return again
    return dataclasses.replace(again, contract=replace(again.contract, defined=contract.defined))


def _from_function(function: Function, said: Declaration | None) -> Tool:
    signature = read(function)
    declaration = said or declaration_of(function) or Declaration()
    described = describe(documentation_of(function))
    model = modelled.sole_model(signature)
    parameters: Parameters
    if model is None:
        parameters = HintedParameters(signature, described.parameters)
    else:
        parameters = modelled.ModelledParameters(signature, model, described.parameters)
    _warn_of_unread(described, signature, parameters.schema)
    description = described.description or (modelled.description_of(model) if model else "")
    form = Form(name_of(function), description, parameters.schema)
    return _tool(declaration, form, function, signature, parameters)


def _from_pair(pair: tuple[Any, ...], said: Declaration | None) -> Tool:
    if len(pair) == 2 and callable(pair[1]):
        first, function = cast("tuple[Any, Function]", pair)
        if isinstance(first, Mapping):
            return _from_schema(cast("Mapping[str, Any]", first), function, said, declaration_of(function))
        if foreign.is_mcp(first):
            made = foreign.from_mcp(first, function, read(function))
            return _from_foreign(made, said or declaration_of(function) or Declaration())
    raise ToolDefinitionError(f"{_shown(pair)} is not (schema, function): a dict first, then something to call")


def _from_object(thing: Any, said: Declaration | None) -> Tool:
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
    own = declaration_of(thing.execute) or declaration_of(thing)
    return _from_schema(cast("Mapping[str, Any]", schema), thing.execute, said, own)


def _from_schema(
    schema: Mapping[str, Any], function: Function, said: Declaration | None, own: Declaration | None
) -> Tool:
    """A tool from a schema and a function; `said` is about the pair and wins, `own` is about the function alone."""
    form = read_form(schema, label_of(function))
    signature = read(function)
    if said is None and own is not None:
        for words, written in ((own.name, form.name), (own.description, form.description)):
            if words is not None and words != written:
                raise ToolDefinitionError(
                    f"tool {form.name!r}: its schema says {written!r}, @tool on {signature.label} says {words!r}: say it once"
                )
    parameters = DeclaredParameters(form.name, form.parameters, signature)
    return _tool(said or own or Declaration(), form, function, signature, parameters)


def _from_foreign(made: foreign.Foreign, declaration: Declaration) -> Tool:
    if made.terminal and "terminal" not in declaration.said:
        declaration = declaration.with_policy(terminal=True)
    parameters = DeclaredParameters(made.form.name, made.form.parameters, made.signature)
    return _tool(declaration, made.form, made.function, made.signature, parameters)


def _tool(
    declaration: Declaration, form: Form, function: Function, signature: Signature, parameters: Parameters
) -> Tool:
    name = declaration.name or form.name
    description = form.description if declaration.description is None else declaration.description
    policy = declaration.policy
    if policy.cache is not None and signature.context:
        raise ToolDefinitionError(
            f"tool {name!r}: cache gives one caller's result to the next, but {signature.label} takes a CallContext, so its "
            "result may be one caller's own: leave out the one or the other"
        )
    if signature.makes_task:
        policy = _made_long(name, policy, signature)
    contract = Contract(name, description, form.parameters)
    return Tool(contract, policy, function, signature, parameters, declaration.said, declaration.approval)


def _made_long(name: str, policy: Policy, signature: Signature) -> Policy:
    """The policy of a function that returns a `Task`: long, whether its author has said so or not."""
    if policy.isolation == "process":
        raise ToolDefinitionError(
            f"tool {name!r}: {signature.label} returns a Task, whose work cannot be sent from its process: leave isolation "
            "out, or say long=True and do the work in the function itself"
        )
    try:
        return policy if policy.long is not None else replace(policy, long=Long())
    except ValueError as error:
        raise ToolDefinitionError(f"tool {name!r}: {signature.label} returns a Task: {error}") from error


def _warn_of_unread(described: Described, signature: Signature, schema: Mapping[str, Any]) -> None:
    """A docstring that its author believes to be read, and that was not."""
    properties = cast("Mapping[str, Mapping[str, Any]]", schema["properties"])
    names = dict.fromkeys([*properties, *(parameter.name for parameter in signature.parameters)])
    if described.documented and not described.parameters:
        _warn(f"{signature.label}: its docstring has a section about parameters, but none could be read from it")
    for name in described.parameters:
        if name not in names and name not in signature.context and name not in dict(signature.secrets):
            close = nearest(name, names, most=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            _warn(f"{signature.label}: its docstring describes {name!r}, which it does not take{meant}")
    unread = [name for name, member in properties.items() if name in described.unread and not member.get("description")]
    if unread:
        _warn(
            f"{signature.label}: its docstring seems to describe {', '.join(map(repr, unread))}, but not in a form that is "
            "read; write 'Args:' or 'Argumen:' on a line of its own, and below it, indented, one 'name: text' for each"
        )


def _warn(text: str) -> None:
    warnings.warn(text, ToolWarning, stacklevel=2)


def _shown(thing: Any) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__qualname__}"
    return f"an object of type {type(thing).__qualname__}"
