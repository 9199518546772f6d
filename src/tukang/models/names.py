"""From a name to a model: `openai:gpt-4o-mini`, `local`, `scripted:replies.jsonl`.

The only file that knows all providers. Each is imported when it is asked for, so that nobody pays for what they do not use.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping

import msgspec
from dotenv import find_dotenv, load_dotenv

from tukang.errors import ConfigurationError
from tukang.models.base import Model

DEFAULT_OPENAI_MODEL = "gpt-4o-mini"
"""What is used when a key is set and no model is named."""

DEFAULT_ANTHROPIC_MODEL = "claude-sonnet-4-5"
"""What `anthropic:` alone means where ANTHROPIC_MODEL is not set."""


class Choice(msgspec.Struct, frozen=True):
    """A model and, in one sentence, why it was chosen."""

    model: Model
    why: str


def choose(model: str | Model | None = None) -> Choice:
    """The model for a name, for a model, or for nothing said.

    When nothing is said: `OPENAI_MODEL` if `OPENAI_API_KEY` or `OPENAI_BASE_URL` is set, else the local model. Variables are
    also read from a `.env` file in the working directory or above it; the real environment comes first.

    Raises:
        ConfigurationError: the name is not known, or the provider it names is not configured.
    """
    load_dotenv(find_dotenv(usecwd=True))
    if model is None:
        return _unnamed()
    if not isinstance(model, str):
        return Choice(model, "it was passed as an object")
    return Choice(_named(model), "it was asked for by name")


# Servers that speak OpenAI's Chat Completions under a name of their own: where they are, and the variable with their key.
# `<NAME>_BASE_URL` says that one is somewhere else: a gateway, a mock.
_COMPATIBLE: Mapping[str, tuple[str, str]] = {
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
}


def _unnamed() -> Choice:
    configured = next((name for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL") if os.environ.get(name)), None)
    if configured is None:
        why = "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"
        try:
            return Choice(_local(""), why)
        except ConfigurationError as error:
            raise ConfigurationError(f"No model was named and {why}, so it would be the local one: {error}") from error
    named = os.environ.get("OPENAI_MODEL")
    why = f"{configured} is set" + ("" if named else f" and OPENAI_MODEL is not, so the default {DEFAULT_OPENAI_MODEL}")
    return Choice(_openai(""), why)


def _named(name: str) -> Model:
    provider, _, rest = name.partition(":")
    if provider in _COMPATIBLE:
        return _compatible(provider, rest)
    make = _PROVIDERS.get(provider)
    known = [*_PROVIDERS, *_COMPATIBLE]
    if make is None:
        near = difflib.get_close_matches(provider, known, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigurationError(
            f"model {name!r}: there is no provider {provider!r}.{meant} "
            f"A model is named 'provider:model', with one of: {', '.join(known)}"
        )
    return make(rest)


def _compatible(provider: str, model: str) -> Model:
    from tukang.models.openai_chat import OpenAIChat

    address, variable = _COMPATIBLE[provider]
    elsewhere = os.environ.get(f"{provider.upper()}_BASE_URL")
    key = os.environ.get(variable, "")
    if not model or not (key or elsewhere):
        missing = "name a model after the colon" if not model else f"set {variable}"
        raise ConfigurationError(f"model '{provider}:{model}': {missing}")
    return OpenAIChat(
        model,
        base_url=elsewhere or address,
        api_key=key,
        name=f"{provider}:{model}",
        variables=provider.upper(),
    )


def _openai(model: str) -> Model:
    from tukang.models.openai_chat import OpenAIChat

    return OpenAIChat(model or os.environ.get("OPENAI_MODEL") or DEFAULT_OPENAI_MODEL)


def _responses(model: str) -> Model:
    from tukang.models.openai_responses import OpenAIResponses

    return OpenAIResponses(model or os.environ.get("OPENAI_MODEL") or DEFAULT_OPENAI_MODEL)


def _anthropic(model: str) -> Model:
    from tukang.models.anthropic import AnthropicMessages

    return AnthropicMessages(model or os.environ.get("ANTHROPIC_MODEL") or DEFAULT_ANTHROPIC_MODEL)


def _ollama(model: str) -> Model:
    from tukang.models.ollama import Ollama

    return Ollama(model)


def _gemini(model: str) -> Model:
    from tukang.models.gemini import Gemini

    return Gemini(model)


def _bedrock(model: str) -> Model:
    from tukang.models.bedrock_converse import BedrockConverse

    return BedrockConverse(model)


def _bedrock_invoke(model: str) -> Model:
    from tukang.models.bedrock_invoke import BedrockInvoke

    return BedrockInvoke(model)


def _bedrock_responses(model: str) -> Model:
    from tukang.models.bedrock_responses import bedrock_responses

    return bedrock_responses(model)


def _local(path: str) -> Model:
    from tukang.models.local import LocalModel

    return LocalModel(path=path or None)


def _scripted(path: str) -> Model:
    from tukang.models.scripted import Scripted

    return Scripted.from_file(path)


def _recorded(path: str) -> Model:
    from tukang.models.recorded import Recorded

    return Recorded.replay(path)


_PROVIDERS: Mapping[str, Callable[[str], Model]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "ollama": _ollama,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "bedrock-invoke": _bedrock_invoke,
    "bedrock-responses": _bedrock_responses,
    "local": _local,
    "scripted": _scripted,
    "recorded": _recorded,
}
