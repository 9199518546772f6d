"""What a server seals beside a message goes back to it verbatim, with its message, and to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.models.chat_reading import DONE, read
from tests.models.chat_sending import call, results, sent
from tests.servers import ChatServer, Raw, Say, delta, event
from tukang import Agent, tool
from tukang.conversation import Message, Opaque, assistant, user
from tukang.models.base import Reply
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_chat_decode import ChatDecoder
from tukang.models.openai_chat_dialect import Dialect, dialect_for

ROUTER = dialect_for("openrouter.ai", "anthropic/claude-sonnet-4.5")
GOOGLE = dialect_for("generativelanguage.googleapis.com", "gemini-3-flash-preview")
SEAL = {"google": {"thought_signature": "c2VhbA=="}}
SEALED = {"0": {"name": "harga", "extra_content": SEAL}}
MARK = {"google": {"thought_signature": "skip_thought_signature_validator"}}
WORDS = {
    "type": "reasoning.text",
    "text": "Hem. Harga.",
    "signature": "c2ln",
    "format": "anthropic-claude-v1",
    "index": 0,
}
LOCKED = {"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "rs_1", "format": "openai-responses-v1", "index": 1}


def calls(*extras: Any) -> list[dict[str, Any]]:
    made = [
        {"index": place, "id": f"c{place}", "function": {"name": "harga", "arguments": "{}"}}
        for place in range(len(extras))
    ]
    return [one if extra is None else {**one, "extra_content": extra} for one, extra in zip(made, extras, strict=True)]


def whole(**message: Any) -> Reply:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    reply, error = read(json.dumps(body).encode())
    assert error is None
    return reply


def streamed(*deltas: dict[str, Any], finish: str = "tool_calls") -> Reply:
    reply, error = read(*[event(delta(**fields)) for fields in deltas], event(delta(finish)), DONE)
    assert error is None
    return reply


def sealed(reply: Reply) -> list[Any]:
    return [part.data for part in reply.parts if isinstance(part, Opaque)]


def went_back(reply: Reply, dialect: Dialect) -> dict[str, Any]:
    """The assistant's message as it is sent to a server, after the reply was accepted."""
    provider = dialect.provider
    parts = [replace(part, provider=provider) if isinstance(part, Opaque) else part for part in reply.parts]
    ids = iter("12345")
    named = [replace(part, id=next(ids)) if part in reply.calls else part for part in parts]
    return sent([user("?"), Message("assistant", tuple(named))], dialect)[1]


# ── reasoning_details ────────────────────────────────────────────────────────────────────────────────────────────────


def test_details_of_a_whole_reply_go_back_as_they_came() -> None:
    listed = [WORDS, {"type": "reasoning.summary", "summary": "a", "index": 0}, WORDS, LOCKED]
    reply = whole(content="ya", reasoning="Hem.", reasoning_details=listed, tool_calls=calls(None))
    assert reply.thinking == "Hem."
    message = went_back(reply, ROUTER)
    assert message["reasoning_details"] == listed
    assert message["content"] == "ya"
    assert "reasoning" not in message


def test_pieces_of_a_stream_become_the_items_of_a_whole_reply() -> None:
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "text": "", "signature": "", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.text", "text": "Hem. ", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.text", "text": "Harga.", "format": None, "index": 0},
        {"type": "reasoning.text", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0},
        LOCKED,
        {**LOCKED, "id": "rs_2"},
        {"type": "reasoning.summary", "summary": "a", "index": 2},
        {"type": "reasoning.summary", "summary": "b", "index": 2},
        {"type": "reasoning.summary", "summary": "c", "index": 3},
    ]
    deltas: list[dict[str, Any]] = [{"content": "", "reasoning": "Hem.", "reasoning_details": [one]} for one in pieces]
    reply = streamed(*deltas, {"content": "ya", "reasoning_details": []}, {"tool_calls": calls(None)})
    assert reply.thinking == "Hem." * len(pieces)
    assert went_back(reply, ROUTER)["reasoning_details"] == [
        WORDS,
        LOCKED,
        {**LOCKED, "id": "rs_2"},
        {"type": "reasoning.summary", "summary": "ab", "index": 2},
        {"type": "reasoning.summary", "summary": "c", "index": 3},
    ]


def test_details_go_back_with_a_message_without_calls_but_never_alone() -> None:
    assert went_back(whole(content="ya", reasoning_details=[LOCKED]), ROUTER) == {
        "role": "assistant",
        "content": "ya",
        "reasoning_details": [LOCKED],
    }
    assert sent([user("?"), assistant(Opaque(ROUTER.provider, {"reasoning_details": [LOCKED]}))], ROUTER) == [
        {"role": "user", "content": "?"}
    ]


def test_reasoning_that_was_cut_off_is_not_sealed_and_stays_here() -> None:
    cut = {"reasoning": "Hem", "reasoning_details": [{"type": "reasoning.text", "text": "Hem", "index": 0}]}
    assert sealed(streamed(cut, finish="length")) == []
    assert len(sealed(streamed(cut, {"content": "Harga"}, finish="length"))) == 1


def test_a_reply_that_broke_off_leaves_nothing_sealed() -> None:
    decoder = ChatDecoder("x")
    seen = decoder.feed(event(delta(content="ya", reasoning_details=[LOCKED])))
    seen += decoder.end()
    assert decoder.error is not None
    assert "Opaque" not in repr(seen)


def test_nobody_else_gets_what_one_server_sealed() -> None:
    kept = Opaque(ROUTER.provider, {"reasoning_details": [LOCKED], "calls": SEALED})
    conversation = [user("?"), assistant(call("1"), kept), results(("1", "x"))]
    assert sent(conversation, ROUTER)[1]["reasoning_details"] == [LOCKED]
    assert extras(sent(conversation, ROUTER)[1]) == [SEAL]
    refuses = replace(ROUTER, sealed_back=False)
    for other in (dialect_for("api.openai.com", "gpt-5"), dialect_for("other.example", "x"), Dialect(), refuses):
        assert set(sent(conversation, other)[1]) == {"role", "content", "tool_calls"}
        assert set(sent(conversation, other)[1]["tool_calls"][0]) == {"id", "type", "function"}


def test_two_pieces_of_one_reply_keep_the_reasoning_of_both() -> None:
    first, second = (Opaque(ROUTER.provider, {"reasoning_details": [one]}) for one in (WORDS, LOCKED))
    message = sent([user("?"), assistant("a", first, "b", second)], ROUTER)[1]
    assert (message["content"], message["reasoning_details"]) == ("ab", [WORDS, LOCKED])


@pytest.mark.parametrize("odd", ["x", [1, "a", None], {"a": 1}, [[]]])
def test_details_that_are_none_are_passed_over(odd: Any) -> None:
    assert sealed(whole(content="ya", reasoning_details=odd)) == []
    assert sealed(streamed({"content": "ya", "reasoning_details": odd})) == []


@pytest.mark.parametrize("odd", [None, 3, "x", [], {"reasoning_details": {}}, {"calls": []}, {"calls": {"0": 1}}])
def test_a_stored_part_of_another_shape_is_passed_over(odd: Any) -> None:
    conversation = [user("?"), assistant("a", call("1"), Opaque(ROUTER.provider, odd)), results(("1", "x"))]
    assert set(sent(conversation, ROUTER)[1]) == {"role", "content", "tool_calls"}


def test_a_call_cut_at_the_token_limit_is_a_fault_although_something_sealed_follows_it() -> None:
    ran: list[str] = []

    @tool(effect="read")
    def harga(id: str) -> str:
        """Harga sebuah produk."""
        ran.append(id)
        return "1000"

    cut = {"index": 0, "id": "c0", "function": {"name": "harga", "arguments": '{"id": "PRD'}}
    stream = [event(delta(reasoning_details=[LOCKED])), event(delta(tool_calls=[cut])), event(delta("length")), DONE]
    with ChatServer([Raw(stream, headers={"Content-Type": "text/event-stream"}), Say("Maaf.")]) as server:
        agent = Agent(OpenAIChat("x", base_url=server.base_url), "", tools=[harga])
        assert agent.run("Berapa?").text == "Maaf."
        asked, answered = server.requests[1].body["messages"][-2:]
    assert asked["reasoning_details"] == [LOCKED]
    assert '"error"' in answered["content"]
    assert "token limit" in answered["content"]
    assert ran == []


# ── extra_content ────────────────────────────────────────────────────────────────────────────────────────────────────


def extras(message: dict[str, Any]) -> list[Any]:
    return [one.get("extra_content") for one in message["tool_calls"]]


def test_the_seal_of_a_call_goes_back_on_that_call() -> None:
    for reply in (
        whole(tool_calls=calls(SEAL, None, {"google": {"thought_signature": "bGFpbg=="}})),
        streamed(*[{"tool_calls": [one]} for one in calls(SEAL, None, {"google": {"thought_signature": "bGFpbg=="}})]),
    ):
        assert len(reply.calls) == 3
        assert extras(went_back(reply, GOOGLE)) == [SEAL, None, {"google": {"thought_signature": "bGFpbg=="}}]


def test_a_seal_that_comes_with_the_last_piece_of_a_call_belongs_to_it() -> None:
    first, second = calls(None, None)
    late = {"index": 0, "function": {"arguments": " "}, "extra_content": SEAL}
    reply = streamed({"tool_calls": [first]}, {"tool_calls": [second]}, {"tool_calls": [late]})
    assert extras(went_back(reply, GOOGLE)) == [SEAL, None]


def test_calls_that_google_did_not_make_get_the_mark_it_names_where_it_insists() -> None:
    conversation = [user("?"), assistant(call("1"), call("2")), results(("1", "x"), ("2", "y"))]
    assert extras(sent(conversation, GOOGLE)[1]) == [MARK, None]
    older = dialect_for("generativelanguage.googleapis.com", "gemini-2.5-flash")
    for dialect in (older, ROUTER, Dialect()):
        assert extras(sent(conversation, dialect)[1]) == [None, None]


def test_a_call_that_was_discarded_takes_its_seal_with_it() -> None:
    kept = Opaque(GOOGLE.provider, {"calls": SEALED})
    assert sent([user("?"), assistant("ya", kept)], GOOGLE)[1] == {"role": "assistant", "content": "ya"}
    other = sent([user("?"), assistant(call("1", name="stok"), kept), results(("1", "x"))], GOOGLE)
    assert extras(other[1]) == [MARK]
