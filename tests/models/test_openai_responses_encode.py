"""What is sent is what the Responses protocol takes, whatever the conversation has been through; and it is encoded once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.responses_judge import judge
from tests.sizes import examples
from tests.wire.conversations import requests, responses_parts
from tests.wire.recordings import mcp_contracts
from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    Part,
    ServerCall,
    ServerResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from tukang.errors import ConfigurationError
from tukang.models.base import ModelRequest, Settings
from tukang.models.openai_responses_dialect import Dialect, dialect_for
from tukang.models.openai_responses_encode import encode_request
from tukang.tools.contract import Contract

HERE = "responses"
OPEN = Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {}}})
CLOSED = Contract(
    "stok", "Stok.", {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "$schema": "x"}
)
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="}
SEALED = Thinking("hm", json.dumps(REASONING), HERE)


def body(messages: Sequence[Message] = (), dialect: Dialect | None = None, **asked: Any) -> dict[str, Any]:
    request = ModelRequest(asked.pop("instructions", ""), tuple(messages), **asked)
    made = json.loads(encode_request("gpt-test", request, dialect or Dialect(), stream=False))
    judge(made)
    return made


def sent(*messages: Message, dialect: Dialect | None = None, **asked: Any) -> list[dict[str, Any]]:
    return body(messages, dialect, **asked)["input"]


def call(id: str, arguments: str = "{}", name: str = "harga", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, wire_id)


def results(*given: tuple[str, Part]) -> Message:
    return Message("tool", tuple(ToolResult(id, "harga", (one,)) for id, one in given))  # type: ignore[arg-type]


def own(kind: str, **fields: Any) -> Opaque:
    return Opaque(HERE, {"type": kind, **fields})


# ── the whole request ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_request_keeps_nothing_on_the_server() -> None:
    assert body([user("Halo")], instructions="Singkat.") == {
        "model": "gpt-test",
        "store": False,
        "instructions": "Singkat.",
        "input": [{"role": "user", "content": "Halo"}],
    }


def test_a_tool_is_strict_where_its_schema_allows_it_and_the_others_are_not() -> None:
    open_, closed = body(tools=(OPEN, CLOSED))["tools"]
    for loose in (Dialect(strict=False), Dialect(not_strict=frozenset({"stok"}))):
        assert [tool["strict"] for tool in body(tools=(OPEN, CLOSED), dialect=loose)["tools"]] == [False, False]
    assert (open_["strict"], open_["parameters"]) == (False, OPEN.parameters)
    assert closed == {
        "type": "function",
        "name": "stok",
        "description": "Stok.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize(
    ("choice", "off", "wire"),
    [
        ("auto", False, None),
        ("required", False, "required"),
        ("none", False, "none"),
        ("stok", False, {"type": "function", "name": "stok"}),
        ("stok", True, "none"),
    ],
)
def test_every_tool_choice_and_no_tools_now(choice: str, off: bool, wire: Any) -> None:
    made = body(tools=(OPEN, CLOSED), tool_choice=choice, tools_off=off, settings=Settings(think=True))
    assert made.get("tool_choice") == wire
    assert len(made["tools"]) == 2


def test_settings_in_the_words_of_the_protocol() -> None:
    settings = Settings(
        temperature=0.5,
        top_p=0.9,
        max_tokens=64,
        seed=7,
        think="low",
        parallel_calls=False,
        extra={"tools": [{"type": "web_search"}], "text": {"verbosity": "low"}, "service_tier": "flex"},
    )
    made = body(tools=(OPEN,), settings=settings, returns=CLOSED.parameters, dialect=Dialect(sealed=True))
    assert made["tools"][1] == {"type": "web_search"}
    assert made["include"] == ["reasoning.encrypted_content"]
    assert made["text"]["verbosity"] == "low"
    assert made["text"]["format"]["type"] == "json_schema"
    assert made["text"]["format"]["strict"] is True
    assert made["reasoning"] == {"effort": "low", "summary": "auto"}
    names = ("temperature", "top_p", "max_output_tokens", "parallel_tool_calls", "service_tier")
    assert [made[name] for name in names] == [0.5, 0.9, 64, False, "flex"]
    assert "seed" not in made


def test_rounds_of_a_conversation_go_to_one_cache() -> None:
    openai = dialect_for("api.openai.com", "gpt-5")
    assert body(conversation="budi/1", dialect=openai)["prompt_cache_key"] == "budi/1"
    assert len(body(conversation="x" * 100, dialect=openai)["prompt_cache_key"]) == 64
    assert "prompt_cache_key" not in body(conversation="b", dialect=openai, settings=Settings(cache=False))
    assert "prompt_cache_key" not in body(conversation="b", dialect=dialect_for("openrouter.ai", "gpt-5"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"settings": Settings(stop=("x",))}, "stop"),
        ({"settings": Settings(extra={"background": True})}, "background"),
        ({"returns": {"type": "array"}}, "returns"),
        ({"tools": (OPEN, CLOSED), "dialect": Dialect(most_tools=1)}, "'stok' is the first"),
    ],
)
def test_what_the_protocol_cannot_do_is_refused_by_name(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        body(**asked)


# ── what a reply left in the conversation goes back ──────────────────────────────────────────────────────────────────


def test_reasoning_its_message_and_its_call_go_back_as_they_came() -> None:
    note = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2}
    reply = assistant(
        SEALED,
        own("message", id="msg_1", phase="commentary"),
        Text("Saya cek."),
        Citation("A", "https://a", None, HERE, note),
        own("function_call", id="fc_1", call_id="call_1", namespace="toko"),
        call("t1.1", '{"id": 1}', wire_id="call_1"),
    )
    items = sent(user("?"), reply, results(("t1.1", Text("1000"))))
    assert items[1:] == [
        REASONING,
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Saya cek.", "annotations": [note]}],
            "phase": "commentary",
        },
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "harga",
            "arguments": '{"id": 1}',
            "id": "fc_1",
            "namespace": "toko",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "1000"},
    ]


def test_reasoning_without_what_it_led_to_stays_here() -> None:
    assert sent(user("?"), assistant(SEALED)) == [{"role": "user", "content": "?"}]
    assert sent(user("?"), assistant(SEALED, own("function_call", id="fc_1"))) == [{"role": "user", "content": "?"}]


def test_an_item_loses_its_id_with_its_reasoning() -> None:
    shell = own("function_call", id="fc_1", call_id="a")
    done = results(("t1.1", Text("1")))
    for first in (Thinking("not sealed"), replace(SEALED, provider="responses@elsewhere")):
        _, item, _ = sent(user("?"), assistant(first, shell, call("t1.1", wire_id="a")), done)
        assert (item["type"], item["call_id"], "id" in item) == ("function_call", "a", False)
    takes_none = Dialect(reasoning_back=False)
    _, item, _ = sent(user("?"), assistant(SEALED, shell, call("t1.1", wire_id="a")), done, dialect=takes_none)
    assert "id" not in item


def test_an_item_id_never_stands_twice() -> None:
    compaction = own("compaction", id="cmp_1", encrypted_content="x")
    reply = assistant(SEALED, own("message", id="msg_1"), Text("Halo"), compaction)
    items = sent(user("1"), reply, user("2"), reply)
    assert [item.get("id") for item in items] == [None, "rs_1", "msg_1", "cmp_1", None, None]
    twice = (SEALED, own("message", id="msg_1"), Text("Halo"), compaction)
    items = sent(assistant(*twice, *twice))
    assert [item.get("id") for item in items] == ["rs_1", "msg_1", "cmp_1", None]


def test_a_custom_tools_call_goes_back_as_one_with_its_input_as_it_was() -> None:
    shell = own("custom_tool_call", id="ctc_1", call_id="a")
    items = sent(assistant(shell, call("t1.1", "SELECT 1", "sql", "a")), results(("t1.1", Text("1"))))
    assert items == [
        {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "SELECT 1", "id": "ctc_1"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
    ]


def test_what_the_provider_ran_goes_back_and_what_waits_for_a_client_does_not() -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    }
    shell: dict[str, Any] = {
        "type": "local_shell_call",
        "id": "l_1",
        "call_id": "c",
        "status": "completed",
        "action": {},
    }
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    parts = (
        ServerCall("ws_1", "web_search_call", "{}", HERE, search),
        ServerCall("c", "local_shell_call", "{}", HERE, shell),
        Opaque(HERE, compaction),
        ServerCall("x", "web_search", "{}", "anthropic", {"type": "server_tool_use"}),
        ServerResult("x", "anthropic", {}),
        Opaque("anthropic", {"type": "?"}),
        Text("Ketemu."),
    )
    assert sent(assistant(*parts)) == [search, compaction, {"role": "assistant", "content": "Ketemu."}]


# ── everything a long life leaves ────────────────────────────────────────────────────────────────────────────────────


def test_calls_without_results_and_results_without_calls() -> None:
    items = sent(
        assistant(call("t1.1", wire_id="a"), call("t1.2", wire_id="a"), call("t1.3")),
        results(("t1.3", Text("3")), ("t0.9", Text("lost"))),
    )
    assert [item["call_id"] for item in items] == ["t1.1", "t1.2", "t1.3"] * 2
    assert "outcome_unknown" in items[3]["output"]
    assert items[5]["output"] == "3"


def test_names_and_arguments_are_made_legal() -> None:
    (item, _) = sent(assistant(call("t1.1", "{broken", "toko.harga v2")))
    assert (item["name"], item["arguments"]) == ("toko_harga_v2", '{"unreadable":"{broken"}')
    assert sent(assistant(call("t1.1", "")))[0]["arguments"] == "{}"


def test_pictures_stand_in_the_result_or_after_it() -> None:
    conversation = (
        assistant(call("t1.1", wire_id="a")),
        Message(
            "tool", (ToolResult("t1.1", "harga", (Text("foto"), Image("image/png", b"x"), File("a/pdf", url="u"))),)
        ),
    )
    inside = sent(*conversation, dialect=Dialect(media_in_results=True))
    assert [part["type"] for part in inside[1]["output"]] == ["input_text", "input_image", "input_file"]
    after = sent(*conversation)
    assert after[1]["output"] == "foto"
    assert [part["type"] for part in after[2]["content"]] == ["input_text", "input_image", "input_file"]


def test_the_note_comes_last() -> None:
    assert sent(user("?"), note="Jawab.")[-1]["content"] == "?\n\nJawab."
    assert sent(user("?"), assistant("Ja"), note="Lanjut.")[-1] == {"role": "user", "content": "Lanjut."}
    assert sent() == [{"role": "user", "content": "(nothing was said)"}]


def test_half_a_character_does_not_make_a_conversation_unsendable() -> None:
    assert "tidak" in sent(user("tidak \ud800"))[0]["content"]


def test_a_message_is_encoded_once_for_each_server() -> None:
    message = assistant(own("message", id="msg_1"), Text("Halo"))
    sent(message)
    kept = vars(message)[Dialect().spelling]
    sent(message)
    assert vars(message)[Dialect().spelling] is kept
    assert sent(message, dialect=Dialect(provider="responses@x")) == [{"role": "assistant", "content": "Halo"}]


@given(
    requests(responses_parts(HERE)),
    st.sampled_from([dialect_for("api.openai.com", "gpt-5"), dialect_for("x", "y"), Dialect()]),
)
@hypothesis_settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
def test_whatever_the_conversation_has_been_through_the_sdk_takes_it(request: ModelRequest, dialect: Dialect) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    request = replace(request, settings=replace(request.settings, stop=()))
    made = json.loads(encode_request("gpt-test", request, dialect, stream=True))
    judge(made)
    items = made["input"]
    asked = [item["call_id"] for item in items if item.get("type") in ("function_call", "custom_tool_call")]
    answers = [
        item["call_id"] for item in items if str(item.get("type")).startswith(("function_call_o", "custom_tool_call_o"))
    ]
    assert sorted(asked) == sorted(answers)
    for place, item in enumerate(items):
        if item.get("type") == "reasoning":
            assert any(one.get("type") != "reasoning" for one in items[place + 1 :])
            assert items[place + 1].get("role") != "user"
    ids = [item["id"] for item in items if "id" in item]
    assert len(ids) == len(set(ids))
    assert json.loads(encode_request("gpt-test", request, dialect, stream=True)) == made


def test_sampling_is_left_out_for_a_model_that_refused_it() -> None:
    settings = Settings(temperature=0.1, top_p=0.5)
    assert {"temperature", "top_p"} <= body(settings=settings).keys()
    assert not {"temperature", "top_p"} & body(settings=settings, dialect=Dialect(sampling=False)).keys()


def test_every_real_tool_is_sent_in_a_legal_dialect() -> None:
    tools = mcp_contracts()
    for start in range(0, len(tools), 128):
        some = tuple(tools[start : start + 128])
        made = body((user("?"),), dialect_for("api.openai.com", "gpt-5"), tools=some)["tools"]
        assert [tool["name"] for tool in made] == [tool.name for tool in some]
        for tool in made:
            jsonschema_rs.meta.validate(
                {**tool["parameters"], "$schema": "https://json-schema.org/draft/2020-12/schema"}
            )
            assert tool["parameters"]["type"] == "object"
            assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & tool["parameters"].keys()
