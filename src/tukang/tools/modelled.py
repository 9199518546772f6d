"""A tool's parameters from one Pydantic model: the fields of the single model that a function takes.

The model is its author's own: its validators, aliases and configuration count. It is strict and closed like any tool's
parameters, unless its configuration says `extra` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError

from tukang.tools.complaints import Complaint, unknown
from tukang.tools.context import CallContext
from tukang.tools.docstrings import describe
from tukang.tools.failure import words
from tukang.tools.hinted import complaints_of, schema_of
from tukang.tools.signature import Signature, bind


def sole_model(signature: Signature) -> type[BaseModel] | None:
    """The model whose fields are the tool's parameters, if the function takes nothing else (but a `CallContext`)."""
    if len(signature.parameters) != 1 or signature.takes_any or not signature.parameters[0].required:
        return None
    hint = signature.parameters[0].annotation
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if not isinstance(hint, type) or not issubclass(hint, BaseModel) or hint.__pydantic_root_model__:
        return None
    return hint


class ModelledParameters:
    """The parameters of a function that takes one model."""

    def __init__(self, signature: Signature, model: type[BaseModel], descriptions: Mapping[str, str]) -> None:
        """Read the model.

        Args:
            signature: the function's.
            model: what it takes.
            descriptions: what the function's docstring says of fields; what a field says itself wins, what the model's own
                docstring says comes last.

        Raises:
            ToolDefinitionError: the model has no JSON Schema.
        """
        self._signature = signature
        self._parameter = signature.parameters[0].name
        self._model = model
        self.schema: Mapping[str, Any] = _described(schema_of(model, signature), model, descriptions)
        self._only = frozenset(_names(model, self.schema)) if model.model_config.get("extra") is None else None

    def complaints(self, arguments: dict[str, Any], text: str) -> list[Complaint]:
        """What is wrong with arguments; empty when they fit."""
        strange = [] if self._only is None else [key for key in arguments if key not in self._only]
        found = [unknown((), key, self.schema["properties"]) for key in strange]
        try:
            self._model.model_validate_json(text, strict=True)
        except ValidationError as error:
            found += complaints_of(error, arguments, self.schema)
        except BaseException as error:  # a validator of the user's, which may raise anything
            found.append(Complaint((), f"could not be checked: {words(error)}"))
        return found

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The model to call the function with; raises `pydantic.ValidationError` when the values do not fit after all."""
        values = {self._parameter: self._model.model_validate_json(text, strict=True)}
        return bind(self._signature, values, context)


def description_of(model: type[BaseModel]) -> str:
    """What the model's own docstring says the whole is for; empty when it has none of its own."""
    return describe(model.__dict__.get("__doc__")).description


def _described(schema: Mapping[str, Any], model: type[BaseModel], descriptions: Mapping[str, str]) -> Mapping[str, Any]:
    own = describe(model.__dict__.get("__doc__")).parameters
    properties = cast("Mapping[str, Mapping[str, Any]]", schema["properties"])
    names = {_alias(name, model): name for name in model.model_fields}
    described: dict[str, Any] = {}
    for key, member in properties.items():
        said = descriptions.get(key) or descriptions.get(names.get(key, key)) or own.get(names.get(key, key))
        described[key] = {**member, "description": said} if said and not member.get("description") else member
    return {**schema, "properties": described}


def _alias(name: str, model: type[BaseModel]) -> str:
    field = model.model_fields[name]
    alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
    return alias or name


def _names(model: type[BaseModel], schema: Mapping[str, Any]) -> set[str]:
    """Every name at the top that the model reads: those in the schema, and other ways to say them."""
    names = set(cast("Mapping[str, Any]", schema["properties"]))
    config = model.model_config
    if config.get("populate_by_name") or config.get("validate_by_name"):
        names.update(model.model_fields)
    for field in model.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names.update(choice for choice in field.validation_alias.choices if isinstance(choice, str))
    return names
