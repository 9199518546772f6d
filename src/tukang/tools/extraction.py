"""The answer as data: what a caller wants returned, as a tool without a function, and back from its arguments to the value.

What is wanted is a type, or a JSON Schema. Pydantic checks types, strictly, with the validators that are in them; what
Pydantic does not know (a msgspec Struct) msgspec checks; a schema is checked by jsonschema-rs. A type whose values are not
objects (a list, a Literal, a union) is asked for as the one argument of an object.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, cast

import msgspec
from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import Complaint, missing, unknown
from tukang.tools.context import CallContext
from tukang.tools.contract import Contract
from tukang.tools.declared import DeclaredParameters
from tukang.tools.failure import words
from tukang.tools.hinted import QuietSchema, complaints_of, first_line
from tukang.tools.json_text import decode
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import Policy
from tukang.tools.signature import read
from tukang.tools.tool import Tool

KEY = "data"
"""The argument that holds data which is not an object."""

NAMES = ("answer", "final_answer", "answer_as_data")
"""What the tool is called: the first of these that no other tool has."""

_POLICY = Policy("read")


class Extraction(msgspec.Struct, frozen=True):
    """What a turn is to return.

    Args:
        tool: what the model gives it with; it has no function, and is never run.
        key: the argument that holds the data; None where the arguments are the data.
        value: makes the value of canonical JSON that fits; raises whatever a validator of the type raises.
    """

    tool: Tool
    key: str | None
    value: Callable[[str], Any]


class _Form(Protocol):
    """What is wanted, in any of the ways it can be said. It stands as the parameters of the tool."""

    schema: Mapping[str, Any]

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]: ...

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]: ...


def extraction(returns: Any, description: str, taken: Collection[str] = ()) -> Extraction:
    """What a turn is to return, ready to be asked for.

    Args:
        returns: a Pydantic model, a dataclass, a TypedDict, a msgspec Struct, any other type Pydantic or msgspec knows
            (`list[Invoice]`, a `Literal`, a union), or a JSON Schema as a dict. For a schema the value is plain JSON.
        description: what the model is told of the tool; the type's own description is added.
        taken: names that other tools have.

    Raises:
        ToolDefinitionError: it is none of these, or has no JSON Schema.
    """
    name = next((name for name in NAMES if name not in taken), None)
    if name is None:
        raise ToolDefinitionError(f"tools with the names {', '.join(NAMES)} leave none for the answer: rename one")
    if isinstance(returns, Mapping):
        return _by_schema(_written(cast("Mapping[str, Any]", returns)), description, name)
    if returns is None or isinstance(returns, str) or inspect.isroutine(returns):
        raise _refused(returns)
    try:
        return _by_type(returns, description, name)
    except TypeError:  # what is in an Annotated need not be hashable
        return _by_type.__wrapped__(returns, description, name)


@functools.lru_cache(maxsize=128)
def _by_type(returns: Any, description: str, name: str) -> Extraction:
    try:
        form: _Typed | _Struct = _Typed(returns)
    except (PydanticUserError, TypeError, ValueError, NameError) as error:
        try:
            form = _Struct(returns)
        except Exception:
            raise _refused(returns, error) from error
    return Extraction(_tool(name, description, form), form.key, form.value)


@functools.lru_cache(maxsize=128)
def _by_schema(text: str, description: str, name: str) -> Extraction:
    schema = cast("dict[str, Any]", decode(text))
    if "type" not in schema and "properties" in schema:
        schema["type"] = "object"
    key = None if schema.get("type") == "object" else KEY
    whole = schema if key is None else _wrapped(schema)
    form = DeclaredParameters(name, whole, read(_given))
    return Extraction(_tool(name, description, form), key, decode)


def _tool(name: str, description: str, form: _Form) -> Tool:
    parameters = dict(form.schema)
    own = parameters.pop("description", None)
    text = f"{description}\n\n{own}" if isinstance(own, str) and own else description
    return Tool(Contract(name, text, parameters), _POLICY, _given, read(_given), form)


def _given(**data: Any) -> Any:  # noqa: ARG001 - it takes whatever the schema says
    """Stands where a tool has its function. The loop takes the data as the answer and runs nothing."""
    raise NothingDone("the answer is taken as it is; there is nothing to run")


def _refused(returns: Any, error: Exception | None = None) -> ToolDefinitionError:
    what = getattr(returns, "__qualname__", None) or repr(returns)
    why = f" ({first_line(error)})" if error is not None else ""
    return ToolDefinitionError(
        f"returns={what}: there is no JSON Schema for it{why}; give a Pydantic model, a dataclass, a TypedDict, a msgspec "
        "Struct, a type made of these, or a JSON Schema as a dict"
    )


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Typed:
    """A type that Pydantic knows."""

    def __init__(self, returns: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(returns)
        self.schema: Mapping[str, Any] = _top(self._adapter.json_schema(schema_generator=QuietSchema))
        self.key = None if _is_object(self.schema) else KEY
        self._whole: TypeAdapter[Any] = self._adapter
        if self.key is not None:
            member: dict[str, Any] = {self.key: (returns, ...)}
            self._whole = TypeAdapter(create_model("Answer", __config__=ConfigDict(extra="forbid"), **member))
            self.schema = _top(self._whole.json_schema(schema_generator=QuietSchema))

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        found = _strangers(arguments, self.schema)
        try:
            self._whole.validate_json(text, strict=True)
        except ValidationError as error:
            told = {complaint.path for complaint in found}
            found += [one for one in complaints_of(error, arguments, self.schema) if one.path not in told]
        except BaseException as error:  # a validator of the user's, which may raise anything
            found.append(Complaint((), f"could not be checked: {words(error)}"))
        return found

    def value(self, text: str) -> Any:
        return self._adapter.validate_json(text, strict=True)

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:  # noqa: ARG002
        return [], decode(text)


class _Struct:
    """A type that msgspec knows. It reports one fault at a time, and where it is in its own words."""

    def __init__(self, returns: Any) -> None:
        self._decoder = msgspec.json.Decoder(returns)
        schema = _top(msgspec.json.schema(returns))
        self.key = None if _is_object(schema) else KEY
        self.schema: Mapping[str, Any] = schema if self.key is None else _wrapped(schema)

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        found = _strangers(arguments, self.schema)
        if self.key is not None and self.key not in arguments:
            return [*found, missing((), self.key)]
        inner = text if self.key is None else msgspec.json.encode(arguments[self.key]).decode()
        try:
            self.value(inner)
        except msgspec.ValidationError as error:
            found.append(Complaint(() if self.key is None else (self.key,), str(error)))
        except BaseException as error:  # a __post_init__ of the user's
            found.append(Complaint((), f"could not be checked: {words(error)}"))
        return found

    def value(self, text: str) -> Any:
        return self._decoder.decode(text)

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:  # noqa: ARG002
        return [], decode(text)


def _strangers(arguments: dict[str, Any], schema: Mapping[str, Any]) -> list[Complaint]:
    """Members that the type does not have: ignored, a misspelt one would be lost without a word."""
    known = cast("Mapping[str, Any]", schema.get("properties", {}))
    if schema.get("additionalProperties", not known) is not False:
        return []
    return [unknown((), key, known) for key in arguments if key not in known]


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object"


def _top(made: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with no reference at its top and no names of classes in it; an object that names its members has no others."""
    schema = dict(made)
    definitions = cast("dict[str, dict[str, Any]]", schema.pop("$defs", {}))
    if "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[str(schema["$ref"]).rpartition("/")[2]], **beside}
    for one in (schema, *definitions.values()):
        one.pop("title", None)
        if "properties" in one:
            one.setdefault("additionalProperties", False)
    if definitions and "#/$defs/" in str(schema):
        schema["$defs"] = definitions
    return schema


def _wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object whose one member follows this schema. Definitions stay at the top, where references look."""
    inner = dict(schema)
    whole: dict[str, Any] = {"type": "object", "properties": {KEY: inner}, "required": [KEY]}
    whole["additionalProperties"] = False
    for name in ("$schema", "$defs", "definitions"):
        if name in inner:
            whole[name] = inner.pop(name)
    if elsewhere := sorted(_references(inner) | _references({**whole, "properties": {}})):
        raise ToolDefinitionError(
            f"returns: a schema whose type is not 'object' may refer to its '$defs' only, not to {elsewhere[0]!r}"
        )
    return whole


def _references(node: Any) -> set[str]:
    """References in a schema that lead anywhere but into the definitions at its top."""
    if isinstance(node, list):
        return {found for one in cast("list[Any]", node) for found in _references(one)}
    if not isinstance(node, Mapping):
        return set()
    fields = cast("Mapping[str, Any]", node)
    own = fields.get("$ref")
    strange = isinstance(own, str) and own.startswith("#") and not own.startswith(("#/$defs/", "#/definitions/"))
    found = {found for one in fields.values() for found in _references(one)}
    return found | {cast("str", own)} if strange else found


def _written(schema: Mapping[str, Any]) -> str:
    try:
        return msgspec.json.encode(schema).decode()
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"returns: this JSON Schema cannot be written as JSON: {error}") from error
