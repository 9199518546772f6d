"""The adapter against a server on this machine: what goes over the wire, what comes back, what a failure is called; and boto3
beside it, as a client of the same server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.session
import pytest

from tests.models.bedrock_server import FRAMES, BedrockServer, delta, end, frame, start, stop
from tests.servers import Raw, Received
from tukang.conversation import user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, ModelRequest, Reply, Settings
from tukang.models.bedrock_converse import BedrockConverse
from tukang.models.names import choose

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PATH = "/v1/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
TOKEN = "bedrock-api-key-very-secret"
SECRET = "wJalrXUtnFEMI-very-secret"
SESSION = "session-token-very-secret"
STREAM = Raw([delta(0, text="Rp "), delta(0, text="5") + stop(0) + end()], headers=FRAMES)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_REGION", "ap-southeast-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)


def ask(
    script: Sequence[Raw], request: ModelRequest = ASK, times: int = 1, model: str = MODEL, **options: Any
) -> tuple[list[Reply], BedrockServer]:
    async def several(adapter: BedrockConverse) -> list[Reply]:
        replies: list[Reply] = []
        for _ in range(times):
            fold = Fold()
            async for event in adapter.stream(request):
                fold.add(event)
            assert fold.ended
            replies.append(fold.reply())
        return replies

    with BedrockServer(script) as server:
        adapter = BedrockConverse(model, base_url=server.base_url, **options)
        return asyncio.run(several(adapter)), server


def failure(step: Raw, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask([step], **options)
    assert SESSION not in f"{caught.value} {caught.value.hint}"
    return caught.value


def signed_right(received: Received, body: bytes, url: str) -> bool:
    """Whether botocore, given what arrived, comes to the same signature."""
    headers = {name.lower(): value for name, value in received.headers.items()}
    names = headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    again = botocore.awsrequest.AWSRequest("POST", url, {name: headers[name] for name in names}, body)
    again.context["timestamp"] = headers["x-amz-date"]
    signer = botocore.auth.SigV4Auth(
        botocore.credentials.ReadOnlyCredentials("AKIDEXAMPLE", SECRET, SESSION), "bedrock", "ap-southeast-1"
    )
    signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    return headers["authorization"].endswith(f"Signature={signature}")


def test_a_stream_signed_and_sent() -> None:
    [first, second], server = ask([STREAM, STREAM], times=2)
    assert (first.text, first.finish, first.usage.input) == ("Rp 5", "stop", 10)
    assert second == first
    assert server.raw_paths == [PATH + "-stream"] * 2
    sent = server.requests[0]
    assert sent.headers["X-Amz-Security-Token"] == SESSION
    assert "/ap-southeast-1/bedrock/aws4_request" in sent.headers["Authorization"]
    body = json.dumps(sent.body, separators=(",", ":"), ensure_ascii=False).encode()
    assert signed_right(sent, body, server.base_url.removesuffix("/v1") + PATH + "-stream")
    assert server.requests[0].connection == server.requests[1].connection


def test_a_whole_reply_and_a_token() -> None:
    whole = {"output": {"message": {"content": [{"text": "Rp 5"}]}}, "stopReason": "end_turn", "usage": {}}
    [reply], server = ask([Raw([json.dumps(whole).encode()])], stream=False, token=TOKEN)
    assert reply.text == "Rp 5"
    assert server.raw_paths == [PATH]
    assert server.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert "X-Amz-Date" not in server.requests[0].headers


def test_an_arn_is_one_step_of_the_path() -> None:
    _, server = ask([STREAM], model="arn:aws:bedrock:us-east-1:1:application-inference-profile/ab", behind=MODEL)
    [path] = server.raw_paths
    assert path.endswith(
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fab/converse-stream"
    )
    assert "cachePoint" in json.dumps(server.requests[0].body), "what is behind it was told"


def test_boto3_sends_and_reads_the_same() -> None:
    frames = [
        start(0, toolUse={"toolUseId": "tooluse_1", "name": "harga"}),
        delta(0, toolUse={"input": '{"id":'}) + delta(0, toolUse={"input": '"P1"}'}) + stop(0) + end("tool_use"),
    ]
    step = Raw(frames, headers=FRAMES)
    with BedrockServer([step, step]) as server:
        model = BedrockConverse(MODEL, base_url=server.base_url)

        async def mine() -> Reply:
            fold = Fold()
            async for event in model.stream(ASK):
                fold.add(event)
            return fold.reply()

        reply = asyncio.run(mine())
        client = botocore.session.Session().create_client(
            "bedrock-runtime",
            region_name="ap-southeast-1",
            endpoint_url=server.base_url,
            config=botocore.config.Config(retries={"max_attempts": 0}, proxies={}),
        )
        read: dict[str, Any] = {"input": ""}
        for event in client.converse_stream(modelId=MODEL, **server.requests[0].body)["stream"]:
            read |= event.get("contentBlockStart", {}).get("start", {}).get("toolUse", {})
            read["input"] += event.get("contentBlockDelta", {}).get("delta", {}).get("toolUse", {}).get("input", "")
            read["reason"] = event.get("messageStop", {}).get("stopReason", read.get("reason"))
            read |= event.get("metadata", {}).get("usage", {})
        client.close()
    ours, theirs = server.requests
    assert (theirs.body, server.raw_paths[1]) == (ours.body, server.raw_paths[0])
    [call] = reply.calls
    assert (call.name, call.arguments, call.wire_id) == (read["name"], read["input"], read["toolUseId"])
    assert (reply.raw_finish, reply.usage.input) == (read["reason"], read["inputTokens"])


# ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("status", "kind", "message", "means", "again", "hint"),
    [
        (429, "ThrottlingException:http://internal/", "slow down", "rate_limited", True, ""),
        (400, "ServiceQuotaExceededException", "quota", "rate_limited", False, "Service Quotas"),
        (503, "ServiceUnavailableException", "later", "overloaded", True, ""),
        (408, "ModelTimeoutException", "too long", "overloaded", True, ""),
        (424, "ModelErrorException", "the model failed", "bad_response", True, ""),
        (403, "AccessDeniedException", "no access", "authentication", False, "bedrock:InvokeModel"),
        (403, "UnrecognizedClientException", "bad token", "authentication", False, "AWS_BEARER_TOKEN_BEDROCK"),
        (403, "ExpiredTokenException", "expired", "authentication", True, "renew"),
        (404, "ResourceNotFoundException", "no model", "not_found", False, MODEL),
        (400, "ValidationException", "The provided model identifier is invalid.", "not_found", False, MODEL),
        (
            400,
            "ValidationException",
            "with on-demand throughput isn't supported",
            "bad_request",
            False,
            "inference profile",
        ),
        (418, "", "tea", "bad_request", False, ""),
    ],
)
def test_what_a_refusal_is_called(status: int, kind: str, message: str, means: str, again: bool, hint: str) -> None:
    headers = {"x-amzn-ErrorType": kind, "Retry-After": "7"}
    error = failure(Raw([json.dumps({"message": message}).encode()], status=status, headers=headers))
    assert (error.kind, error.retryable, error.message) == (means, again, message)
    assert (error.status, error.retry_after) == (status, 7.0)
    assert hint in (error.hint or "")


def test_a_refused_signature_does_not_show_what_was_signed() -> None:
    said = {"message": f"The Canonical String should have been x-amz-security-token:{SESSION}"}
    error = failure(
        Raw([json.dumps(said).encode()], status=403, headers={"x-amzn-ErrorType": "InvalidSignatureException"})
    )
    assert error.message.endswith("x-amz-security-token:…")


def test_what_a_model_refuses_is_learned() -> None:
    words = b'{"message": "Your request did not allow prompt caching."}'
    with BedrockServer([Raw([words], status=400), STREAM]) as server:
        model = BedrockConverse(MODEL, base_url=server.base_url)

        async def twice() -> str:
            with pytest.raises(ModelError) as caught:
                [event async for event in model.stream(ASK)]
            assert caught.value.retryable
            fold = Fold()
            async for event in model.stream(ASK):
                fold.add(event)
            return fold.reply().text

        assert asyncio.run(twice()) == "Rp 5"
    assert ["cachePoint" in json.dumps(one.body) for one in server.requests] == [True, False]


def test_a_connection_that_breaks() -> None:
    error = failure(Raw([delta(0, text="Rp ")], headers=FRAMES, cut=True))
    assert (error.kind, error.retryable) == ("connection", True)
    ended = frame("messageStop", {"stopReason": "end_turn"})
    [reply], _ = ask([Raw([delta(0, text="Rp 5") + ended], headers=FRAMES, cut=True)])
    assert reply.text == "Rp 5", "a whole reply is not lost with its counts"


def test_what_cannot_be_sent_is_said_before_and_in_a_turn() -> None:
    request = ModelRequest("", (user("a"),), settings=Settings(temperature=2))
    model = BedrockConverse(MODEL, token=TOKEN)
    with pytest.raises(ConfigurationError, match="0 to 1"):
        asyncio.run(model.prepare(request))

    async def send() -> None:
        async for _ in model.stream(request):
            pass

    with pytest.raises(ModelError) as caught:
        asyncio.run(send())
    assert caught.value.kind == "configuration"


def test_names() -> None:
    model = choose(f"bedrock:{MODEL}").model
    assert (model.name, model.provider) == (f"bedrock:{MODEL}", "bedrock:anthropic")
    assert choose(f"bedrock-invoke:{MODEL}").model.provider == "anthropic"
    assert TOKEN not in repr(BedrockConverse(MODEL, token=TOKEN))
    with pytest.raises(ConfigurationError, match="no model"):
        choose("bedrock:")
    with pytest.raises(ConfigurationError, match=r"bedrock:amazon\.nova"):
        choose("bedrock-invoke:amazon.nova-lite-v1:0")
