"""What is taken out of events before they are written, and what is left as it is."""

from __future__ import annotations

import msgspec
import pytest

from tukang.conversation import File, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, user
from tukang.loop import events
from tukang.loop.events import Event, ModelFault
from tukang.loop.limits import Limits
from tukang.memory.redaction import Redaction
from tukang.memory.stores.encoding import text_of
from tukang.tools.outcome import Outcome, failed

KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc"
VALUE = 'nilai "rahasia" 42'


def redaction(hook=None) -> Redaction:  # type: ignore[no-untyped-def]
    return Redaction(hook, environment={"TOKO_API_KEY": VALUE, "EDITOR": "editor-panjang", "X_TOKEN": "pendek"})


@pytest.mark.parametrize("secret", [KEY, TOKEN, VALUE, "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"])
def test_no_secret_is_left_in_any_field_of_words(secret: str) -> None:
    several: list[Event] = [
        events.TurnStarted(
            at=1.0, turn="t", trigger=user(f"pakai {secret} ya"), limits=Limits(), policies={}, contracts={}
        ),
        events.ModelAsked(at=1.0, attempt=1, note=f"x {secret}"),
        events.ModelReplied(
            at=1.0,
            parts=(
                Text(f"a {secret}"),
                Thinking(f"b {secret}"),
                ToolCall("", "f", msgspec.json.encode({"x": [secret]}).decode()),
                Opaque("openai", {"summary": [{"text": f"c {secret}"}]}),
                Image("image/png", url=f"https://host/?a={secret}"),
            ),
            finish="stop",
            refusal=f"d {secret}",
        ),
        events.ModelInterrupted(
            at=1.0, parts=(Text(secret),), error=ModelFault("authentication", f"key {secret}", f"not {secret}")
        ),
        events.CallChecked(at=1.0, call="c", digest="d", arguments=msgspec.json.encode({"x": secret}).decode()),
        events.CallFinished(at=1.0, call="c", outcome=Outcome((Text(f"e {secret}"),))),
        events.CallFinished(at=1.0, call="c", outcome=failed("tool_failed", f"f {secret}", f"g {secret}")),
        events.CallSettled(at=1.0, call="c", outcome=Outcome((Text(msgspec.json.encode({"x": secret}).decode()),))),
        events.RoundEnded(at=1.0, notes={"c": f"h {secret}"}),
        events.CallRefused(at=1.0, call="c", digest="d", by="siti", reason=f"i {secret}"),
        events.CallEdited(at=1.0, call="c", digest="d", arguments=msgspec.json.encode([secret]).decode()),
        events.CancelRequested(at=1.0, reason=f"j {secret}"),
        events.TurnFinished(at=1.0, stopped="answer", text=f"k {secret}"),
    ]
    for event in several:
        written = text_of(redaction().event(event))
        said = msgspec.json.decode(written)
        for form in (secret, msgspec.json.encode(secret).decode()[1:-1]):
            assert form not in written, said
        assert "[secret]" in written
        assert msgspec.json.decode(written, type=Event) is not None, "it is an event still"


def test_calls_that_lost_something_say_so_and_keep_their_digest() -> None:
    clean = redaction()
    secretive = ToolCall("", "masuk", '{"password": "hunter2", "user": "budi"}', "call_1")
    plain = ToolCall("", "masuk", '{ "user":"budi" }')
    replied = events.ModelReplied(at=1.0, parts=(secretive, plain), finish="calls")
    written = clean.event(replied)
    assert written.parts == (  # type: ignore[union-attr]
        ToolCall("", "masuk", '{"password":"[secret]","user":"budi"}', "call_1", redacted=True),
        plain,
    )
    checked = events.CallChecked(at=1.0, call="c", digest="d", arguments='{"password":"hunter2"}')
    assert clean.event(checked) == msgspec.structs.replace(checked, arguments='{"password":"[secret]"}', redacted=True)
    edited = events.CallEdited(at=1.0, call="c", digest="d", arguments='{"api_key":"1234"}')
    assert clean.event(edited).redacted  # type: ignore[union-attr]
    broken = events.ModelReplied(at=1.0, parts=(ToolCall("", "f", f'{{"x": "{KEY}'),), finish="length")
    assert clean.event(broken).parts == (ToolCall("", "f", '{"x": "[secret]', redacted=True),)  # type: ignore[union-attr]


def test_what_holds_no_secret_is_the_same_object() -> None:
    event = events.ModelReplied(
        at=1.0,
        parts=(Text("Harga SSD Rp 1.200.000"), ToolCall("", "f", '{ "x" : 1.0 }'), Opaque("x", {"a": [1, None]})),
        finish="stop",
    )
    assert redaction().event(event) is event


def test_structure_seals_and_bytes_are_left_alone() -> None:
    event = events.ModelReplied(
        at=1.0,
        parts=(
            Thinking("Berpikir", signature=KEY, provider="anthropic"),
            Opaque("openai", {"encrypted_content": KEY, "id": "rs_1"}),
            ToolCall("", "f", "{}", wire_id=KEY),
            File("application/pdf", data=KEY.encode()),
        ),
        finish="stop",
    )
    assert redaction().event(event) is event
    started = events.CallStarted(at=1.0, call="c", key=KEY)
    assert redaction().event(started) is started


def test_thinking_that_lost_something_loses_its_seal() -> None:
    event = events.ModelReplied(at=1.0, parts=(Thinking(f"a {KEY}", "seal", "anthropic"),), finish="stop")
    assert redaction().event(event).parts == (Thinking("a [secret]", None, "anthropic"),)  # type: ignore[union-attr]


def test_variables_are_secret_by_their_names() -> None:
    clean = Redaction(
        environment={
            "DB_PASSWORD": "sandi-db-1",
            "AWS_SECRET_ACCESS_KEY": "abcd/efgh+1",
            "MY_TOKENS": "tok-tok-tok",
            "GOOGLE_APPLICATION_CREDENTIALS": "kredensial-x",
            "SSH_KEY_FILE": "/home/budi/.ssh/id",
            "KEYBOARD": "indonesia-qwerty",
            "SHORT_KEY": "1234567",
        },
        secrets=["tambahan"],
    )
    said = "sandi-db-1 abcd/efgh+1 tok-tok-tok kredensial-x /home/budi/.ssh/id indonesia-qwerty 1234567 tambahan"
    hidden = " ".join(["[secret]"] * 4)
    assert clean.text(said) == f"{hidden} /home/budi/.ssh/id indonesia-qwerty 1234567 [secret]"


def test_this_process_own_variables_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKO_SECRET", "rahasia-toko-99")
    assert Redaction().text("x rahasia-toko-99") == "x [secret]"


def test_the_users_hook_has_the_last_word() -> None:
    clean = redaction(lambda text: text.replace("KTP 3171", "KTP ****"))
    result = ToolResult("c", "f", (Text(f"KTP 3171 {KEY}"),))
    started = events.TurnStarted(
        at=1.0,
        turn="KTP 3171",
        trigger=Message("tool", (result,)),
        limits=Limits(),
        policies={},
        contracts={},
    )
    written = clean.event(started)
    assert written.trigger.results[0].text == "KTP **** [secret]"  # type: ignore[union-attr]
    assert written.turn == "KTP 3171", "what says which turn is meant is nobody's words"  # type: ignore[union-attr]
    checked = events.CallChecked(at=1.0, call="c", digest="d", arguments='{"ktp":"KTP 3171"}')
    assert clean.event(checked).redacted  # type: ignore[union-attr]


@pytest.mark.parametrize("hook", [int, lambda _: None])
def test_a_hook_that_fails_lets_nothing_through(hook) -> None:  # type: ignore[no-untyped-def]
    event = events.TurnFinished(at=1.0, stopped="answer", text="KTP 3171")
    assert redaction(hook).event(event).text == "[secret]"  # type: ignore[union-attr]
