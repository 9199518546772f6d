"""Every call has its result next, under an id the server takes, whatever the conversation has been through."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.models.chat_sending import call, results, sent
from tukang.conversation import (
    Message,
    assistant,
    user,
)
from tukang.models.openai_chat_dialect import Dialect, dialect_for

# ── ids ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ids(conversation: Sequence[Message], dialect: Dialect) -> tuple[list[str], list[str]]:
    messages = sent(conversation, dialect)
    asked = [one["id"] for message in messages for one in message.get("tool_calls", ())]
    return asked, [one["tool_call_id"] for one in messages if one["role"] == "tool"]


def test_the_providers_own_id_goes_back_as_it_came_where_it_can() -> None:
    long = "c" * 60
    conversation = [
        assistant(call("t.0.0", wire_id="functions.harga:0"), call("t.0.1", wire_id=long)),
        results(("t.0.0", "x"), ("t.0.1", "y")),
    ]
    asked, answered = ids(conversation, Dialect())
    assert asked == answered == ["functions.harga:0", long]
    asked, answered = ids(conversation, dialect_for("api.openai.com", "gpt-4o"))
    assert asked == answered
    assert asked[0] == "functions.harga:0"
    assert len(asked[1]) <= 40


def test_ids_that_are_missing_or_alike_are_made_from_ours() -> None:
    conversation = [
        assistant(call("t-0-0", wire_id="a"), call("t-0-1", wire_id="a"), call("t/0/2")),
        results(("t-0-0", "x"), ("t-0-1", "y"), ("t/0/2", "z")),
    ]
    asked, answered = ids(conversation, Dialect())
    assert asked == answered
    assert asked[:2] == ["t-0-0", "t-0-1"]
    assert asked[2].startswith("call_")
    assert ids(conversation, Dialect()) == (asked, answered)


def test_mistral_gets_nine_letters_and_digits() -> None:
    dialect = dialect_for("api.mistral.ai", "mistral-small")
    conversation = [
        assistant(call("t-0-0"), call("t-0-1", wire_id="Ab3dEf6hI")),
        results(("t-0-0", "x"), ("t-0-1", "y")),
    ]
    asked, answered = ids(conversation, dialect)
    assert asked == answered
    assert asked[1] == "Ab3dEf6hI"
    assert len(asked[0]) == 9
    assert asked[0].isalnum()
    assert not dialect.usage_in_stream


def test_a_host_is_known_by_its_whole_name() -> None:
    assert dialect_for("notmistral.ai", "x").call_ids == "any"
    assert dialect_for("eastus.openai.azure.com", "gpt-4o").call_ids == "forty"


# ── what is mended before sending ────────────────────────────────────────────────────────────────────────────────────


def test_dangling_calls_are_answered_as_interrupted() -> None:
    for conversation in (
        [user("?"), assistant(call("1"), call("2"))],
        [user("?"), assistant(call("1"), call("2")), user("Halo?")],
        [user("?"), assistant(call("1"), call("2")), Message("tool", ())],
    ):
        answers = [one for one in sent(conversation) if one["role"] == "tool"]
        assert [one["tool_call_id"] for one in answers] == ["1", "2"]
        assert json.loads(answers[0]["content"])["error"]["kind"] == "outcome_unknown"
    roles = [one["role"] for one in sent([user("?"), assistant(call("1")), user("Halo?")])]
    assert roles == ["user", "assistant", "tool", "user"]


def test_results_go_in_the_order_asked_and_orphans_go_nowhere() -> None:
    conversation = [
        results(("0", "too early")),
        user("?"),
        results(("0", "nobody asked")),
        assistant(call("1"), call("2")),
        results(("2", "b"), ("9", "whose?")),
        results(("1", "a"), ("2", "again")),
        assistant("ya"),
        results(("1", "too late")),
    ]
    assert [(one["role"], one.get("content")) for one in sent(conversation)] == [
        ("user", "?"),
        ("assistant", None),
        ("tool", "a"),
        ("tool", "b"),
        ("assistant", "ya"),
    ]


_IDS = st.sampled_from(["1", "2", "3"])
_MESSAGES = st.one_of(
    st.just(user("u")),
    st.lists(_IDS, max_size=3, unique=True).map(lambda ids: assistant(*[call(id) for id in ids])),
    st.lists(_IDS, max_size=3).map(lambda ids: results(*[(id, id) for id in ids])),
)


@given(st.lists(_MESSAGES, max_size=10), st.sampled_from([None, "note"]))
def test_whatever_a_conversation_has_been_through_every_call_has_its_answer_next(
    conversation: list[Message], note: str | None
) -> None:
    before = list(conversation)
    for _ in range(2):  # the second time from what was kept
        waiting: list[str] = []
        for message in sent(conversation, note=note):
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
            else:
                assert not waiting
                waiting = [one["id"] for one in message.get("tool_calls", ())]
        assert not waiting
    assert conversation == before
