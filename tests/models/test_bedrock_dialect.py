"""What is known of a model on Bedrock by its id, and what its refusals teach."""

from __future__ import annotations

from typing import Any

import pytest

from tukang.models.bedrock_dialect import dialect_for, learn

CLAUDE = dialect_for("us.anthropic.claude-sonnet-4-5-20250929-v1:0")


@pytest.mark.parametrize(
    ("model", "provider", "cache", "structured"),
    [
        ("anthropic.claude-v2:1", "bedrock:anthropic", "none", False),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", "bedrock:anthropic", "all", False),
        ("global.anthropic.claude-sonnet-4-6", "bedrock:anthropic", "all", True),
        (
            "arn:aws:bedrock:us-east-1:012345678901:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "bedrock:anthropic",
            "all",
            True,
        ),
        ("us.amazon.nova-micro-v1:0", "bedrock:amazon", "messages", False),
        ("amazon.titan-text-express-v1", "bedrock:amazon", "none", False),
        ("google.gemma-3-27b-it", "bedrock:google", "none", True),
        ("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/mi1d", "bedrock", "none", False),
    ],
)
def test_what_is_known_of_a_model(model: str, provider: str, cache: str, structured: bool) -> None:
    dialect = dialect_for(model)
    assert (dialect.provider, dialect.cache, dialect.structured) == (provider, cache, structured)


@pytest.mark.parametrize(
    ("complaint", "field", "value"),
    [
        ("This model doesn't support the toolConfig.toolChoice.any field. Remove it and try again.", "any_tool", False),
        ("This model doesn't support the toolConfig.toolChoice.tool field.", "one_tool", False),
        ("Conversation blocks and tool result blocks cannot be provided in the same turn.", "beside_results", False),
        ("You invoked an unsupported model or your request did not allow prompt caching.", "cache", "none"),
        ("This model doesn't support the outputConfig field.", "structured", False),
        ("This model doesn't support the status field. Remove status and try again.", "status", False),
        ("Something else entirely.", "any_tool", True),
    ],
)
def test_what_a_refusal_teaches(complaint: str, field: str, value: Any) -> None:
    assert getattr(learn(CLAUDE, complaint), field) == value
