"""What is known beforehand of a server that speaks Chat Completions, and what a refusal teaches."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tukang.models.openai_chat_dialect import Dialect, dialect_for, learn


@pytest.mark.parametrize(
    ("host", "model", "known"),
    [
        ("api.openai.com", "gpt-4o", {"provider": "openai", "strict": True, "most_tools": 128, "google_seal": False}),
        ("r.openai.azure.com", "x", {"provider": "openai@r.openai.azure.com", "strict": True, "cache_key": False}),
        ("openrouter.ai", "openai/gpt-5", {"provider": "openai@openrouter.ai", "strict": False, "most_tools": None}),
        ("generativelanguage.googleapis.com", "gemini-3-flash-preview", {"google_seal": True}),
        ("generativelanguage.googleapis.com", "gemini-flash-latest", {"google_seal": True}),
        ("generativelanguage.googleapis.com", "models/gemini-2.5-pro", {"google_seal": False}),
        ("api.inference.crusoecloud.com", "zai/GLM-5.2", {"thinking_field": "reasoning"}),
    ],
)
def test_what_is_known_of_a_server(host: str, model: str, known: dict[str, Any]) -> None:
    dialect = dialect_for(host, model)
    assert {name: getattr(dialect, name) for name in known} == known


@pytest.mark.parametrize(
    ("complaint", "changed"),
    [
        ("Extra inputs are not permitted: stream_options", {"usage_in_stream": False}),
        (
            "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            {"limit_field": "max_completion_tokens"},
        ),
        ("Tool call id must be a-z, A-Z, 0-9, with a length of 9.", {"call_ids": "nine"}),
        (
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got "
            "a string with length 100 instead.",
            {"call_ids": "forty"},
        ),
        ("Unexpected role 'user' after role 'tool'", {"user_after_tool": False}),
        ("Missing `reasoning_content` field in the assistant message", {"thinking_field": "reasoning_content"}),
        ("property 'reasoning_details' is unsupported", {"sealed_back": False}),
        ('Unknown name "extra_content": Cannot find field.', {"sealed_back": False}),
        ("Function call is missing a thought_signature in functionCall parts.", {"google_seal": True}),
        ("Invalid schema for function 'cari': 'format' is not permitted.", {"not_strict": frozenset({"cari"})}),
        ("Unknown parameter: 'tools[0].function.strict'.", {"strict": False}),
        ("Additional properties are not allowed ('strict' was unexpected)", {"strict": False}),
        ("Unsupported value: 'temperature' does not support 0.1 with this model.", {"sampling": False}),
        ("Invalid value for 'temperature'", {}),
    ],
)
def test_a_refusal_teaches(complaint: str, changed: dict[str, Any]) -> None:
    dialect = Dialect(strict=True)
    learned = learn(dialect, complaint)
    assert learned == replace(dialect, **changed)
    if "limit_field" not in changed:
        assert learn(learned, complaint) == learned, "the same refusal again is one that nothing is learned from"


def test_a_server_without_strict_mode_is_not_asked_for_it_again() -> None:
    assert learn(Dialect(), "Unknown parameter: 'strict'") == Dialect()
    assert learn(Dialect(), "Invalid schema for function 'cari'") == Dialect()
