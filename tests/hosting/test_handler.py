"""A toolbox as an AWS Lambda function: each shape of event, who is behind it, and what comes back."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import pytest

from tests.hosting.aws import COGNITO, CUSTOM, IAM, JWT, SHA, call, context, from_gateway, http1, http2, rpc
from tukang import CallContext, tool
from tukang.hosting import Grants, LambdaHandler, toolbox
from tukang.loop.permissions import Principal
from tukang.memory.keyed import MemoryLog
from tukang.tools.secret import Secret

KIRIM = "gudang:kirim"
KEY = "tukang/idempotency_key"


_OPEN: list[LambdaHandler] = []


def made(make: Any, **options: Any) -> LambdaHandler:
    """A handler that is closed when its test has ended."""
    _OPEN.append(LambdaHandler(make, **options))
    return _OPEN[-1]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


class Gudang:
    """A warehouse, and its function."""

    def __init__(self, **options: Any) -> None:
        self.did: list[str] = []
        self.made = 0
        self.handler = made(self._make, **{"approved": ["kirim"], **options})

    def _make(self) -> Any:
        self.made += 1
        tools = [
            tool(self.stok, effect="read"),
            tool(self.kirim, effect="write", needs=KIRIM),
            tool(self.hapus, effect="write"),
            tool(self.lama, effect="read"),
            tool(self.besar, effect="read"),
            tool(self.siapa, effect="read"),
        ]
        return toolbox(tools, name="gudang", secrets={"TOKEN": "hunter2-hunter2"})

    def stok(self, kode: str) -> dict[str, Any]:
        """Cek stok."""
        return {"kode": kode, "stok": 7}

    def kirim(self, kode: str, context: CallContext) -> str:
        """Kirim."""
        self.did.append(f"{kode} {context.idempotency_key}")
        return f"terkirim, {len(self.did)}"

    def hapus(self, kode: str) -> str:
        """Hapus."""
        self.did.append(f"hapus {kode}")
        return "terhapus"

    async def lama(self) -> int:
        """Lama."""
        await asyncio.sleep(60)
        return 1

    def besar(self) -> str:
        """Besar."""
        return "x" * 7_000_000

    def siapa(self, context: CallContext, token: Annotated[str, Secret("TOKEN")]) -> str:
        """Siapa."""
        return f"{context.context} {context.session} {token}"

    def __call__(self, event: Any, given: Any = None) -> Any:
        return self.handler(event, given or context())


def body(answer: Any) -> Any:
    assert answer["headers"]["Content-Type"] == "application/json"
    assert answer["isBase64Encoded"] is False
    return json.loads(answer["body"])


# ── Bedrock: the JSON-RPC request is the event ───────────────────────────────────────────────────────────────────────


def test_bedrock_lists_and_calls() -> None:
    gudang = Gudang()
    listed = gudang(rpc("tools/list"))
    assert listed["jsonrpc"] == "2.0"
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["stok", "hapus", "lama", "besar", "siapa"]
    assert listed["result"]["tools"][0]["inputSchema"]["required"] == ["kode"]
    called = gudang(call("stok", {"kode": "A"}))
    assert called["result"]["structuredContent"] == {"kode": "A", "stok": 7}
    assert json.loads(called["result"]["content"][0]["text"]) == {"kode": "A", "stok": 7}
    assert gudang.made == 1, "what is costly happens once for each instance"


def test_bedrock_is_told_what_there_is_not() -> None:
    gudang = Gudang()
    assert gudang(rpc("resources/list"))["error"]["code"] == -32601
    fault = json.loads(gudang(call("stokk", {"kode": "A"}))["result"]["content"][0]["text"])["error"]
    assert fault["kind"] == "unknown_tool"
    assert "stok" in fault["hint"]


def test_a_write_that_nobody_permitted_does_not_run() -> None:
    gudang = Gudang()
    result = gudang(call("hapus", {"kode": "A"}))["result"]
    assert result["isError"] is True
    assert "approved=['hapus']" in result["content"][0]["text"]
    assert gudang.did == []


def test_a_direct_caller_is_who_the_owner_says() -> None:
    gudang = Gudang(grants=Grants(direct=Principal("bedrock", [KIRIM])))
    assert "kirim" in {tool["name"] for tool in gudang(rpc("tools/list"))["result"]["tools"]}
    assert gudang(call("kirim", {"kode": "A"}))["result"]["structuredContent"] == {"result": "terkirim, 1"}
    nobody = Gudang()
    assert nobody(call("kirim", {"kode": "A"}))["result"]["isError"] is True
    assert nobody.did == []


# ── AgentCore Gateway ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_gateway_calls_a_tool_by_the_name_in_its_context() -> None:
    gudang = Gudang()
    assert gudang({"kode": "A"}, from_gateway("stok")) == {"kode": "A", "stok": 7}
    assert gudang({"kode": "A"}, from_gateway("stok", target="mcp_target")) == {"kode": "A", "stok": 7}


def test_the_gateway_s_faults_are_data() -> None:
    gudang = Gudang()
    assert gudang({"kode": 1}, from_gateway("stok"))["error"]["kind"] == "invalid_arguments"
    assert gudang({}, from_gateway("tidak_ada"))["error"]["kind"] == "unknown_tool"
    assert gudang({"kode": "A"}, from_gateway("hapus"))["error"]["kind"] == "refused"
    assert gudang.did == []


def test_the_gateway_s_session_is_the_conversation() -> None:
    gudang = Gudang(context=lambda principal: principal.id if principal else None)
    assert gudang({}, from_gateway("siapa")) == {"result": "None s-1 [secret]"}


def test_the_gateway_is_told_of_tools_in_its_own_few_words() -> None:
    @tool(effect="read")
    def cari(teks: str, batas: int | None = None, jenis: list[str] | None = None) -> dict[str, Any]:
        """Cari.

        Argumen:
            teks: apa
        """
        return {"teks": teks, "batas": batas, "jenis": jenis}

    schema = LambdaHandler(lambda: toolbox([cari])).tool_schema()
    assert schema == [
        {
            "name": "cari",
            "description": "Cari.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "teks": {"type": "string", "description": "apa"},
                    "batas": {"type": "integer"},
                    "jenis": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["teks"],
            },
        }
    ]


# ── HTTP: function URLs, HTTP APIs, REST APIs ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("http", [http1, http2])
def test_http_carries_the_protocol(http: Any) -> None:
    gudang = Gudang()
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = gudang(http(rpc("initialize", hello)))
    assert begun["statusCode"] == 200
    assert body(begun)["result"]["protocolVersion"] == "2025-06-18"
    noted = gudang(http({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert (noted["statusCode"], noted["body"]) == (202, "")
    assert body(gudang(http(rpc("ping"))))["result"] == {}
    assert body(gudang(http(call("stok", {"kode": "A"}))))["result"]["structuredContent"]["stok"] == 7


@pytest.mark.parametrize("http", [http1, http2])
@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ("{no", 400, -32700),
        ([rpc("ping")], 400, -32600),
        ({"id": 1}, 400, -32600),
        (None, 400, -32700),
        ("7", 400, -32600),
    ],
)
def test_what_is_no_request_is_refused(http: Any, sent: Any, status: int, code: int) -> None:
    answer = Gudang()(http(sent))
    assert answer["statusCode"] == status
    assert body(answer)["error"]["code"] == code


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_to_open(method: str) -> None:
    answer = Gudang()(http2(None, method=method))
    assert answer["statusCode"] == 405
    assert answer["headers"]["Allow"] == "POST"


def test_a_body_may_be_base64() -> None:
    event = http2(base64.b64encode(json.dumps(call("stok", {"kode": "A"})).encode()).decode()) | {
        "isBase64Encoded": True
    }
    assert body(Gudang()(event))["result"]["structuredContent"]["stok"] == 7


@pytest.mark.parametrize("made", [http1, http2])
@pytest.mark.parametrize(("said", "encoded"), [("%%%", True), ("é", True), ("[" * 100_000, False), (None, False)])
def test_a_body_that_cannot_be_read_is_an_http_answer(made: Any, said: str | None, encoded: bool) -> None:
    answer = Gudang()({**made("{}"), "body": said, "isBase64Encoded": encoded})
    assert (answer["statusCode"], body(answer)["error"]["code"]) == (400, -32700)


def test_a_version_that_is_not_spoken_is_said() -> None:
    answer = Gudang()(http2(rpc("ping"), headers={"MCP-Protocol-Version": "2099-01-01"}))
    assert answer["statusCode"] == 400
    assert "2025-11-25" in body(answer)["error"]["data"]["supported"]


@pytest.mark.parametrize(
    ("event", "grants", "sends"),
    [
        (lambda m: http2(m, JWT), Grants(), True),
        (lambda m: http2(m, {"jwt": {"claims": {"sub": "eve"}, "scopes": None}}), Grants(), False),
        (lambda m: http2(m, {"jwt": {"claims": {"sub": "x", "scp": [KIRIM]}}}), Grants(), True),
        (lambda m: http2(m, {"jwt": {"claims": {"sub": "x", "scope": f"[a {KIRIM}]"}}}), Grants(), True),
        (
            lambda m: http2(m, {"jwt": {"claims": {"sub": "eve", "scope": "a"}, "scopes": ["a", KIRIM]}}),
            Grants(),
            False,
        ),
        (lambda m: http2(m, JWT), Grants(trusted=False), False),
        (lambda m: http2(m, JWT), Grants(by_id={"budi": [KIRIM]}, trusted=False), True),
        (lambda m: http2(m, IAM), Grants(), False),
        (lambda m: http2(m, IAM), Grants(by_id={SHA: [KIRIM]}), True),
        (lambda m: http2(m, IAM), Grants(by_id={"arn:aws:sts::123456789012:assumed-role/Gudang/*": [KIRIM]}), True),
        (lambda m: http2(m, IAM), Grants(by_id={"arn:aws:sts::123456789012:assumed-role/Gud": [KIRIM]}), False),
        (lambda m: http2(m, {"lambda": CUSTOM}), Grants(), True),
        (lambda m: http2(m, {"lambda": {"scope": KIRIM}}), Grants(), False),
        (lambda m: http2(m), Grants(), False),
        (lambda m: http2(m), Grants(by_id={"*": [KIRIM]}), False),
        (lambda m: http2(m, headers={"authorization": "Bearer made-up", "x-scope": KIRIM}), Grants(), False),
        (lambda m: http2({**m, "requestContext": {"authorizer": JWT}, "authorizer": JWT}), Grants(), False),
        (lambda m: http1({**m, "requestContext": {"identity": {"userArn": SHA}}}), Grants(by_id={SHA: [KIRIM]}), False),
        (lambda m: http1(m, COGNITO), Grants(), True),
        (lambda m: http1(m, CUSTOM), Grants(), True),
        (lambda m: http1(m, identity={"userArn": SHA}), Grants(by_id={SHA: [KIRIM]}), True),
        (lambda m: http1(m, identity={"userArn": None}), Grants(by_id={"*": [KIRIM]}), False),
        (lambda m: http1(m), Grants(direct=Principal("bedrock", [KIRIM])), False),
    ],
)
def test_who_is_behind_an_http_request(event: Any, grants: Grants, sends: bool) -> None:
    gudang = Gudang(grants=grants)
    names = {tool["name"] for tool in body(gudang(event(rpc("tools/list"))))["result"]["tools"]}
    assert ("kirim" in names) is sends
    result = body(gudang(event(call("kirim", {"kode": "A"}))))["result"]
    assert result.get("isError", False) is not sends
    assert len(gudang.did) == int(sends)


def test_the_host_s_own_object_is_made_of_who_calls() -> None:
    gudang = Gudang(context=lambda principal: f"<{principal.id}>" if principal else "<nobody>")
    said = body(gudang(http2(call("siapa"), JWT, headers={"Mcp-Session-Id": "s-7"})))["result"]
    assert said["structuredContent"]["result"] == "<budi> budi/s-7 [secret]"


# ── keys, time, size, faults ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["meta", "header"])
def test_a_key_is_one_call(how: str) -> None:
    gudang = Gudang()

    def send(kode: str, key: str, who: Any = JWT) -> str:
        if how == "meta":
            event = http2(call("kirim", {"kode": kode}, **{KEY: key}), who)
        else:
            event = http2(call("kirim", {"kode": kode}), who, headers={"Idempotency-Key": key})
        return body(gudang(event))["result"]["content"][0]["text"]

    assert [send("A", "k1"), send("A", "k1"), send("A", "k2")] == ["terkirim, 1", "terkirim, 1", "terkirim, 2"]
    assert "new key" in send("B", "k1")
    assert send("A", "k1", CUSTOM and {"lambda": {**CUSTOM, "principalId": "wati"}}) == "terkirim, 3"
    assert len(gudang.did) == 3


def test_a_key_in_the_client_context_is_one_call() -> None:
    gudang = Gudang(grants=Grants(direct=Principal("b", [KIRIM])))

    def send(key: str) -> Any:
        return gudang({"kode": "A"}, context(bedrockAgentCoreToolName="kirim", **{KEY: key}))

    assert [send("k1"), send("k1"), send("k2")] == [{"result": f"terkirim, {n}"} for n in (1, 1, 2)]


def test_a_key_holds_for_every_instance_that_shares_a_log() -> None:
    log = MemoryLog()
    one, other = (Gudang(log=lambda: log) for _ in range(2))
    texts = [
        body(it(http2(call("kirim", {"kode": "A"}, **{KEY: "k"}), JWT)))["result"]["content"][0]["text"]
        for it in (one, other)
    ]
    assert texts == ["terkirim, 1"] * 2
    assert len(one.did) + len(other.did) == 1


class Dies:
    """A log whose instance dies behind the first batch that it writes."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._alive = True

    async def read(self, turn: str) -> Sequence[bytes]:
        return await self._log.read(turn)

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        if not self._alive:
            raise ConnectionError("the instance is gone")
        self._alive = False
        return await self._log.append(turn, number, batch)


def test_who_comes_while_the_same_call_is_made_waits_no_longer_than_their_own_time() -> None:
    log = MemoryLog()
    one, other = Gudang(log=lambda: Dies(log)), Gudang(log=lambda: log)
    event = http2(call("kirim", {"kode": "A"}, **{KEY: "k"}), JWT)
    assert one(event)["statusCode"] == 500
    said = body(other(event, context(seconds=0.7)))["result"]
    assert "still under way" in said["content"][0]["text"]
    assert "outcome_unknown" in said["content"][0]["text"], "nobody may take it for a call that did nothing"
    assert len(one.did) + len(other.did) == 1


def test_a_call_ends_before_its_invocation_does() -> None:
    gudang = Gudang()
    begun = time.monotonic()
    result = gudang(call("lama"), context(seconds=0.6))["result"]
    assert time.monotonic() - begun < 30
    assert "timed_out" in result["content"][0]["text"]


def test_an_invocation_without_time_runs_nothing() -> None:
    gudang = Gudang(grants=Grants(direct=Principal("b", [KIRIM])))
    result = gudang(call("kirim", {"kode": "A"}), context(seconds=0.1))["result"]
    assert "not_run" in result["content"][0]["text"]
    assert gudang.did == []


def test_what_lambda_cannot_give_back_is_said() -> None:
    assert "the call was made" in Gudang()(call("besar"))["error"]["message"]
    answer = Gudang()(http2(call("besar")))
    assert "the call was made" in body(answer)["error"]["message"]
    fault = Gudang()({}, from_gateway("besar"))["error"]
    assert fault["kind"] == "tool_failed"
    assert "it ran" in fault["message"]


@pytest.mark.parametrize("event", [None, [], "text", {}, {"Records": []}, {"requestContext": {}}])
def test_an_event_of_another_kind_is_refused(event: Any) -> None:
    assert Gudang()(event)["error"]["code"] == -32600


def test_a_fault_of_ours_is_logged_and_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "correct-horse-battery")

    def make() -> Any:
        raise RuntimeError("no database: correct-horse-battery")

    handler = made(make)
    assert handler(rpc("tools/list"), context())["error"] == {
        "code": -32603,
        "message": "the request could not be answered",
    }
    fault = handler({"kode": "A"}, from_gateway("kirim"))["error"]
    assert fault["kind"] == "outcome_unknown", "how far a call came is not known to whoever made it"
    assert handler(http2(rpc("ping")), context())["statusCode"] == 500
    logged = capsys.readouterr().err
    assert "RuntimeError" in logged
    assert "correct-horse" not in logged
