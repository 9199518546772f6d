"""A tool's parameters from a JSON Schema that its author wrote, beside a function that should fit it.

What the schema says is checked by `json_schema`; here stands only whether the function fits it. The function gets plain JSON
values by keyword.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import ENOUGH, Complaint, unknown
from tukang.tools.context import CallContext
from tukang.tools.json_schema import compiled, complaints
from tukang.tools.json_text import decode
from tukang.tools.names import nearest
from tukang.tools.signature import Signature, bind


class DeclaredParameters:
    """The parameters of a function whose contract is a schema written by hand."""

    def __init__(self, name: str, schema: Mapping[str, Any], signature: Signature) -> None:
        """Compile the schema and hold the function against it.

        Raises:
            ToolDefinitionError: the schema is wrong, or the function does not fit it.
        """
        self.schema = schema
        self._signature = signature
        self._validator = compiled(dict(schema), f"tool {name!r}")
        _must_fit(name, schema, signature)
        known = cast("Mapping[str, Any]", schema.get("properties", {}))
        # a function without **kwargs cannot take what the schema does not name, whatever the schema says
        self._only = None if signature.takes_any else frozenset(known)

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        """What is wrong with arguments; empty when they fit."""
        found = complaints(self._validator, arguments, self.schema, len(text))
        told = {complaint.path for complaint in found}
        for key in arguments:
            if len(found) >= ENOUGH:
                break
            if self._only is not None and key not in self._only and (key,) not in told:
                found.append(unknown((), key, self._only))
        return found

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The values to call the function with."""
        return bind(self._signature, decode(text), context)


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
