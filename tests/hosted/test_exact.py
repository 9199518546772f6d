"""What the provider ran goes back as it came: in every order, from a store, after a stream that broke."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.hosted.turns import ANTHROPIC, ARN, BEDROCK, HARGA, RESPONSES, cek_harga, ran, says, wire
from tukang import Agent, ConfigurationError, Limits, hosted, user
from tukang.conversation import Message, ServerCall, ServerResult, Text, ToolCall, ToolResult
from tukang.errors import ModelError
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_encode import encode_body
from tukang.models.base import Fold, ModelEvent, ModelRequest, PartCompleted, ReplyEnded, TextDelta
from tukang.models.names import choose
from tukang.models.openai_responses_decode import ResponsesDecoder
from tukang.models.openai_responses_dialect import dialect_for
from tukang.models.openai_responses_encode import encode_request
from tukang.models.recorded import Recorded
from tukang.models.scripted import Fails, Says, Scripted, ScriptedServed
from tukang.secrets import Remover

PAGES = "Harga — https://contoh.id/a"


def sent_back(reply: bytes, decoder: Any) -> tuple[Message, ...]:
    """A conversation in which a reply came and its calls were answered."""
    fold = Fold()
    for event in (*decoder.feed(reply), *decoder.end()):
        fold.add(event)
    parts = [
        replace(part, id=f"call-{place}") if isinstance(part, ToolCall) else part
        for place, part in enumerate(fold.reply().parts)
    ]
    results = [ToolResult(part.id, part.name, (Text("ok"),)) for part in parts if isinstance(part, ToolCall)]
    return (user("?"), Message("assistant", tuple(parts)), Message("tool", tuple(results)))


SOURCE = {
    "type": "web_search_result_location",
    "url": "https://a.id",
    "title": "A",
    "encrypted_index": "I=",
    "cited_text": "x",
}
FOUND = {"type": "web_search_result", "url": "https://a.id", "title": "A", "encrypted_content": "E=", "page_age": None}
BLOCKS: Sequence[list[dict[str, Any]]] = (
    [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [FOUND]},
    ],
    [
        {"type": "text", "text": "Harganya "},
        {"type": "text", "text": "Rp 2 juta", "citations": [SOURCE]},
        {"type": "text", "text": " per gram."},
    ],
    [{"type": "tool_use", "id": "toolu_1", "name": "cek_harga", "input": {"kode": "A"}}],
    [
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "cari", "server_name": "toko", "input": {}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": True,
            "content": [{"type": "text", "text": "no"}],
        },
    ],
)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_blocks_of_anthropic_s_go_back_as_they_came_in_every_order(order: Sequence[int]) -> None:
    content = [block for place in order for block in BLOCKS[place]]
    reply: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {},
    }
    messages = sent_back(msgspec.json.encode(reply), AnthropicDecoder())
    body = msgspec.json.decode(encode_body("claude-sonnet-4-5", ModelRequest("", messages)))
    assert body["messages"][1]["content"] == content


ITEMS: Sequence[list[dict[str, Any]]] = (
    [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E="},
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "a", "sources": [{"type": "url", "url": "https://a.id"}]},
        },
    ],
    [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "cek_harga", "arguments": "{}"}],
    [
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "toko", "tools": [], "error": None},
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "server_label": "toko",
            "name": "cari",
            "arguments": "{}",
            "output": None,
            "error": {"type": "http_error", "code": 500, "message": "no"},
            "status": "failed",
        },
    ],
    [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": "Rp 2 juta",
                    "annotations": [
                        {"type": "url_citation", "url": "https://a.id", "title": "A", "start_index": 0, "end_index": 9}
                    ],
                }
            ],
        }
    ],
)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_items_of_openai_s_go_back_as_they_came_in_every_order(order: Sequence[int]) -> None:
    output = [item for place in order for item in ITEMS[place]]
    reply = {"object": "response", "status": "completed", "model": "m", "output": output}
    messages = sent_back(msgspec.json.encode(reply), ResponsesDecoder())
    dialect = dialect_for("api.openai.com", "gpt-5")
    body = msgspec.json.decode(encode_request("gpt-5", ModelRequest("", messages), dialect, False))
    assert body["input"][1 : 1 + len(output)] == output


@pytest.mark.parametrize(("model", "field"), [(RESPONSES, "input"), (ANTHROPIC, "messages")])
def test_what_came_out_of_a_store_goes_back_as_what_was_kept_in_memory(model: str, field: str, tmp_path: Path) -> None:
    first = says(ran("web_search", PAGES, query="a"), ran("code", "42", code="1"), calls=[HARGA], thinking="hm")
    bodies: list[Any] = []
    for store in (None, f"sqlite:///{tmp_path}/a.db"):
        with wire(first, says(text="ya"), says(text="lagi")) as sent:
            agent = Agent(model, tools=[cek_harga, hosted.web_search(), hosted.code()])
            chat = agent.session("budi", store=store)
            chat.run("?")
            (chat if store is None else agent.session("budi", store=store)).run("!")
            assert sent.refused == []
            bodies.append(sent.received[-1].body[field])
    assert bodies[0] == bodies[1]


# ── a stream that breaks ─────────────────────────────────────────────────────────────────────────────────────────────


class _Broken:
    """Pauses in the middle of a call of the provider's, and breaks off in the words after its result; then it ends."""

    name = provider = "anthropic"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    def cannot_serve(self, tool: hosted.Hosted) -> None: ...

    async def prepare(self, request: ModelRequest) -> None: ...

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        match len(self.requests):
            case 1:
                data: dict[str, Any] = {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "web_search",
                    "input": {},
                }
                yield PartCompleted(ServerCall("srvtoolu_1", "web_search", "{}", "anthropic", data, tool="web_search"))
                yield ReplyEnded("paused", "pause_turn", "m")
            case 2:
                result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [FOUND]}
                yield PartCompleted(ServerResult("srvtoolu_1", "anthropic", result, "A"))
                yield TextDelta("Harganya ")
                raise ModelError("connection", "it broke off", retryable=True)
            case _:
                yield TextDelta("Rp 2 juta.")
                yield ReplyEnded("stop", "end_turn", "m")


def test_the_result_of_a_call_that_paused_is_kept_when_the_rest_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.loop.asking.FIRST_WAIT", 0.0)
    model = _Broken()
    answer = Agent(model, tools=[hosted.web_search()]).run("?")
    assert (answer.text, answer.steps[0].result) == ("Harganya Rp 2 juta.", "A")
    body = msgspec.json.decode(encode_body("claude-sonnet-4-5", model.requests[-1]))
    kinds = [block["type"] for block in body["messages"][1]["content"]]
    assert kinds == ["server_tool_use", "web_search_tool_result", "text"]


def test_a_status_inside_a_stream_does_not_say_that_nothing_was_begun() -> None:
    decoder = ResponsesDecoder()
    decoder.feed(b'data: {"type":"error","error":{"code":503,"message":"busy"}}\n\n')
    decoder.end()
    assert decoder.error is not None
    assert (decoder.error.kind, decoder.error.status) == ("overloaded", None)


def test_what_is_not_offered_to_a_caller_does_not_keep_a_request_from_being_repeated() -> None:
    with wire(Says(fails=Fails("connection")), says(text="ya")) as sent:
        answer = Agent(BEDROCK, tools=[hosted.aws("toko", ARN, needs="gudang")]).run("?")
    assert (answer.stopped, len(sent.received)) == ("answer", 2)


def test_a_permission_that_goes_with_the_request_at_a_limit_is_not_sent_twice_either() -> None:
    asked = says(ScriptedServed("zip1.create", {"url": "x"}, asks=True))
    server = hosted.mcp("zip1", url="https://zip1.id/mcp")
    with wire(asked, Says(fails=Fails("connection")), says(text="ya")) as sent:
        answer = Agent(RESPONSES, tools=[server], limits=Limits(rounds=1), approve=lambda _: True).run("?")
    assert (len(sent.received), answer.error is not None) == (2, True)
    assert sent.received[1].body["tool_choice"] == "none"


# ── a call that is demanded ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("model", "finish"), [(RESPONSES, "stop"), (ANTHROPIC, "stop"), (ANTHROPIC, "paused")])
def test_a_call_of_the_provider_s_is_the_call_that_was_demanded(model: str, finish: Any) -> None:
    first = says(ran("web_search", PAGES, query="a"), text="Rp 2 juta.", finish=finish)
    with wire(first, says(text=" Sekian.")) as sent:
        answer = Agent(model, tools=[hosted.web_search()], tool_choice="required").run("?")
    assert answer.text == ("Rp 2 juta." if finish == "stop" else "Rp 2 juta. Sekian.")
    choices = [one.body.get("tool_choice") for one in sent.received]
    assert choices[0] in ("required", {"type": "any"})
    assert set(choices[1:]) <= {None, "auto"}


def test_one_of_them_cannot_be_demanded_by_name() -> None:
    with pytest.raises(ConfigurationError, match="is run by the model's provider"):
        Agent(Scripted(["ya"]), tools=[cek_harga, hosted.web_search()], tool_choice="web_search")
    with pytest.raises(ConfigurationError, match="is run by the model's provider"):
        Agent(Scripted(["ya"]), tools=[cek_harga, hosted.web_search()]).run("?", tool_choice="web_search")


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

TOKEN = "rahasia-sekali-123"


@pytest.mark.parametrize("model", [RESPONSES, ANTHROPIC])
def test_a_token_that_the_provider_quotes_is_in_no_recording_and_in_no_store(model: str, tmp_path: Path) -> None:
    server = hosted.mcp("toko", url="https://u:kunci@toko.id/mcp?k=kunci", approval="never", token=TOKEN)
    quoted = says(ran("toko.cari", f"no such token: {TOKEN}", kode="a"), text=f"{TOKEN} salah.")
    recording = tmp_path / "a.jsonl"
    with wire(quoted):
        agent = Agent(Recorded.record(choose(model).model, recording), tools=[server])
        agent.session("budi", store=f"sqlite:///{tmp_path}/a.db").run("?")
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"no such token" in written
    assert TOKEN.encode() not in written
    assert b"kunci" not in recording.read_bytes()
    assert Agent(Recorded.replay(recording), tools=[server]).run("?").stopped == "answer"


def test_what_a_provider_sealed_is_no_secret_of_ours() -> None:
    seal = {"encrypted_index": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "encrypted_stdout": "sk-aaaaaaaaaaaaaaaaaaaaaaaa"}
    assert Remover().value(seal) == seal
