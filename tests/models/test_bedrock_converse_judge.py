"""Everything that is sent to Converse is accepted by botocore: random conversations, real tools, real recorded requests."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.bedrock_judge import complaints
from tests.sizes import examples
from tests.wire.conversations import bedrock_parts, requests
from tests.wire.recordings import LOOPS, at_hand, mcp_contracts
from tukang.conversation import user
from tukang.models.base import ModelRequest
from tukang.models.bedrock_converse_encode import encode_request
from tukang.models.bedrock_dialect import dialect_for

MODELS = (
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
    "global.anthropic.claude-opus-4-6-v1",
    "us.amazon.nova-2-lite-v1:0",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "mistral.mistral-large-3-675b-instruct",
    "qwen.qwen3-32b-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(MODELS))
def test_whatever_happened_in_a_conversation_bedrock_takes_it(data: st.DataObject, model: str) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    dialect = dialect_for(model)
    request = data.draw(requests(bedrock_parts(dialect.provider)))
    if dialect.thinking == "none":
        request = replace(request, settings=replace(request.settings, think=None))
    body = encode_request(request, dialect)
    assert complaints(body) == []
    assert encode_request(request, dialect) == body, "what is kept of a message is not what it was"


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3], MODELS[4]])
def test_all_tools_of_real_servers_are_sent_legally(model: str) -> None:
    body = encode_request(ModelRequest("", (user("Halo"),), tuple(mcp_contracts())), dialect_for(model))
    assert complaints(body) == []
    specs = [one["toolSpec"] for one in json.loads(body)["toolConfig"]["tools"] if "toolSpec" in one]
    assert len(specs) == 611
    strict = [spec for spec in specs if spec.get("strict")]
    assert len(strict) == (20 if model == MODELS[0] else 0), "as many as one request may have"
    assert all(spec["inputSchema"]["json"]["type"] == "object" for spec in specs)
    if model != MODELS[0]:
        assert '"$ref"' not in json.dumps(specs), "references are spelled out"


def test_the_judge_agrees_with_what_was_recorded() -> None:
    path = at_hand(LOOPS / "bedrock_converse.jsonl")
    judged = 0
    for line in path.read_text().splitlines():
        for step in json.loads(line)["steps"]:
            body = {key: value for key, value in step["request"].items() if value}
            if step["response"]["status"] == 200 and "_omitted" not in json.dumps(body):
                judged += not complaints(json.dumps(body).encode())
    assert judged > 90, "the judge refuses what Bedrock took"
