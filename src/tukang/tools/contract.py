"""What a model sees of a tool: its name, its description and the JSON Schema of its arguments.

A contract is a value. It knows neither the function behind it nor how that may run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.errors import ToolDefinitionError

LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""Names that every provider takes as they are: letters, digits, `_` and `-`, at most 64, not beginning with a digit."""


class Defined(msgspec.Struct, frozen=True):
    """That a tool is one which models were trained on, in the form their provider gave it: where such a model is asked, its
    adapter sends that form in place of the contract. To any other model it is a tool like any other.

    Args:
        kind: which: `bash`, `editor`, `memory`, `computer`.
        options: what of it is the host's to say, in neutral words: the size of a screen (`width`, `height`, in pixels).
    """

    kind: str
    options: Mapping[str, int] = {}


class Contract(msgspec.Struct, frozen=True, dict=True):
    """A tool as a model sees it.

    Args:
        name: see `LEGAL_NAME`.
        description: what the tool does and when to use it; the model reads it as a prompt.
        parameters: a JSON Schema of type object.
        defined: see `Defined`.

    Raises:
        ToolDefinitionError: the name is not legal, or the schema does not describe an object.

    The instance dictionary holds bytes an adapter encoded the contract to, as in `Message`.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    defined: Defined | None = None

    def __post_init__(self) -> None:
        if not LEGAL_NAME.fullmatch(self.name):
            raise ToolDefinitionError(
                f"tool name {self.name!r} is not legal: use letters, digits, '_' and '-', at most 64, not a digit first; "
                "tool(…, name=…) gives it another"
            )
        if self.parameters.get("type") != "object":
            raise ToolDefinitionError(
                f"tool {self.name!r}: the schema of its parameters must have type 'object', "
                f"not {self.parameters.get('type')!r}"
            )

    @property
    def digest(self) -> str:
        """A short hash of all the model sees: it tells a replay whether the tool has changed since."""
        seen = [self.name, self.description, self.parameters, *((self.defined,) if self.defined else ())]
        body = msgspec.json.encode(seen, order="deterministic")
        return hashlib.sha256(body).hexdigest()[:16]
