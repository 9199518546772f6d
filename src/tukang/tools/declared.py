"""A tool's parameters from a JSON Schema that its author wrote, beside a function that should fit it.

jsonschema-rs checks; the schema is compiled once, formats are on, and nothing is ever fetched. The function gets plain JSON
values by keyword.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import jsonschema_rs

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import Complaint, missing, refused, shown, unknown
from tukang.tools.context import CallContext
from tukang.tools.json_text import decode
from tukang.tools.names import nearest
from tukang.tools.signature import Signature, bind

_GIVEN = "<given>"
"""Stands in jsonschema-rs's messages for the value, which we show shortened."""


class DeclaredParameters:
    """The parameters of a function whose contract is a schema written by hand."""

    def __init__(self, name: str, schema: Mapping[str, Any], signature: Signature) -> None:
        """Compile the schema and hold the function against it.

        Raises:
            ToolDefinitionError: the schema is wrong, or the function does not fit it.
        """
        self.schema = schema
        self._signature = signature
        self._validator = _compiled(name, schema)
        _must_fit(name, schema, signature)
        known = cast("Mapping[str, Any]", schema.get("properties", {}))
        # a function without **kwargs cannot take what the schema does not name, whatever the schema says
        self._only = None if signature.takes_any else frozenset(known)

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:  # noqa: ARG002
        """What is wrong with arguments; empty when they fit."""
        found = [c for error in self._validator.iter_errors(arguments) for c in _complaints(error, self.schema)]
        told = {complaint.path for complaint in found}
        for key in arguments:
            if self._only is not None and key not in self._only and (key,) not in told:
                found.append(unknown((), key, self._only))
        return found

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The values to call the function with."""
        return bind(self._signature, decode(text), context)


def _compiled(name: str, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(dict(schema), validate_formats=True, offline=True, mask=_GIVEN)
    except jsonschema_rs.ValidationError as error:
        path = "/".join(str(step) for step in error.instance_path) or "the schema itself"
        reason = error.message.replace(_GIVEN, shown(error.instance), 1)
        raise ToolDefinitionError(f"tool {name!r}: its JSON Schema is wrong at {path}: {reason}") from None
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"tool {name!r}: its JSON Schema cannot be used: {error}") from error


def _must_fit(name: str, schema: Mapping[str, Any], signature: Signature) -> None:
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    takes = {parameter.name: parameter for parameter in signature.parameters}
    for key in properties:
        if key not in takes and not signature.takes_any:
            raise ToolDefinitionError(
                f"tool {name!r}: its schema has the parameter {key!r}, but {signature.label} does not take it"
                f"{_near(key, takes)}"
            )
    for key, parameter in takes.items():
        if key not in properties:
            raise ToolDefinitionError(
                f"tool {name!r}: {signature.label} takes {key!r}, but its schema has no such parameter"
                f"{_near(key, properties)}; name it in the schema, or bind it with functools.partial"
            )
        if parameter.required and key not in required:
            raise ToolDefinitionError(
                f"tool {name!r}: {signature.label} needs {key!r}, but its schema does not require it: add it to "
                "'required', or give the function a default"
            )
    for key in required:
        if key not in properties and not signature.takes_any:
            raise ToolDefinitionError(
                f"tool {name!r}: its schema requires {key!r}, which is not among its properties{_near(key, properties)}"
            )


def _near(name: str, known: Mapping[str, Any]) -> str:
    close = nearest(name, known, most=1)
    return f"; the nearest is {close[0]!r}" if close else ""


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
    kind = cast("Any", error.kind)
    if kind.name == "enum":
        return "should be one of " + ", ".join(str(option) for option in cast("list[Any]", kind.options)[:20])
    if kind.name in ("anyOf", "oneOf") and (inner := cast("list[list[Any]]", kind.context)):
        reasons = dict.fromkeys(_reason(branch[0]) for branch in inner if branch)
        return ", or ".join(list(reasons)[:3]) or "fits more than one of the alternatives"
    return error.message.replace(_GIVEN, "it", 1)
