"""Everything that is sent to Converse is accepted by botocore: random conversations, real tools, real recorded requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.bedrock_judge import complaints
from tests.wire.conversations import requests, words
from tukang.conversation import Opaque, Part, ServerCall, ServerResult, Thinking, user
from tukang.models.base import ModelRequest
from tukang.models.bedrock_converse_encode import encode_request
from tukang.models.bedrock_dialect import dialect_for
from tukang.tools.contract import Contract

DATA = Path(__file__).parents[3] / "shared" / "data"
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


def own(provider: str) -> st.SearchStrategy[Part]:
    """Parts as Bedrock's own decoder makes them."""
    server = {"toolUse": {"toolUseId": "srv_2", "name": "nova_code", "type": "server_tool_use", "input": {}}}
    result = {"toolResult": {"toolUseId": "srv_2", "content": [{"json": {"ok": True}}], "status": "success"}}
    cited = {"citationsContent": {"content": [{"text": "kutipan"}], "citations": []}}
    return st.one_of(
        st.builds(Thinking, words, st.just("c2VhbA=="), st.just(provider), st.booleans()),
        st.builds(Thinking, words, st.none(), st.just(provider)),
        st.builds(
            ServerCall, st.just("srv_2"), st.just("nova_code"), st.just("{}"), st.just(provider), st.just(server)
        ),
        st.builds(ServerResult, st.just("srv_2"), st.just(provider), st.just(result)),
        st.builds(Opaque, st.just(provider), st.just(cited)),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(MODELS))
def test_whatever_happened_in_a_conversation_bedrock_takes_it(data: st.DataObject, model: str) -> None:
    dialect = dialect_for(model)
    request = data.draw(requests(own(dialect.provider)))
    if dialect.thinking == "none":
        request = replace(request, settings=replace(request.settings, think=None))
    body = encode_request(request, dialect)
    assert complaints(body) == []
    assert encode_request(request, dialect) == body, "what is kept of a message is not what it was"


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3], MODELS[4]])
def test_all_tools_of_real_servers_are_sent_legally(model: str) -> None:
    path = DATA / "mcp_tools" / "tools.jsonl"
    if not path.exists():
        pytest.skip(f"the recorded tools are not at hand ({path})")
    tools = [json.loads(line) for line in path.read_text().splitlines()]
    contracts = [
        Contract("x" + str(place), one.get("description") or "", {"type": "object", **one["inputSchema"]})
        for place, one in enumerate(tools)
    ]
    assert len(contracts) == 611
    body = encode_request(ModelRequest("", (user("Halo"),), tuple(contracts)), dialect_for(model))
    assert complaints(body) == []
    specs = [one["toolSpec"] for one in json.loads(body)["toolConfig"]["tools"] if "toolSpec" in one]
    assert len(specs) == 611
    strict = [spec for spec in specs if spec.get("strict")]
    assert len(strict) == (20 if model == MODELS[0] else 0), "as many as one request may have"
    assert all(spec["inputSchema"]["json"]["type"] == "object" for spec in specs)
    if model != MODELS[0]:
        assert '"$ref"' not in json.dumps(specs), "references are spelled out"


def test_the_judge_agrees_with_what_was_recorded() -> None:
    path = DATA / "wire" / "loops" / "bedrock_converse.jsonl"
    if not path.exists():
        pytest.skip(f"the recorded loops are not at hand ({path})")
    judged = 0
    for line in path.read_text().splitlines():
        for step in json.loads(line)["steps"]:
            body = {key: value for key, value in step["request"].items() if value}
            if step["response"]["status"] == 200 and "_omitted" not in json.dumps(body):
                judged += not complaints(json.dumps(body).encode())
    assert judged > 90, "the judge refuses what Bedrock took"
