"""A schema in OpenAI's strict mode, in which the server itself makes sure that the arguments follow it.

Pure functions over plain data; they know no request. A schema given in is never changed. Strict mode is used only where what
it enforces is what was declared, but for one thing that is undone (`openai_undoing`): a property that may be left out must
be required there, so it becomes nullable. Where null would be ambiguous, or something that says what is valid has no
place, the schema is not strict; its tool goes without, and the others keep it.

Source: https://platform.openai.com/docs/guides/structured-outputs (supported schemas), and the refusals of the API itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import msgspec

from tukang.models.openai_schemas import (
    MAX_DEPTH,
    Schema,
    Work,
    definition,
    mapping,
    nodes,
    plain_schema,
    sequence,
)
from tukang.models.openai_undoing import Forced
from tukang.tools.contract import Contract

MAX_PROPERTIES = 5000
MAX_ENUM_VALUES = 1000
MAX_NAME_CHARACTERS = 120_000
"""Limits of strict mode over a whole schema: properties, enum values, characters of all names."""

REFUSED_SCHEMA = re.compile(r"Invalid schema for function '([A-Za-z0-9_-]+)'")
"""How OpenAI says that it cannot take the schema of a tool, which then goes without strict mode."""

_KEYWORDS = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"),
        *("$ref", "$defs", "definitions", "description", "title", "pattern", "format"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
_TOLD = ("default", "examples")
_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])


class Form(msgspec.Struct, frozen=True):
    """How a schema is sent.

    Args:
        schema: it.
        strict: whether it is one of strict mode.
        forced: what has to be undone in the arguments; None for nothing.
    """

    schema: Schema
    strict: bool
    forced: Forced | None = None


class Strictness(Protocol):
    """What is known of a server's strict mode: whether to use it, and for which tools it refused it."""

    @property
    def strict(self) -> bool: ...

    @property
    def not_strict(self) -> frozenset[str]: ...


def goes_strict(contract: Contract, server: Strictness) -> bool:
    """Whether a tool is sent in strict mode, if its schema allows it."""
    return server.strict and contract.name not in server.not_strict


def tool_form(contract: Contract, server: Strictness) -> Form:
    """How the schema of a tool is sent: strict where the server has it and the schema allows it, each tool alone."""
    wanted = goes_strict(contract, server)
    kept_as = f"openai_strict/{wanted:d}"
    form: Form | None = vars(contract).get(kept_as)
    if form is None:
        declared = contract.parameters
        form = (strict_schema(declared, optional=True) or strict_schema(declared)) if wanted else None
        form = form or Form(plain_schema(declared), strict=False)
        vars(contract)[kept_as] = form
    return form


def forced_by(tools: Sequence[Contract], server: Strictness) -> dict[str, Forced]:
    """What has to be undone in the arguments of these tools, by their names."""
    if not server.strict:
        return {}
    forms = ((contract.name, tool_form(contract, server).forced) for contract in tools)
    return {name: forced for name, forced in forms if forced is not None}


def strict_schema(schema: Mapping[str, Any], *, optional: bool = False) -> Form | None:
    """The schema as strict mode wants it, or None where strict mode would accept something else than was declared.

    It is allowed where every object is closed or may be closed (`additionalProperties` is not given), and only supported
    keywords occur. A reference with words beside it is put in place; `$schema` is left out; a default and examples are told
    in words.

    Args:
        schema: a JSON Schema whose type is `object`.
        optional: whether a property may be optional, to be undone in what the model writes.
    """
    work = _Strict(schema, optional=optional)
    try:
        made, forced = work.node(schema, 0, top=True)
        work.check_unions()
    except _NotStrict:
        return None
    all_nodes = list(nodes(made))
    names = [name for node in all_nodes for name in mapping(node.get("properties"))]
    values = [value for node in all_nodes for value in sequence(node.get("enum"))]
    definitions = [name for key in ("$defs", "definitions") for name in mapping(made.get(key))]
    characters = sum(len(str(one)) for one in (*names, *values, *definitions))
    fits = len(names) <= MAX_PROPERTIES and len(values) <= MAX_ENUM_VALUES and characters <= MAX_NAME_CHARACTERS
    return Form(made, strict=True, forced=forced or None) if fits else None


class _NotStrict(Exception):
    """This schema cannot be said in strict mode."""


_Made = tuple[Schema, Forced | None]
"""A node in strict mode, and what is forced in it; None for a plain value."""


class _Strict:
    """The work of `strict_schema`."""

    def __init__(self, root: Mapping[str, Any], *, optional: bool) -> None:
        self._work = Work(root)
        self._optional = optional
        self._by_reference: dict[str, Forced] = {"#": Forced()}
        self._unions: list[list[Forced]] = []

    def check_unions(self) -> None:
        """A value of a union does not say which of its schemas it follows: nothing may be forced in one of several."""
        if any(len(choices) > 1 and any(choices) for choices in self._unions):
            raise _NotStrict

    def node(self, node: Any, depth: int, *, into: Forced | None = None, top: bool = False) -> _Made:
        """A schema, and what is forced in it.

        Args:
            node: it.
            depth: how deep it stands.
            into: what is to hold what is forced, where references point at it.
            top: whether it is the whole schema.
        """
        if not isinstance(node, Mapping) or not self._work.spend():
            raise _NotStrict
        schema = _with_one_all_of(cast("Mapping[str, Any]", node))
        if top:
            schema.pop("$schema", None)
            into = self._by_reference["#"]
        if "$ref" in schema:
            target = definition(schema["$ref"], self._work.root)
            if target is None or depth > MAX_DEPTH:
                raise _NotStrict
            if len(schema) == 1:
                return schema, self._by_reference.setdefault(str(schema["$ref"]), Forced())
            del schema["$ref"]
            return self.node({**target, **schema}, depth + 1, into=into, top=top)
        _tell(schema)
        if depth > MAX_DEPTH or not _KEYWORDS.issuperset(schema) or (top and "anyOf" in schema):
            raise _NotStrict
        return self._inside(schema, depth, into, top)

    def _inside(self, schema: Schema, depth: int, into: Forced | None, top: bool) -> _Made:
        kind: Any = schema.get("type")
        kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
        if schema.get("format", "date") not in _FORMATS or "(?" in str(schema.get("pattern", "")):
            raise _NotStrict
        if kinds == [None] and "anyOf" not in schema:
            raise _NotStrict
        forced = Forced() if into is None else into
        choices: list[Forced] = []
        if "object" in kinds or "properties" in schema:
            self._object(schema, forced, depth, top)
            choices.append(forced)
        if "array" in kinds or "items" in schema:
            schema["items"], forced.items = self.node(schema.get("items"), depth + 1)
            choices = [forced]
        if "anyOf" in schema:
            made = [self.node(one, depth + 1) for one in sequence(schema["anyOf"])]
            schema["anyOf"] = [one for one, _ in made]
            choices += [inner for _, inner in made if inner is not None]
            self._unions.append(choices)
        self._definitions(schema, depth, top)
        return schema, choices[0] if choices else None

    def _object(self, schema: Schema, forced: Forced, depth: int, top: bool) -> None:
        properties = mapping(schema.get("properties"))
        required = set(map(str, sequence(schema.get("required"))))
        open_ended = schema.get("additionalProperties", False) is not False
        shapeless = "properties" not in schema and (top or "additionalProperties" not in schema)
        if open_ended or shapeless or not required <= set(properties):
            raise _NotStrict
        made: Schema = {}
        for name, one in properties.items():
            made[name], inner = self.node(one, depth + 1)
            if inner is not None:
                forced.inside[name] = inner
            if name not in required and self._must_force(one):
                forced.names.add(name)
                made[name] = _nullable(made[name])
        schema["properties"] = made
        schema["required"] = list(properties)
        schema["additionalProperties"] = False

    def _must_force(self, node: Any) -> bool:
        """Whether an optional property becomes nullable; not where null is what it is when it is left out."""
        if not self._optional:
            raise _NotStrict
        if not _takes_null(node, self._work.root):
            return True
        if mapping(node).get("default", msgspec.UNSET) is not None:
            raise _NotStrict  # null is a value of its own here: it cannot stand for "left out" as well
        return False

    def _definitions(self, schema: Schema, depth: int, top: bool) -> None:
        for key in ("$defs", "definitions"):
            if key not in schema:
                continue
            made: Schema = {}
            for name, one in mapping(schema[key]).items():
                pointer = f"#/{key}/{name.replace('~', '~0').replace('/', '~1')}"
                into = self._by_reference.setdefault(pointer, Forced()) if top else None
                made[name], inner = self.node(one, depth + 1, into=into)
                if self._optional and into is not None and inner not in (None, into):
                    raise _NotStrict  # another name for a reference or a choice: what is forced in it stands elsewhere
            schema[key] = made


def _with_one_all_of(node: Mapping[str, Any]) -> Schema:
    """A copy; an `allOf` of one is put in place."""
    schema = dict(node)
    only = sequence(schema.get("allOf"))
    if len(only) == 1 and isinstance(only[0], Mapping):
        del schema["allOf"]
        schema = {**cast("Mapping[str, Any]", only[0]), **schema}
    return schema


def _tell(schema: Schema) -> None:
    """Say in the description what strict mode has no keyword for and what does not decide what is valid."""
    told = {name: schema.pop(name) for name in _TOLD if name in schema}
    said = ", ".join(f"{name}: {msgspec.json.encode(one).decode()}" for name, one in told.items() if one is not None)
    if said:
        schema["description"] = f"{schema.get('description', '')} ({said})".strip()


def _nullable(schema: Schema) -> Schema:
    kinds: Any = schema.get("type")
    if not {"enum", "const", "$ref", "anyOf"} & set(schema):
        return {**schema, "type": [*(cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]), "null"]}
    inner = dict(schema)
    said = {"description": inner.pop("description")} if "description" in inner else {}
    choices = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    return {**said, "anyOf": [*choices, {"type": "null"}]}


def _takes_null(node: Any, root: Mapping[str, Any], depth: int = 0) -> bool:
    """Whether null is valid by a schema, or may be, where that is not easily told."""
    if not isinstance(node, Mapping) or depth > MAX_DEPTH:
        return node is not False
    schema = _with_one_all_of(cast("Mapping[str, Any]", node))
    if "$ref" in schema:
        target = definition(schema.pop("$ref"), root)
        return target is None or _takes_null({**target, **schema}, root, depth + 1)
    if "const" in schema:
        return schema["const"] is None
    if "enum" in schema and None not in sequence(schema["enum"]):
        return False
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return any(_takes_null(one, root, depth + 1) for one in sequence(schema[key]))
    kinds: Any = schema.get("type")
    return kinds is None or "null" in (cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds])
