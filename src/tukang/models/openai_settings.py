"""What Chat Completions and Responses say in the same words: structured output, and the key of the prompt cache.

Pure functions; they know no request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from tukang.errors import ConfigurationError
from tukang.models.openai_schemas import plain_schema, strict_schema

MOST_KEY_CHARACTERS = 64
"""How long a `prompt_cache_key` may be."""


def output_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`name`, `schema` and `strict` of a structured output: strict where the schema allows it.

    Args:
        schema: what the text of the reply must follow.

    Raises:
        ConfigurationError: it does not describe an object, and nothing else is taken.
    """
    if schema.get("type") != "object":
        raise ConfigurationError(
            f"returns: structured output must have type 'object' at the top, not {schema.get('type')!r}; "
            "put the value into a property of an object."
        )
    strict = strict_schema(schema)
    return {
        "name": "answer",
        "schema": plain_schema(schema) if strict is None else strict,
        "strict": strict is not None,
    }


def cache_key(conversation: str) -> str:
    """The key that sends the rounds of one conversation to the same cache."""
    if len(conversation) <= MOST_KEY_CHARACTERS:
        return conversation
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()
