"""A JSON Schema that somebody wrote: compiled once, then asked what is wrong with a value. jsonschema-rs does the work.

Drafts 4 to 2020-12, as `$schema` says, and 2020-12 where it says nothing. Formats are checked, and nothing is ever fetched: a
reference to another document is a fault of the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, cast

import jsonschema_rs

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import ENOUGH, Complaint, cut, missing, refused, shown, unknown

Validator = jsonschema_rs.Validator
Path = tuple[str | int, ...]

_GIVEN = "<given>"
"""Stands in jsonschema-rs's messages for the value, which we show shortened."""


def compiled(schema: Any, owner: str) -> Validator:
    """A schema, ready to check values.

    Args:
        schema: the schema, an object or a boolean.
        owner: whose it is, for the message: `tool 'cek_harga'`.

    Raises:
        ToolDefinitionError: the schema is wrong; the message names the place of the fault.
    """
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=True, offline=True, mask=_GIVEN)
    except jsonschema_rs.ValidationError as error:
        if isinstance(getattr(error.kind, "error", None), jsonschema_rs.ReferencingError):
            path, reason = _reference(schema, error.message)
        else:
            path, reason = tuple(error.instance_path), f"{shown(error.instance)} is not valid: {_reason(error)}"
        place = "/".join(str(step) for step in path) or "the schema itself"
        raise ToolDefinitionError(f"{owner}: its JSON Schema is wrong at {place}: {reason}") from None
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"{owner}: its JSON Schema cannot be used: {error}") from error


def complaints(validator: Validator, value: Any, schema: Mapping[str, Any], size: int) -> list[Complaint]:
    """What is wrong with a value; empty when it fits. Where there is more than `ENOUGH`, only the first.

    Args:
        validator: the compiled schema.
        value: decoded JSON.
        schema: what was compiled; it names what may be left out, and what a name may have been meant to be.
        size: characters of the value's text.
    """
    if size > ENOUGH and not validator.is_valid(value) and len(validator.evaluate(value).errors()) > ENOUGH:
        try:  # counting them is quick, listing them is not
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return list(_complaints(error, schema))
    found = chain.from_iterable(_complaints(error, schema) for error in validator.iter_errors(value))
    return list(islice(found, ENOUGH))


def _complaints(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> Iterator[Complaint]:
    path = tuple(error.instance_path)
    kind = cast("Any", error.kind)
    if kind.name == "required":
        yield missing(path, str(kind.property))
    elif kind.name in ("additionalProperties", "unevaluatedProperties"):
        known = cast("Mapping[str, Any]", {} if path else schema.get("properties", {}))
        yield from (unknown(path, key, known) for key in cast("list[str]", kind.unexpected))
    else:
        yield refused(path, error.instance, _reason(error), schema)


def _reason(error: jsonschema_rs.ValidationError) -> str:
    """Why, in words that end "… is not allowed: "."""
    kind = cast("Any", error.kind)
    match kind.name:
        case "enum":
            return "should be one of " + ", ".join(shown(option) for option in cast("list[Any]", kind.options)[:20])
        case "const":
            return f"should be {shown(kind.expected_value)}"
        case "anyOf" | "oneOf":
            return _of_alternatives(error, cast("list[list[jsonschema_rs.ValidationError]]", kind.context))
        case "falseSchema":
            return "nothing may stand here"
        case "contains":
            return "what must be among the items is not there, or not as often as it must"
        case "propertyNames":
            return f"one of its names is not allowed: {_first_line(error)}"
        case _:
            return _first_line(error).replace(_GIVEN, "it", 1)


def _of_alternatives(error: jsonschema_rs.ValidationError, branches: list[list[jsonschema_rs.ValidationError]]) -> str:
    """The first thing that is wrong with it as each alternative, and where, if that is further inside."""
    if not all(branches):
        return "fits more than one of the alternatives"
    here = len(error.instance_path)
    reasons: dict[str, None] = {}
    for branch in branches:
        inner = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in branch[0].instance_path[here:])
        reasons[f"{cut(inner.removeprefix('.'), 40)}: {_reason(branch[0])}" if inner else _reason(branch[0])] = None
    return ", or ".join(list(reasons)[:3])


def _first_line(error: jsonschema_rs.ValidationError) -> str:
    return error.message.partition("\n")[0]


def _reference(schema: Any, message: str) -> tuple[Path, str]:
    """Where the reference stands that leads nowhere, and why it does; the outermost place when it is not to be found."""
    path = next((path for path, named in _references(schema) if any(f"{it}'" in message for it in named)), ())
    if path[-1:] == ("$schema",):
        return path, "it names a dialect that is not known; take draft-07 or 2020-12"
    if "registry" in message:
        return path, f"it refers to another document, and nothing is fetched: put it under $defs ({cut(message, 200)})"
    return path, message


def _references(schema: Any) -> Iterator[tuple[Path, list[str]]]:
    """Where references stand, and what a message may call what it refers to: all of it, its document, or its place."""
    pending: list[tuple[Path, Any]] = [((), schema)]
    for path, node in pending:
        if isinstance(node, dict):
            for key, inner in cast("dict[str, Any]", node).items():
                if isinstance(inner, str) and key in ("$ref", "$dynamicRef", "$schema"):
                    document, _, place = inner.partition("#")
                    yield (*path, key), [it for it in (inner, document or place) if it]
                pending.append(((*path, key), inner))
        elif isinstance(node, list):
            pending.extend(((*path, place), inner) for place, inner in enumerate(cast("list[Any]", node)))
