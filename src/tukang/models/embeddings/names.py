"""From a name to an embedder: `use`, `e5`, `use+e5`, `openai:text-embedding-3-small`, `ollama:nomic-embed-text`, …

The only file that knows all embedders; those that speak to a provider are imported when they are asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from dotenv import find_dotenv, load_dotenv

from tukang.errors import ConfigurationError
from tukang.models.embeddings.base import Embedder
from tukang.models.embeddings.shipped import DEFAULT, PACKAGED, at_hand

__all__ = ["DEFAULT", "at_hand", "embedder"]


def embedder(name: str | None = None) -> Embedder:
    """The embedder of a name; the default one if None.

    Variables are also read from a `.env` file in the working directory or above it; the real environment comes first.

    Args:
        name: `use`, `e5`, `use+e5`, or `provider:model` with one of the providers `openai`, `ollama`, `bedrock`.

    Raises:
        ConfigurationError: there is none of that name, its package is not installed, or its provider is not configured.
    """
    name = name or DEFAULT
    if name in PACKAGED:
        packaged = PACKAGED[name]()
        packaged.must_be_installed()
        return packaged
    provider, _, model = name.partition(":")
    make = _PROVIDERS.get(provider)
    if make is None or not model:
        known = [*PACKAGED, *(f"{one}:MODEL" for one in _PROVIDERS)]
        near = difflib.get_close_matches(name, known, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigurationError(f"embedder {name!r}: there is none of that name.{meant} Known: {', '.join(known)}")
    load_dotenv(find_dotenv(usecwd=True))
    return make(model)


def _openai(model: str) -> Embedder:
    from tukang.models.embeddings.openai import OpenAIEmbedder

    return OpenAIEmbedder(model)


def _ollama(model: str) -> Embedder:
    from tukang.models.embeddings.ollama import OllamaEmbedder

    return OllamaEmbedder(model)


def _bedrock(model: str) -> Embedder:
    from tukang.models.embeddings.bedrock import BedrockEmbedder

    return BedrockEmbedder(model)


_PROVIDERS: Mapping[str, Callable[[str], Embedder]] = {"openai": _openai, "ollama": _ollama, "bedrock": _bedrock}
