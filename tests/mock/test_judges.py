"""The vendors' SDKs, driven as clients against the mock, hear what the script says, and are refused what they should be."""

from __future__ import annotations

import pytest

from tests.mock.judge import CEK, Failure, Judge, Stage
from tukang.conversation import Usage
from tukang.models.scripted import Fails, Says, ScriptedCall

CALLS = (
    ScriptedCall("cek_harga", {"id": "PRD002"}),
    ScriptedCall("cek_harga", {"id": "Kopi Gayo – 250 g “baru”"}),
)


def failed(client: Judge, stream: bool) -> Exception:
    """The exception of the next request."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each SDK has its own
        client.ask(stream)
    return caught.value


def refused(client: Judge, stream: bool, stage: Stage) -> Failure:
    """How the next request is refused; nothing is taken from the script."""
    asked = len(stage.asked)
    failure = client.failure(failed(client, stream))
    assert failure is not None
    assert failure.status == 400
    assert len(stage.asked) == asked
    return failure


# ── what is said is heard ────────────────────────────────────────────────────────────────────────────────────────────


def test_text_comes_in_the_scripts_deltas(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(("Harganya", " Rp 1,2 juta", " – “baru” 🙂"), usage=Usage(input=31, output=7)))
    heard = client.begin("Berapa harganya?").ask(stream)
    assert heard.text == "Harganya Rp 1,2 juta – “baru” 🙂"
    assert len(heard.deltas) == (3 if stream else 1)
    assert heard.usage == (31, 7)
    assert heard.finish == client.finishes["stop"]
    assert (stage.asked[0].text, stage.asked[0].stream) == ("Berapa harganya?", stream)


def test_calls_are_heard_and_their_results_are_taken(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says("Sebentar.", calls=CALLS), Says("Rp 10"))
    heard = client.begin("Berapa?", CEK).ask(stream)
    assert [(name, arguments) for _, name, arguments in heard.calls] == [(c.name, c.arguments) for c in CALLS]
    assert heard.text == "Sebentar."
    assert heard.finish == client.finishes["calls"]
    assert not client.pairs or len({name for name, _, _ in heard.calls}) == 2
    client.results(heard.calls, ["10", "20"])
    assert client.ask(stream).text == "Rp 10"
    assert [tool.name for tool in stage.asked[1].tools] == ["cek_harga"]
    assert [result.strip('{}":result ') for result in stage.asked[1].results] == ["10", "20"]


def test_thinking_is_heard_and_goes_back_as_it_was(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(thinking="Dua barang, jadi dua kali.", calls=CALLS[:1]), Says("Rp 10"))
    heard = client.begin("Berapa?", CEK).ask(stream)
    assert heard.thinking == "Dua barang, jadi dua kali."
    client.results(heard.calls, ["10"])
    assert client.ask(stream).text == "Rp 10"


@pytest.mark.parametrize("finish", ["length", "filtered"])
def test_a_finish_reason_is_in_the_providers_words(client: Judge, stage: Stage, stream: bool, finish: str) -> None:
    stage.says(Says("Harga", finish=finish))
    assert client.begin("Berapa?").ask(stream).finish == client.finishes[finish]


def test_a_call_without_arguments(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(calls=(ScriptedCall("cek_harga"),)))
    assert client.begin("Berapa?", CEK).ask(stream).calls[0][1:] == ("cek_harga", {})


# ── what the provider would not take ─────────────────────────────────────────────────────────────────────────────────


def test_changed_thinking_is_refused(sealing: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(thinking="Dua barang.", calls=CALLS[:1]))
    heard = sealing.begin("Berapa?", CEK).ask(stream)
    sealing.spoil_thinking()
    sealing.results(heard.calls, ["10"])
    said = refused(sealing, stream, stage).message.lower()
    assert any(word in said for word in ("signature", "encrypted content"))


def test_a_call_without_its_result_is_refused(pairing: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(calls=CALLS))
    heard = pairing.begin("Berapa?", CEK).ask(stream)
    pairing.results(heard.calls[:1], ["10"])
    said = refused(pairing, stream, stage).message
    assert heard.calls[1][0] in said or "number of function response parts" in said


def test_a_result_without_its_call_is_refused(pairing: Judge, stage: Stage, stream: bool) -> None:
    stage.says()
    pairing.begin("Berapa?", CEK).results([("call_none", "cek_harga", {})], ["10"])
    refused(pairing, stream, stage)


def test_an_illegal_name_of_a_tool_is_refused(pairing: Judge, stage: Stage, stream: bool) -> None:
    stage.says()
    assert "name" in refused(pairing.begin("Berapa?", {**CEK, "name": "cek harga!"}), stream, stage).message


# ── faults of the script ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_has_its_status_and_asks_to_wait(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(fails=Fails("rate_limited", "Pelan-pelan.", retry_after=7)), Says("ya"))
    failure = client.failure(failed(client.begin("Berapa?"), stream))
    assert failure is not None
    assert failure.status == 429
    assert "Pelan-pelan." in failure.message
    assert failure.retry_after in ("7", None)  # not every SDK shows its headers
    assert client.ask(stream).text == "ya"


def test_a_fault_can_have_another_status(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(fails=Fails("overloaded", "Sibuk.", status=502)))
    failure = client.failure(failed(client.begin("Berapa?"), stream))
    assert failure is not None
    assert failure.status == 502


def test_a_fault_after_some_text_stands_inside_the_stream(client: Judge, stage: Stage) -> None:
    stage.says(Says("Harganya", fails=Fails("overloaded", "Sibuk sekali.")))
    failure = client.failure(failed(client.begin("Berapa?"), stream=True))
    if failure is None:  # an SDK that does not look for it
        pytest.fail("the SDK did not see the error")
    assert "Sibuk sekali." in failure.message


def test_a_stream_that_is_cut_is_noticed(client: Judge, stage: Stage) -> None:
    stage.says(Says("Harganya", fails=Fails("connection")))
    error = failed(client.begin("Berapa?"), stream=True)
    assert client.failure(error) is None  # nothing the server said


def test_a_connection_can_be_refused_before_a_word(client: Judge, stage: Stage, stream: bool) -> None:
    stage.says(Says(fails=Fails("connection")))
    assert client.failure(failed(client.begin("Berapa?"), stream)) is None


def test_a_stream_that_ends_too_early_has_no_end(client: Judge, stage: Stage) -> None:
    stage.says(Says("Harganya", fails=Fails("bad_response")))
    heard = noticed = None
    try:
        heard = client.begin("Berapa?").ask(stream=True)
    except Exception as error:
        noticed = error
    # OpenAI's and Anthropic's SDKs take what came for a reply, with no reason to have finished
    assert (heard is not None and heard.text == "Harganya" and not heard.finish) or (
        noticed is not None and client.failure(noticed) is None
    )
