"""A tool's parameters from type hints: the JSON Schema the model sees, the check, and the Python values for the call.

Pydantic does all three, strictly: JSON has its own types, and a string is not a number because it looks like one. What
may be read differently is decided before, in `coercion`, by the very schema made here.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import Complaint, missing, refused, unknown
from tukang.tools.context import CallContext
from tukang.tools.failure import words
from tukang.tools.signature import Parameter, Signature, bind


class HintedParameters:
    """The parameters of a function whose type hints are the contract."""

    def __init__(self, signature: Signature, descriptions: Mapping[str, str]) -> None:
        """Build the model behind it.

        Raises:
            ToolDefinitionError: a hint has no JSON Schema, or names an alias.
        """
        if signature.takes_any:
            raise ToolDefinitionError(
                f"{signature.label} takes **kwargs, so its hints do not say what it takes: name the parameters, or "
                "pass (schema, function)"
            )
        self._signature = signature
        self._fields = {f"p{place}": parameter for place, parameter in enumerate(signature.parameters)}
        self._model = _model(signature, self._fields, descriptions)
        self.schema: Mapping[str, Any] = _schema(self._model, signature.label)

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        """What is wrong with arguments; empty when they fit."""
        try:
            self._model.model_validate_json(text, strict=True)
        except ValidationError as error:
            return _complaints(error, arguments, self.schema)
        except Exception as error:  # a validator of the user's
            return [Complaint((), f"could not be checked: {words(error)}")]
        return []

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The values to call the function with; raises `pydantic.ValidationError` when they do not fit after all."""
        model = self._model.model_validate_json(text, strict=True)
        given = model.model_fields_set
        values = {
            parameter.name: getattr(model, field)
            for field, parameter in self._fields.items()
            if field in given or isinstance(parameter.default, FieldInfo)
        }
        return bind(self._signature, values, context)


def _model(signature: Signature, fields: Mapping[str, Parameter], descriptions: Mapping[str, str]) -> type[BaseModel]:
    # fields have names of our own, because a parameter may have any name and a model's field may not
    definitions: dict[str, Any] = {
        field: _field(parameter, descriptions.get(parameter.name), signature.label)
        for field, parameter in fields.items()
    }
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **definitions)
    except (PydanticUserError, TypeError, ValueError) as error:
        raise ToolDefinitionError(f"{_culprit(signature)}: {_first_line(error)}") from error


def _field(parameter: Parameter, description: str | None, label: str) -> tuple[Any, Any]:
    hint, default = parameter.annotation, parameter.default
    try:
        own = [FieldInfo.from_annotation(hint), *([default] if isinstance(default, FieldInfo) else [])]
    except (PydanticUserError, TypeError):
        own = []  # reported with the parameter's name when the model is built
    if any(field.alias or field.validation_alias for field in own):
        raise ToolDefinitionError(f"parameter {parameter.name!r} of {label} has an alias: give it that name instead")
    words = [extra for extra in typing.get_args(hint)[1:] if typing.get_origin(hint) is Annotated]
    described = next((field.description for field in reversed(own) if field.description), None)
    described = described or next((word for word in words if isinstance(word, str)), description)
    if default is None:
        hint = typing.Union[hint, None]  # noqa: UP007, RUF100
    extra: dict[str, Any] = {"description": described} if described else {}
    return Annotated[hint, Field(alias=parameter.name, **extra)], ... if parameter.required else default


def _culprit(signature: Signature) -> str:
    for parameter in signature.parameters:
        try:
            TypeAdapter(parameter.annotation).json_schema()
        except (PydanticUserError, TypeError, ValueError):
            return f"parameter {parameter.name!r} of {signature.label} has a type hint without a JSON Schema"
    return f"the parameters of {signature.label} have no JSON Schema"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


class _Quiet(GenerateJsonSchema):
    """Pydantic's schema without the titles it makes up, and without a warning for a default that JSON cannot write."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _schema(model: type[BaseModel], label: str) -> Mapping[str, Any]:
    try:
        made = model.model_json_schema(by_alias=True, schema_generator=_Quiet)
    except PydanticUserError as error:
        raise ToolDefinitionError(f"{label} has a type hint without a JSON Schema: {_first_line(error)}") from error
    definitions = cast("dict[str, dict[str, Any]]", made.get("$defs", {}))
    for definition in definitions.values():
        definition.pop("title", None)  # the name of a class
    schema: dict[str, Any] = {"type": "object", "properties": made.get("properties", {})}
    if "required" in made:
        schema["required"] = made["required"]
    schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = definitions
    return schema


def _complaints(error: ValidationError, arguments: dict[str, Any], schema: Mapping[str, Any]) -> list[Complaint]:
    """One complaint for each place; the alternatives of a union are errors in the same place."""
    places: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False, include_context=False):
        path = _path(detail["loc"], arguments)
        if detail["type"] == "missing":
            path = (*path, detail["loc"][-1])
        places.setdefault(path, []).append(detail)
    return [_complaint(path, details, schema) for path, details in places.items()]


def _complaint(path: tuple[str | int, ...], details: list[ErrorDetails], schema: Mapping[str, Any]) -> Complaint:
    first = details[0]
    if first["type"] == "missing":
        return missing(path[:-1], path[-1])
    if first["type"] == "extra_forbidden" and len(path) == 1:
        return unknown((), str(path[0]), schema["properties"])
    reasons = dict.fromkeys(_reason(detail["msg"]) for detail in details)
    return refused(path, first["input"], ", or ".join(list(reasons)[:3]), schema)


def _path(location: Sequence[str | int], value: Any) -> tuple[str | int, ...]:
    """Pydantic's location without the names of union members and validators that it puts in between."""
    path: list[str | int] = []
    for step in location:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(step)
    return tuple(path)


def _reason(message: str) -> str:
    for prefix in ("Value error, ", "Assertion failed, ", "Input "):
        message = message.removeprefix(prefix)
    return message
