"""What Chat Completions and Responses say in the same words: the key, structured output, and the key of the prompt cache.

Functions of their arguments, but for the key, which may stand in the environment; they know no request.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from yarl import URL

from tukang.errors import ConfigurationError
from tukang.models.exchange import checked_key
from tukang.models.openai_schemas import plain_schema
from tukang.models.openai_strict import strict_schema
from tukang.tools.contract import Contract

REFUSED_SAMPLING = re.compile(r"[Uu]nsupported (?:parameter|value): '(?:temperature|top_p)'")
"""How OpenAI says that a model which reasons takes no temperature; what comes of a wrong one is said in other words."""

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
        "schema": plain_schema(schema) if strict is None else strict.schema,
        "strict": strict is not None,
    }


def check_tools(tools: Sequence[Contract], most: int | None) -> None:
    """Refuse more tools than the server takes.

    Args:
        tools: those on offer.
        most: how many it takes; None where that is not known.

    Raises:
        ConfigurationError: names the first too many.
    """
    if most is not None and len(tools) > most:
        raise ConfigurationError(
            f"{len(tools)} tools are on offer and the server takes at most {most}; "
            f"{tools[most].name!r} is the first too many."
        )


def cache_key(conversation: str) -> str:
    """The key that sends the rounds of one conversation to the same cache."""
    if len(conversation) <= MOST_KEY_CHARACTERS:
        return conversation
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()


def on_azure(url: URL) -> bool:
    """Whether an address is Azure's."""
    return (url.host or "").endswith(".azure.com")


def key_headers(url: URL, api_key: str | None) -> tuple[str, dict[str, str]]:
    """The key for a server, and the header that carries it: `api-key` to Azure, else a bearer token.

    Args:
        url: the server's address; a name and a password in it go instead of a bearer token.
        api_key: the key; if None it is `OPENAI_API_KEY`, and for Azure `AZURE_OPENAI_API_KEY` before it.

    Raises:
        ConfigurationError: there is something in the key that no key has.
    """
    azure = on_azure(url)
    key = "" if api_key is None else checked_key(api_key, "api_key")
    if api_key is None:
        for variable in ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY") if azure else ("OPENAI_API_KEY",):
            key = key or checked_key(os.environ.get(variable, ""), variable)
    if not key or (url.user is not None and not azure):
        return key, {}
    return key, {"api-key": key} if azure else {"Authorization": f"Bearer {key}"}
