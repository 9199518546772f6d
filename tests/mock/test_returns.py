"""An answer that is data, over each protocol: our adapters on one side, the mock on the other.

The mock refuses what the provider would, so a turn that ends with data has asked for it legally, and one after it shows that
the conversation can be sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from pydantic import BaseModel, Field

from tests.mock.test_agents import MODELS, cek_harga, served
from tukang import Agent, Limits, Settings
from tukang.conversation import validity
from tukang.mock.values import Asked
from tukang.models.anthropic import AnthropicMessages
from tukang.models.base import Model
from tukang.models.bedrock_converse import BedrockConverse
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.models.recorded import Recorded
from tukang.models.scripted import Fails, Says, ScriptedCall


class Baris(BaseModel):
    nama: str
    jumlah: int = 1


class Nota(BaseModel):
    """Sebuah nota."""

    nomor: str = Field(description="seperti tercetak")
    total: int
    baris: list[Baris] = []


FIT = {"nomor": "N-7", "total": 120, "baris": [{"nama": "SSD"}]}
NOTA = Nota.model_validate(FIT)
GIVEN = Says(calls=(ScriptedCall("answer", FIT),))
UNFIT = Says(calls=(ScriptedCall("answer", {"nomor": "N-7", "total": "banyak"}),))
LOOKED = Says(calls=(ScriptedCall("cek_harga", {"id": "PRD002"}),))
BOTH = Says(calls=(ScriptedCall("cek_harga", {"id": "PRD002"}), ScriptedCall("answer", FIT)))
WORDS = Says("Totalnya 120.")
WRITTEN = Says(msgspec.json.encode(FIT).decode())
THANKS = Says("Sama-sama.")

SCRIPTS = {
    "forced": ([], [GIVEN]),
    "after a tool": ([cek_harga], [LOOKED, GIVEN]),
    "beside a tool": ([cek_harga], [BOTH]),
    "after words": ([cek_harga], [WORDS, GIVEN]),
    "after words, alone": ([], [WORDS, GIVEN]),
    "after data that does not fit": ([], [UNFIT, GIVEN]),
    "written as words": ([], [WRITTEN]),
}


@pytest.fixture(params=MODELS)
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("case", SCRIPTS)
def test_the_same_data_comes_over_every_protocol_and_the_conversation_goes_on(protocol: str, case: str) -> None:
    tools, script = SCRIPTS[case]
    for url, told in served([*script, THANKS]):
        chat = Agent(MODELS[protocol](url, True), tools=tools).session()
        answer = chat.run("Baca nota ini.", returns=Nota)
        assert [one.refused for one in told] == [None] * len(script)
        assert (answer.data, answer.stopped) == (NOTA, "answer")
        assert msgspec.json.decode(answer.text) == FIT
        assert chat.run("Terima kasih.").text == "Sama-sama."
        assert told[-1].refused is None
        assert validity(chat.messages) == []


@pytest.mark.parametrize("script", [[UNFIT, UNFIT], [WORDS, WORDS]], ids=["unfit", "words"])
def test_no_data_is_said_over_every_protocol_and_the_conversation_goes_on(protocol: str, script: list[Says]) -> None:
    for url, told in served([*script, THANKS]):
        chat = Agent(MODELS[protocol](url, False)).session()
        answer = chat.run("Baca nota ini.", returns=Nota)
        assert (answer.data, answer.stopped) == (None, "no_data")
        assert chat.run("Terima kasih.").text == "Sama-sama."
        assert [one.refused for one in told] == [None] * 3


def test_at_a_limit_data_is_all_that_is_asked_for(protocol: str) -> None:
    for url, told in served([LOOKED, GIVEN]):
        agent = Agent(MODELS[protocol](url, True), tools=[cek_harga], limits=Limits(rounds=1))
        answer = agent.run("Baca nota ini.", returns=Nota)
        assert (answer.data, answer.stopped) == (NOTA, "rounds")
        assert [one.refused for one in told] == [None, None]


@pytest.mark.parametrize(
    ("returns", "data", "value"),
    [
        (Literal["lunas", "utang"], {"data": "lunas"}, "lunas"),
        (list[Baris], {"data": [{"nama": "SSD"}]}, [Baris(nama="SSD")]),
        (Nota | None, {"data": None}, None),
        (dict[str, int], {"total": 3}, {"total": 3}),
        ({"type": "object", "properties": {"total": {"type": "integer"}}}, {"total": 3}, {"total": 3}),
    ],
    ids=str,
)
def test_any_form_can_be_asked_for(protocol: str, returns: Any, data: dict[str, Any], value: Any) -> None:
    for url, told in served([Says(calls=(ScriptedCall("answer", data),))]):
        answer = Agent(MODELS[protocol](url, True)).run("Baca nota ini.", returns=returns)
        assert told[0].refused is None
        assert (answer.stopped, answer.data) == ("answer", value)


def test_a_recording_brings_the_same_data(protocol: str, tmp_path: Path) -> None:
    path = tmp_path / "nota.jsonl"
    for url, _ in served([LOOKED, GIVEN]):
        model = Recorded.record(MODELS[protocol](url, True), path)
        first = Agent(model, tools=[cek_harga]).run("Baca nota ini.", returns=Nota)
    again = Agent(Recorded.replay(path), tools=[cek_harga]).run("Baca nota ini.", returns=Nota)
    assert (first.data, again.data) == (NOTA, NOTA)
    assert again.text == first.text


# ── where a call cannot be forced, it is structured output; see `tukang.models.structured` ──────────────────────────────

_CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"
_NEW_CLAUDE = "anthropic.claude-opus-5-5-v1:0"
_OPEN = "openai.gpt-oss-120b-1:0"
_ON_BEDROCK: dict[str, Any] = {"region": "us-east-1", "token": "any"}
_UNFORCED: dict[str, Callable[[str], Model]] = {
    "Claude, thinking": lambda url: AnthropicMessages("claude-sonnet-4-5", base_url=url, api_key="any"),
    "Claude on Converse, thinking": lambda url: BedrockConverse(_CLAUDE, base_url=url, **_ON_BEDROCK),
    "Claude on InvokeModel, thinking": lambda url: BedrockInvoke(_CLAUDE, base_url=url, **_ON_BEDROCK),
    "new Claude": lambda url: AnthropicMessages("claude-opus-5-5", base_url=url, api_key="any"),
    "new Claude on Converse": lambda url: BedrockConverse(_NEW_CLAUDE, base_url=url, **_ON_BEDROCK),
    "another maker on Converse": lambda url: BedrockConverse(_OPEN, base_url=url, **_ON_BEDROCK),
}


@pytest.mark.parametrize("case", _UNFORCED)
def test_a_model_that_cannot_be_forced_is_asked_for_structured_output(case: str) -> None:
    """Also one that would have to do without the thinking that was asked for."""
    settings = Settings(think="low", max_tokens=4096) if "thinking" in case else Settings()
    thinking = "Nota nomor 7." if "thinking" in case else ""
    for url, told in served([Says(msgspec.json.encode(FIT).decode(), thinking=thinking), LOOKED, WRITTEN, THANKS]):
        model = _UNFORCED[case](url)
        chat = Agent(model, settings=settings).session()
        answer = chat.run("Baca nota ini.", returns=Nota)
        assert (answer.data, answer.stopped) == (NOTA, "answer")
        assert [call.name for call in answer.messages[1].calls] == ["answer"]
        assert answer.messages[1].text == "", "the text was the call"
        assert "json_schema" in str(told[0].body)
        assert "budget_tokens" in str(told[0].body) or not thinking
        agent = Agent(model, tools=[cek_harga], settings=settings)
        again = agent.session(messages=chat.messages)
        assert again.run("Sekali lagi.", returns=Nota).data == NOTA
        assert "json_schema" not in str(told[1].body), "other tools may be called first"
        assert again.run("Terima kasih.").text == "Sama-sama."
        assert [one.refused for one in told] == [None] * 4


def test_a_model_that_knows_neither_is_told_in_words() -> None:
    for url, told in served([WRITTEN]):
        model = BedrockConverse("meta.llama3-3-70b-instruct-v1:0", base_url=url, **_ON_BEDROCK)
        answer = Agent(model).run("Baca nota ini.", returns=Nota)
        assert (answer.data, told[0].refused) == (NOTA, None)
        assert "Call the tool answer now." in str(told[0].body)


def test_ollama_writes_the_forced_call_as_json() -> None:
    written = msgspec.json.encode({"name": "answer", "arguments": FIT}).decode()
    for url, told in served([Says(written)]):
        answer = Agent(MODELS["ollama"](url, True)).run("Baca nota ini.", returns=Nota)
        assert (answer.data, told[0].refused) == (NOTA, None)
        assert told[0].body["format"]["properties"]["name"]["enum"] == ["answer"]


# ── a chat server that refuses ───────────────────────────────────────────────────────────────────────────────────────


def refusing(*words: str) -> Callable[[Asked], Says]:
    """A server that says these words to as many requests, and then writes the data as text."""
    left = [Says(fails=Fails("bad_request", text)) for text in words]
    return lambda _: left.pop(0) if left else WRITTEN


@pytest.mark.parametrize(
    "refusal",
    [
        "deepseek-reasoner does not support this tool_choice",
        "tool_choice 'specified' is incompatible with thinking enabled",
        "The tool_choice parameter does not support being set to required or object in thinking mode",
    ],
)
def test_a_chat_server_that_refuses_to_be_forced_is_asked_for_structured_output(refusal: str) -> None:
    for url, told in served(refusing(refusal)):
        answer = Agent(MODELS["openai"](url, True)).run("Baca nota ini.", returns=Nota)
        assert (answer.data, answer.stopped) == (NOTA, "answer")
        assert [call.name for call in answer.messages[1].calls] == ["answer"]
        assert told[0].body["tool_choice"]["function"]["name"] == "answer"
        assert (told[1].body["tool_choice"], told[1].body["response_format"]["type"]) == ("none", "json_schema")


def test_a_chat_server_that_refuses_both_is_told_in_words() -> None:
    words = ("this model does not support this tool_choice", "This response_format type is unavailable now")
    for url, told in served(refusing(*words)):
        answer = Agent(MODELS["openai"](url, True)).run("Baca nota ini.", returns=Nota)
        assert (answer.data, answer.stopped) == (NOTA, "answer")
        assert "tool_choice" not in told[2].body
        assert "response_format" not in told[2].body
        assert "Call the tool answer now." in told[2].body["messages"][-1]["content"]


def test_the_echo_gives_data_that_fits(protocol: str) -> None:
    for url, told in served(None):
        answer = Agent(MODELS[protocol](url, True), tools=[cek_harga]).run("PRD002", returns=Nota)
        assert isinstance(answer.data, Nota)
        assert [one.refused for one in told] == [None] * 3, "a tool, words, and then the data"


@pytest.mark.parametrize("case", _UNFORCED)
def test_the_echo_gives_data_where_it_is_asked_for_as_text(case: str) -> None:
    settings = Settings(think="low", max_tokens=4096) if "thinking" in case else Settings()
    for url, told in served(None):
        answer = Agent(_UNFORCED[case](url), settings=settings).run("PRD002", returns=Nota)
        assert isinstance(answer.data, Nota)
        assert [one.refused for one in told] == [None]
