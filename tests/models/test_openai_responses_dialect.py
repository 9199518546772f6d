"""What is known beforehand of a server that speaks Responses, and what a refusal teaches."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tukang.models.openai_responses_dialect import Dialect, dialect_for, learn


@pytest.mark.parametrize(
    ("host", "model", "sealed", "back", "least"),
    [
        ("api.openai.com", "gpt-5.2", True, True, "none"),
        ("api.openai.com", "gpt-5-mini", True, True, "minimal"),
        ("api.openai.com", "o3", True, True, "low"),
        ("api.openai.com", "gpt-4o", False, False, None),
        ("api.openai.com", "gpt-5-chat-latest", False, False, None),
        ("openrouter.ai", "openai/gpt-5.6", True, True, "none"),
        ("bedrock-mantle.us-east-1.api.aws", "openai.gpt-5.5", True, True, "none"),
        ("localhost", "gpt-oss-20b", False, True, "none"),
        ("api.x.ai", "grok-4", True, True, "none"),
    ],
)
def test_what_is_known_of_a_model(host: str, model: str, sealed: bool, back: bool, least: str | None) -> None:
    dialect = dialect_for(host, model)
    assert (dialect.sealed, dialect.reasoning_back, dialect.least_effort) == (sealed, back, least)
    assert dialect.provider == ("responses" if host == "api.openai.com" else f"responses@{host}")


@pytest.mark.parametrize(
    ("complaint", "changed"),
    [
        ("The encrypted content could not be verified. code: invalid_encrypted_content", {"reasoning_back": False}),
        ("Reasoning input items can only be provided to a reasoning model", {"reasoning_back": False}),
        ("Encrypted content is not supported with this model.", {"sealed": False}),
        ("Your organization must be verified to generate reasoning summaries.", {"summary": False}),
        ("Unsupported parameter: 'temperature' is not supported with this model.", {"sampling": False}),
        ("Invalid 'temperature': decimal above maximum value.", {}),
        ("Unknown parameter: 'prompt_cache_key'", {"cache_key": False}),
        ("Unsupported parameter: 'store'", {"takes_store": False}),
        ("Unsupported value: 'none' is not supported; reasoning.effort", {"least_effort": "minimal"}),
        ("Items are not persisted when `store` is set to false", {}),
        ("Invalid schema for function 'store_order': …", {"not_strict": frozenset({"store_order"})}),
    ],
)
def test_a_refusal_teaches(complaint: str, changed: dict[str, Any]) -> None:
    dialect = Dialect(sealed=True, cache_key=True)
    assert learn(dialect, complaint) == replace(dialect, **changed)
