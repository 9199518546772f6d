"""A tool's parameters from type hints: the JSON Schema the model sees, the check, and the Python values for the call.

Pydantic does all three, strictly: JSON has its own types, and a string is not a number because it looks like one. What
may be read differently is decided before, in `coercion`, by the very schema made here.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails, PydanticSerializationError
from typing_extensions import Doc

from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import ENOUGH, Complaint, missing, refused, unknown
from tukang.tools.context import CallContext
from tukang.tools.failure import words
from tukang.tools.hints import UnfitHintError, fit
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
        model = _model(signature, self._fields, descriptions)
        # what is given even where the model did not say it
        self._always = frozenset(
            field
            for field, parameter in self._fields.items()
            if parameter.required or isinstance(parameter.default, FieldInfo)
        )
        self.schema: Mapping[str, Any] = schema_of(model, signature)
        self._validate = model.__pydantic_validator__.validate_json  # what `model_validate_json` calls

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        """What is wrong with arguments; empty when they fit."""
        try:
            self._validate(text, strict=True)
        except ValidationError as error:
            return complaints_of(error, arguments, self.schema)
        except BaseException as error:  # a validator of the user's, which may raise anything
            return [Complaint((), f"could not be checked: {words(error)}")]
        return []

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The values to call the function with; raises `pydantic.ValidationError` when they do not fit after all."""
        model: BaseModel = self._validate(text, strict=True)
        given = self._always | model.model_fields_set
        values = {self._fields[field].name: value for field, value in vars(model).items() if field in given}
        return bind(self._signature, values, context)


def _model(signature: Signature, fields: Mapping[str, Parameter], descriptions: Mapping[str, str]) -> type[BaseModel]:
    # fields have names of our own, because a parameter may have any name and a model's field may not
    definitions: dict[str, Any] = {
        field: _field(parameter, descriptions.get(parameter.name, ""), signature.label)
        for field, parameter in fields.items()
    }
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **definitions)
    except (PydanticUserError, TypeError, ValueError) as error:
        raise ToolDefinitionError(_without_schema(signature, error)) from error


def _field(parameter: Parameter, description: str, label: str) -> tuple[Any, Any]:
    default = parameter.default
    try:
        hint = fit(parameter.annotation)
    except UnfitHintError as error:
        raise ToolDefinitionError(
            f"parameter {parameter.name!r} of {label}: {parameter.annotation!r} {error}; bind it with functools.partial, "
            "or take a name for it"
        ) from None
    try:
        own = [FieldInfo.from_annotation(hint), *([default] if isinstance(default, FieldInfo) else [])]
    except (PydanticUserError, TypeError):
        own = []  # reported with the parameter's name when the model is built
    if any(field.alias or field.validation_alias for field in own):
        raise ToolDefinitionError(f"parameter {parameter.name!r} of {label} has an alias: give it that name instead")
    described = _described(hint, own) or description
    if default is None:
        hint = typing.Union[hint, None]  # noqa: UP007, RUF100
    if parameter.required:  # as far as the function says
        default = next((_default(field) for field in own if not field.is_required()), ...)
    extra: dict[str, Any] = {"description": described} if described else {}
    return Annotated[hint, Field(alias=parameter.name, **extra)], default


def _default(field: FieldInfo) -> Any:
    """What `Annotated[…, Field(default=…)]` says."""
    return Field(default_factory=field.default_factory) if field.default_factory else field.default


def _described(hint: Any, own: Sequence[FieldInfo]) -> str:
    """What the hint itself says of the parameter: `Field(description=…)`, a plain string, or a `Doc` in its `Annotated`."""
    extras = typing.get_args(hint)[1:] if typing.get_origin(hint) is Annotated else ()
    said = [
        *(field.description for field in reversed(own)),
        *(extra for extra in extras if isinstance(extra, str)),
        *(extra.documentation for extra in extras if isinstance(extra, Doc)),
    ]
    return next((text for text in said if text), "")


def _without_schema(signature: Signature, error: Exception) -> str:
    """That a parameter cannot be described to a model, which one, and why."""
    reason = first_line(error).partition(" Set `arbitrary_types_allowed")[0].rstrip(".")
    for parameter in signature.parameters:
        try:
            TypeAdapter(fit(parameter.annotation)).json_schema()
        except (PydanticUserError, TypeError, ValueError):
            return (
                f"parameter {parameter.name!r} of {signature.label} has a type hint without a JSON Schema ({reason}): "
                "take a type that Pydantic knows, such as a model, a dataclass, a TypedDict, or a plain type"
            )
    return f"the parameters of {signature.label} have no JSON Schema: {reason}"


def first_line(error: Exception) -> str:
    """What an error says before it explains itself."""
    return str(error).partition("\n")[0]


class QuietSchema(GenerateJsonSchema):
    """Pydantic's schema without the titles it makes up, and without a warning for a default that JSON cannot write."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def encode_default(self, dft: Any) -> Any:
        made = super().encode_default(dft)
        if isinstance(made, float) and not math.isfinite(made):  # JSON has no such number
            raise PydanticSerializationError("not finite")
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def schema_of(model: type[BaseModel], signature: Signature) -> Mapping[str, Any]:
    """The JSON Schema of a model as a tool's parameters: an object, closed unless the model is open, without made-up titles.

    Raises:
        ToolDefinitionError: it has none; a parameter is to blame.
    """
    try:
        made = model.model_json_schema(by_alias=True, schema_generator=QuietSchema)
    except PydanticUserError as error:
        raise ToolDefinitionError(_without_schema(signature, error)) from error
    definitions = cast("dict[str, dict[str, Any]]", made.get("$defs", {}))
    if "$ref" in made:  # a model that contains itself is one of its own definitions
        made = {**definitions[str(made["$ref"]).rpartition("/")[2]]}
    for definition in definitions.values():
        definition.pop("title", None)  # the name of a class
    schema: dict[str, Any] = {"type": "object", "properties": made.get("properties", {})}
    if "required" in made:
        schema["required"] = made["required"]
    schema["additionalProperties"] = made.get("additionalProperties", False)
    if definitions:
        schema["$defs"] = definitions
    return schema


def complaints_of(error: ValidationError, arguments: dict[str, Any], schema: Mapping[str, Any]) -> list[Complaint]:
    """What Pydantic found wrong, one complaint for each place: the alternatives of a union are errors in the same place."""
    places: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False, include_context=False):
        path = _path(detail["loc"], arguments)
        if detail["type"] == "missing":
            path = (*path, detail["loc"][-1])
        places.setdefault(path, []).append(detail)
    return [_complaint(path, details, schema) for path, details in islice(places.items(), ENOUGH)]


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
