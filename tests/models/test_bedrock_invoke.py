"""Claude by InvokeModel: Anthropic's body and events in Bedrock's frames. The body itself is tested with `anthropic`."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import botocore.validate
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.anthropic_judge import accepted, in_order
from tests.models.bedrock_judge import service
from tests.models.bedrock_server import FRAMES, BedrockServer, frame
from tests.servers import Raw
from tests.sizes import examples
from tests.wire.conversations import LEFT_BEHIND, requests
from tests.wire.recordings import mcp_contracts
from tukang.conversation import user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, ModelRequest, Reply, Settings
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.tools.contract import Contract

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
HARGA = Contract("harga", "", {"type": "object", "properties": {}})


def chunk(**event: Any) -> bytes:
    return frame("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"})


STREAM = (
    chunk(
        type="message_start",
        message={"model": "claude", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}},
    )
    + chunk(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    + chunk(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Rp 5 🏠"})
    + chunk(type="content_block_stop", index=0)
    + chunk(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 4})
    + chunk(type="message_stop")
)
WHOLE = {
    "type": "message",
    "model": "claude",
    "content": [{"type": "text", "text": "Rp 5 🏠"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 4},
}


def ask(step: Raw, request: ModelRequest = ASK, **options: Any) -> tuple[Reply, BedrockServer]:
    async def once(model: BedrockInvoke) -> Reply:
        fold = Fold()
        async for event in model.stream(request):
            fold.add(event)
        assert fold.ended
        return fold.reply()

    with BedrockServer([step]) as server:
        model = BedrockInvoke(MODEL, base_url=server.base_url, region="us-west-2", token="rahasia-sekali", **options)
        return asyncio.run(once(model)), server


def failure(step: Raw) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(step)
    return caught.value


@pytest.mark.parametrize("size", [1, 7, 1000, len(STREAM)])
def test_a_stream_and_a_whole_reply_say_the_same(size: int) -> None:
    pieces = [STREAM[place : place + size] for place in range(0, len(STREAM), size)]
    streamed, server = ask(Raw(pieces, headers=FRAMES))
    assert (streamed.text, streamed.finish, streamed.usage.input, streamed.usage.output) == ("Rp 5 🏠", "stop", 9, 4)
    assert server.raw_paths[0].endswith("v1%3A0/invoke-with-response-stream")
    whole, server = ask(Raw([json.dumps(WHOLE).encode()]), stream=False)
    assert whole == streamed
    assert server.raw_paths[0].endswith("v1%3A0/invoke")


def test_the_body_is_anthropic_s_with_bedrock_s_fields() -> None:
    request = ModelRequest("Singkat.", ASK.messages, (HARGA,), settings=Settings(think="low"))
    _, server = ask(Raw([STREAM], headers=FRAMES), request)
    body = server.requests[0].body
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert body["anthropic_beta"] == ["interleaved-thinking-2025-05-14"]
    assert body["thinking"]["type"] == "enabled"
    assert not {"model", "stream"} & body.keys()


def test_claude_3_is_not_asked_to_think_between_calls() -> None:
    model = BedrockInvoke("us.anthropic.claude-3-7-sonnet-20250219-v1:0", region="us-west-2", token="x")
    request = ModelRequest("", ASK.messages, (HARGA,), settings=Settings(think="low"))
    assert "anthropic_beta" not in json.loads(model.encode(request))


def test_failures_inside_and_outside_of_frames() -> None:
    first = STREAM[: int.from_bytes(STREAM[:4])]
    inside = failure(Raw([first, frame("throttlingException", {"message": "slow"}, "exception")], headers=FRAMES))
    assert (inside.kind, inside.message, inside.retryable) == ("rate_limited", "slow", True)
    alone = failure(Raw([frame("modelTimeoutException", {"message": "long"}, "exception")], headers=FRAMES))
    assert (alone.kind, alone.message) == ("overloaded", "long")
    cut = failure(Raw([STREAM[: len(first) + 300]], headers=FRAMES))
    assert (cut.kind, cut.retryable) == ("bad_response", True)
    status = failure(Raw([b'{"message": "no"}'], status=403, headers={"x-amzn-ErrorType": "AccessDeniedException"}))
    assert (status.kind, status.message) == ("authentication", "no")
    said = failure(Raw([b'{"message": "odd"}']))
    assert said.message == "odd"


def test_other_makers_are_refused_at_construction() -> None:
    with pytest.raises(ConfigurationError, match="'bedrock:meta"):
        BedrockInvoke("meta.llama3-70b-instruct-v1:0")
    BedrockInvoke("arn:aws:bedrock:us-east-1:1:application-inference-profile/ab", behind=MODEL)


# ── the judges: Anthropic's own types for the body, botocore for what it stands in ───────────────────────────────────


def accepted_by_both(model: BedrockInvoke, request: ModelRequest) -> dict[str, Any]:
    body = model.encode(request)
    shape = service().operation_model("InvokeModelWithResponseStream").input_shape
    report = botocore.validate.ParamValidator().validate({"modelId": MODEL, "body": body}, shape)
    assert not report.has_errors(), report.generate_report()
    sent = json.loads(body)
    # Bedrock's own two fields, which stand for a header each; the model stands in the address.
    inner = {key: value for key, value in sent.items() if key not in ("anthropic_version", "anthropic_beta")}
    accepted({"model": MODEL, **inner})
    return sent


@given(requests(LEFT_BEHIND["anthropic"]), st.sampled_from([MODEL, "us.anthropic.claude-opus-4-6-v1"]))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_conversation_has_been_through_it_is_a_body_of_anthropic_s(
    request: ModelRequest, model: str
) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    in_order(accepted_by_both(BedrockInvoke(model, region="us-west-2", token="x"), request))


def test_every_real_tool_is_sent_in_a_legal_dialect() -> None:
    request = ModelRequest("", (user("?"),), tuple(mcp_contracts()))
    sent = accepted_by_both(BedrockInvoke(MODEL, region="us-west-2", token="x"), request)
    assert len(sent["tools"]) == 611
    assert all(tool["input_schema"]["type"] == "object" for tool in sent["tools"])
