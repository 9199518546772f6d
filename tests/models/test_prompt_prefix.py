"""Each round of a long turn begins, byte for byte, with what the round before sent; and where a provider wants marks, there
is one where the round before ended. So every round reads the provider's prompt cache, whatever its messages are made of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests.servers import ChatServer, Say
from tests.wire.conversations import TOOLS
from tukang import Agent, Limits, tool
from tukang.conversation import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, assistant, user
from tukang.models.anthropic_dialect import dialect_for as claude
from tukang.models.anthropic_encode import encode_body
from tukang.models.base import ModelRequest, Settings
from tukang.models.bedrock_converse_encode import encode_request as converse
from tukang.models.bedrock_dialect import dialect_for as bedrock
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.models.gemini_encode import dialect_for as google
from tukang.models.gemini_encode import encode_request as gemini
from tukang.models.gemini_parts import seal
from tukang.models.ollama_encode import encode_request as ollama
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_chat_dialect import dialect_for as chat_server
from tukang.models.openai_chat_encode import encode_request as chat
from tukang.models.openai_responses_dialect import dialect_for as responses_server
from tukang.models.openai_responses_encode import encode_request as responses

SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "us.amazon.nova-2-lite-v1:0"
SEAL = "c2VhbGVk"
REASONING = '{"type": "reasoning", "id": "rs_%d", "summary": [], "encrypted_content": "c2VhbGVk"}'
DETAILS = {"reasoning_details": [{"type": "reasoning.encrypted", "data": SEAL, "index": 0}]}

Encode = Callable[[ModelRequest], bytes]


class Protocol(msgspec.Struct, frozen=True):
    """How a protocol's requests are looked at.

    Args:
        encode: the body of a request.
        messages: the field that holds the conversation.
        head: the fields that come before it in the provider's prompt.
        thought: what its adapter leaves of a reply's reasoning, for round n.
        marked: whether the provider wants marks.
    """

    encode: Encode
    messages: str
    head: tuple[str, ...]
    thought: Callable[[int], tuple[Part, ...]]
    marked: bool = False


PROTOCOLS: Mapping[str, Protocol] = {
    "openai": Protocol(
        lambda request: chat("gpt-5", request, chat_server("api.openai.com", "gpt-5"), stream=True),
        "messages",
        ("tools", "prompt_cache_key"),
        lambda _: (Thinking("hm"),),
    ),
    "openrouter": Protocol(
        lambda request: chat("x", request, chat_server("openrouter.ai", "x"), stream=True),
        "messages",
        ("tools",),
        lambda _: (Thinking("hm"), Opaque("openai@openrouter.ai", DETAILS)),
    ),
    "responses": Protocol(
        lambda request: responses("gpt-5", request, responses_server("api.openai.com", "gpt-5"), stream=True),
        "input",
        ("instructions", "tools", "prompt_cache_key"),
        lambda number: (Thinking("", REASONING % number, "responses"),),
    ),
    "anthropic": Protocol(
        lambda request: encode_body("claude-sonnet-4-5", request, dialect=claude("claude-sonnet-4-5"), stream=True),
        "messages",
        ("system", "tools"),
        lambda _: (Thinking("hm", SEAL, "anthropic"),),
        marked=True,
    ),
    "bedrock-invoke": Protocol(
        BedrockInvoke(SONNET, region="us-east-1", token="x").encode,
        "messages",
        ("system", "tools"),
        lambda _: (Thinking("hm", SEAL, "anthropic"),),
        marked=True,
    ),
    "bedrock": Protocol(
        lambda request: converse(request, bedrock(SONNET)),
        "messages",
        ("system", "toolConfig"),
        lambda _: (Thinking("hm", SEAL, "bedrock:anthropic"),),
        marked=True,
    ),
    "bedrock, Nova": Protocol(
        lambda request: converse(request, bedrock(NOVA)),
        "messages",
        ("system", "toolConfig"),
        lambda _: (),
        marked=True,
    ),
    "ollama": Protocol(
        lambda request: ollama("qwen3", request, stream=True), "messages", ("tools",), lambda _: (Thinking("hm"),)
    ),
    "gemini": Protocol(
        lambda request: gemini(request, google("gemini-3-flash-preview")),
        "contents",
        ("systemInstruction", "tools"),
        lambda _: (Text("Sebentar."), seal(SEAL, "text")),
    ),
}
every_protocol = pytest.mark.parametrize("name", list(PROTOCOLS))

MARK = re.compile(rb',?(?:"cache_control":\{"type":"ephemeral"\}|\{"cachePoint":\{"type":"default"\}\})')


def turn(protocol: Protocol, rounds: int) -> Iterator[list[Message]]:
    """The conversation as each round sends it: the same messages, and more."""
    messages = [user("Apa itu?"), assistant("Sebuah toko."), user("Berapa harga PRD001 dan PRD002?")]
    yield list(messages)
    for number in range(rounds):
        calls = [
            ToolCall(f"t-{number}-{place}", "harga", f'{{"id": "PRD00{place}"}}', f"toolu_{number}{place}")
            for place in range(2)
        ]
        messages.append(assistant(*protocol.thought(number), *calls))
        shown = (Text(f"{number}"), Image("image/png", b"\x89PNG")) if number == 1 else (Text(f'{{"harga":{number}}}'),)
        messages.append(Message("tool", tuple(ToolResult(call.id, "harga", shown) for call in calls)))
        yield list(messages)


def asked(messages: Sequence[Message], **more: Any) -> ModelRequest:
    return ModelRequest("Kamu asisten belanja.", tuple(messages), TOOLS[:2], conversation="budi/1", **more)


class Sent(msgspec.Struct, frozen=True):
    """A body without its marks: what precedes the conversation, the conversation, and what of it each mark stands behind."""

    head: dict[str, bytes]
    conversation: bytes
    marked: tuple[bytes, ...]


def sent(protocol: Protocol, request: ModelRequest) -> Sent:
    body = protocol.encode(request)
    fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    # What is said of the choice among tools stands beside them in one field of Converse; it is no part of the prompt.
    head = {name: re.sub(rb'"toolChoice":\{.*\}', b"", MARK.sub(b"", bytes(fields[name]))) for name in protocol.head}
    written = bytes(fields[protocol.messages])
    assert body.count(b"cache_control") + body.count(b"cachePoint") <= 4
    marked = tuple(MARK.sub(b"", written[: found.start()]) for found in MARK.finditer(written))
    return Sent(head, MARK.sub(b"", written).removesuffix(b"]"), marked)


@every_protocol
def test_a_round_begins_with_all_that_the_round_before_sent(name: str) -> None:
    protocol = PROTOCOLS[name]
    rounds = [sent(protocol, asked(messages)) for messages in turn(protocol, 4)]
    for before, after in pairwise(rounds):
        assert after.head == before.head
        assert len(before.conversation) < len(after.conversation)
        assert after.conversation.startswith(before.conversation)
    again = [sent(protocol, asked(messages)) for messages in turn(protocol, 4)]
    assert again == rounds, "what is kept of a message is what is made of it anew, in another process too"


@every_protocol
def test_a_note_and_the_forced_answer_cost_no_more_than_the_end_of_the_prompt(name: str) -> None:
    protocol = PROTOCOLS[name]
    *_, earlier, last = turn(protocol, 3)
    noted = sent(protocol, asked(earlier, note="Tinggal 5 detik."))
    following = sent(protocol, asked(last))
    plain = sent(protocol, asked(earlier))
    assert common(noted.conversation, plain.conversation) >= len(plain.conversation) - 2, (
        "the note comes after all else"
    )
    assert following.conversation.startswith(plain.conversation)
    forced = ModelRequest(
        "Kamu asisten belanja.",
        tuple(last),
        TOOLS[:2],
        conversation="budi/1",
        tools_off=True,
        note="Jawab sekarang, tanpa alat.",
    )
    if name == "ollama":
        return  # no tools can be switched off there, so that they are not listed: see the top of `ollama`
    ends = sent(protocol, forced)
    assert ends.head == following.head
    assert common(ends.conversation, following.conversation) >= len(following.conversation) - 2


def common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with together."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("name", [name for name, protocol in PROTOCOLS.items() if protocol.marked])
def test_there_is_a_mark_where_the_round_before_had_its_last(name: str) -> None:
    protocol = PROTOCOLS[name]
    before: Sent | None = None
    for number, messages in enumerate(turn(protocol, 5)):
        now = sent(protocol, asked(messages, note="Tinggal 5 detik." if number == 2 else None))
        assert now.marked, "this round writes something"
        if before is not None:
            assert before.marked[-1] in now.marked, "this round reads what the one before wrote"
            assert len(now.marked[-1]) > len(before.marked[-1])
        before = now


@every_protocol
def test_nothing_is_marked_where_no_cache_is_wanted(name: str) -> None:
    protocol = PROTOCOLS[name]
    *_, messages = turn(protocol, 1)
    body = protocol.encode(asked(messages, settings=Settings(cache=False)))
    assert b"cache" not in body.lower()


def test_the_rounds_of_a_real_turn_share_their_prompt() -> None:
    @tool(effect="read")
    def harga(id: str) -> dict[str, int]:
        """Harga sebuah produk."""
        return {"harga": len(id)}

    script = [Say(calls=[("harga", {"id": f"PRD00{place}"})]) for place in range(3)]
    with ChatServer([*script, Say("Rp 6.")]) as server:
        agent = Agent(
            OpenAIChat("x", base_url=server.base_url), "Kamu asisten.", tools=[harga], limits=Limits(rounds=3)
        )
        assert agent.run("Berapa?").text == "Rp 6."
        bodies = [received.body for received in server.requests]
    assert len(bodies) == 4
    for before, after in pairwise(bodies):
        assert json.dumps(after["tools"]) == json.dumps(before["tools"])
        assert after["messages"][: len(before["messages"])] == before["messages"]
    assert bodies[-1]["tool_choice"] == "none"
