"""A recording is answered from again, exactly; what differs is named; and no secret is in the file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tukang import Agent, Answer, ConfigurationError, Limits, tool
from tukang.conversation import Citation, Image, Thinking, user
from tukang.errors import ModelError
from tukang.models.base import Fold, Model, ModelEvent, ModelRequest, Settings
from tukang.models.names import choose
from tukang.models.recorded import Recorded
from tukang.models.scripted import Fails, Says, Scripted, ScriptedCall, call


@tool(effect="read")
def cek_harga(product_id: str) -> dict[str, Any]:
    """Cek harga sebuah produk."""
    return {"product_id": product_id, "harga": 1_200_000}


def asked(model: Model, question: str = "Berapa harga PRD002?", **options: Any) -> Answer:
    return Agent(model, "Kamu asisten belanja.", tools=[cek_harga], **options).run(question)


def shop(*more: Any) -> Scripted:
    """Asks for a price, then answers."""
    return Scripted([call("cek_harga", product_id="PRD002"), "Rp 1.200.000", *more])


async def heard(model: Model, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


def told(text: str, **fields: Any) -> ModelRequest:
    return ModelRequest("", (user(text),), **fields)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def recorded(path: Path, script: Sequence[Any], texts: Sequence[str], secrets: Sequence[str] = ()) -> None:
    """Record one request for each text."""
    model = Recorded.record(Scripted(script), path, secrets=secrets)
    for text in texts:
        asyncio.run(heard(model, told(text)))


def test_a_turn_is_answered_again_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "belanja.jsonl"
    first = asked(Recorded.record(shop(), path))
    again = asked(Recorded.replay(path))
    assert (again.text, again.stopped, again.usage) == (first.text, "answer", first.usage)
    assert [(step.tool, step.arguments) for step in again.steps] == [
        (step.tool, step.arguments) for step in first.steps
    ]
    assert [line["number"] for line in lines(path)] == [1, 2]


def test_a_name_chooses_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "belanja.jsonl"
    asked(Recorded.record(shop(), path))
    model = choose(f"recorded:{path}").model
    assert model.name == f"recorded:{path}"
    assert model.provider == "scripted"
    assert asked(model).text == "Rp 1.200.000"


def test_every_kind_of_event_comes_back_as_it_was(tmp_path: Path) -> None:
    parts = [
        Thinking("hm", "seal", "scripted"),
        Image("image/png", b"\x89PNG"),
        Citation("judul", data={"a": [1, None]}),
    ]
    script = [[*parts, call("cek_harga", '{"product_id":', id="w1")], Says(text=("sa", "tu"), thinking="dua")]
    path = tmp_path / "r.jsonl"
    model, requests = Recorded.record(Scripted(script), path), [told("a"), told("b")]
    first = [asyncio.run(heard(model, request)) for request in requests]
    replay = Recorded.replay(path)
    assert [asyncio.run(heard(replay, request)) for request in requests] == first


def test_a_failure_is_recorded_and_comes_again(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    fails = Fails("rate_limited", "pelan-pelan", retryable=True, retry_after=2.5, status=429)
    model = Recorded.record(Scripted([Says(text="se", fails=fails)]), path)
    for play in (lambda: model, lambda: Recorded.replay(path)):
        one, fold = play(), Fold()

        async def listen(one: Model = one, fold: Fold = fold) -> None:
            async for event in one.stream(told("a")):
                fold.add(event)

        with pytest.raises(ModelError, match="pelan-pelan") as caught:
            asyncio.run(listen())
        error = caught.value
        assert (error.kind, error.status, error.retryable, error.retry_after) == ("rate_limited", 429, True, 2.5)
        assert fold.reply().text == "se"


def test_what_a_caller_stopped_is_recorded_as_stopped(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    answer = asked(Recorded.record(Scripted([Says(text="sebagian", silent=True)]), path), limits=Limits(seconds=0.2))
    assert answer.stopped == "seconds"
    [first, *_] = lines(path)
    assert first["error"]["message"] == "the caller stopped listening here when this was recorded"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (told("lain"), 'messages/0/parts/0/text: recorded "a", now "lain"'),
        (told("a", tool_choice="none"), 'tool_choice: recorded "auto", now "none"'),
        (told("a", settings=Settings(temperature=0.5)), "settings/temperature: recorded nothing, now 0.5"),
        (ModelRequest("baru", (user("a"),)), 'instructions: recorded "", now "baru"'),
        (ModelRequest("", (user("a"), user("b"))), "messages/1: recorded nothing, now {"),
    ],
)
def test_a_request_that_was_not_recorded_is_refused(tmp_path: Path, request_: ModelRequest, field: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, ["satu"], ["a"])
    with pytest.raises(ModelError) as caught:
        asyncio.run(heard(Recorded.replay(path), request_))
    assert caught.value.kind == "bad_request"
    assert not caught.value.retryable
    assert f"request 1 differs in {field}" in caught.value.message


def test_one_request_too_many_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, ["satu"], ["a"])
    replay = Recorded.replay(path)
    asyncio.run(heard(replay, told("a")))
    with pytest.raises(ModelError, match="holds 1 requests, and request 2 is one too many") as caught:
        asyncio.run(heard(replay, told("a")))
    assert caught.value.kind == "bad_request"


def test_what_cannot_matter_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    model = Recorded.record(Scripted(["satu"]), path)
    asyncio.run(heard(model, told("a", seconds=9.0, conversation="x", note="About 12 seconds are left.")))
    again = told("a", seconds=3.0, conversation="y", note="About 8 seconds are left.")
    assert asyncio.run(heard(Recorded.replay(path), again))


def test_a_turn_that_goes_another_way_says_where(tmp_path: Path) -> None:
    path = tmp_path / "belanja.jsonl"
    asked(Recorded.record(shop(), path))
    answer = asked(Recorded.replay(path), "Berapa harga PRD003?")
    assert answer.stopped == "model_error"
    assert "request 1 differs in messages/0/parts/0/text" in str(answer.error)


SECRETS = [
    "sk-proj-abcdefghij0123456789",
    "sk-ant-api03-abcdefghij0123456789",
    "ghp_abcdefghij0123456789abcdefghij012345",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abcdef",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_keys_and_tokens_are_not_written(tmp_path: Path, secret: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, [f"kuncinya {secret} ya"], [f"ini kunci saya: {secret}"])
    written = path.read_text("utf-8")
    assert json.dumps(secret)[1:-1] not in written
    assert lines(path)[0]["request"]["messages"][0]["parts"][0]["text"] == "ini kunci saya: [secret]"
    again = asyncio.run(heard(Recorded.replay(path), told(f"ini kunci saya: {secret}")))
    assert any(getattr(event, "text", "") == "kuncinya [secret] ya" for event in again)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"password": "dua kata", "user": "budi"}', '{"password": "[secret]", "user": "budi"}'),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: [secret]"),
        ("pakai Bearer abcdefgh12345678", "pakai Bearer [secret]"),
        ("OPENAI_API_KEY=rahasia123", "OPENAI_API_KEY=[secret]"),
        ("postgres://budi:rahasia@db/toko", "postgres://[secret]@db/toko"),
        ("sekretaris PRD002 sk-2 task-force", "sekretaris PRD002 sk-2 task-force"),
    ],
)
def test_what_stands_under_the_name_of_a_secret_is_not_written(tmp_path: Path, text: str, written: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, ["ya"], [text])
    found: str = lines(path)[0]["request"]["messages"][0]["parts"][0]["text"]
    if text.startswith("Authorization"):
        assert "abcdefgh12345678" not in found
    else:
        assert found == written


def test_a_secret_in_pieces_or_given_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    script = [
        Says(
            text=("kunci sk-proj-abcde", "fghij0123456789", " nama Bu", "di"),
            calls=(ScriptedCall("masuk", {"password": "x9", "api_key": "y"}),),
        )
    ]
    recorded(path, script, ["halo Budi"], secrets=["Budi"])
    written = path.read_text("utf-8")
    assert "fghij0123456789" not in written
    assert "Bu" not in written
    fold = Fold()
    for event in asyncio.run(heard(Recorded.replay(path, secrets=["Budi"]), told("halo Budi"))):
        fold.add(event)
    assert fold.reply().text == "kunci [secret] nama [secret]"
    assert json.loads(fold.reply().calls[0].arguments) == {"password": "[secret]", "api_key": "[secret]"}


def test_seals_and_settings(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    seal = "sk-proj-abcdefghij0123456789"
    model = Recorded.record(Scripted([[Thinking("hm", seal, "scripted")]]), path)
    asyncio.run(heard(model, told("a", settings=Settings(extra={"api_key": "rahasia"}))))
    [line] = lines(path)
    assert line["request"]["settings"]["extra"] == {"api_key": "[secret]"}
    assert line["events"][0]["part"]["signature"] == seal


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, ["satu"], ["a"])
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with pytest.raises(ConfigurationError, match="cannot read the recording"):
        Recorded.replay(path)
    with pytest.raises(ConfigurationError, match="cannot write the recording"):
        Recorded.record(Scripted(["a"]), tmp_path)
    recorded(path, ["satu"], ["a"])
    path.write_text(path.read_text().replace('"text":"a"', '"text":"b"'))
    with pytest.raises(ConfigurationError, match="line 1: its request was changed"):
        Recorded.replay(path)
    path.write_text("[]\n")
    with pytest.raises(ConfigurationError, match="line 1: not a recorded request"):
        Recorded.replay(path)
