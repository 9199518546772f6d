"""Marks a parameter that the host fills with a secret: `key: Annotated[str, Secret("BANK_KEY")]`.

The model never sees such a parameter, and the secret never stands in the arguments, so never in a journal. What the function
returns is searched for it before the model reads it.
"""

from __future__ import annotations

import typing

import msgspec

from tukang.errors import ToolDefinitionError


class Secret(msgspec.Struct, frozen=True):
    """Which secret a parameter gets: its name where the host keeps them (`Agent(secrets=…)`)."""

    name: str


def secret_in(annotation: object, label: str) -> Secret | None:
    """The mark in a parameter's annotation, if there is one.

    Raises:
        ToolDefinitionError: it is on something other than a text, or it names nothing.
    """
    if typing.get_origin(annotation) is not typing.Annotated:
        return None
    kind, *marks = typing.get_args(annotation)
    found = next((mark for mark in marks if isinstance(mark, Secret)), None)
    if found is None and Secret in marks:
        raise ToolDefinitionError(f'{label}: write Secret("NAME"), with the name that the host keeps it under')
    if found is not None and (kind is not str or not found.name):
        raise ToolDefinitionError(f'{label}: a Secret is a text with a name: Annotated[str, Secret("NAME")]')
    return found
