"""Whole turns in which the provider runs tools itself: what becomes a step, what goes back, what counts."""

from __future__ import annotations

import pytest

from tests.hosted.turns import ANTHROPIC, ARN, BEDROCK, HARGA, RESPONSES, asks, cek_harga, ran, says, wire
from tests.models import anthropic_judge, responses_judge
from tukang import Agent, Answer, Limits, Principal, Rule, hosted
from tukang.models.scripted import Fails, Says

PAGES = "Harga BRG001 — https://contoh.id/brg001"


def steps(answer: Answer) -> list[tuple[int, str, bool]]:
    return [(step.round, step.tool, step.served) for step in answer.steps]


@pytest.mark.parametrize("model", [RESPONSES, ANTHROPIC])
def test_one_reply_mixes_what_the_provider_runs_with_calls_of_ours(model: str) -> None:
    first = says(ran("web_search", PAGES, query="BRG001"), calls=[HARGA])
    with wire(first, says(text="Rp 85.000.")) as sent:
        answer = Agent(model, tools=[cek_harga, hosted.web_search()]).run("Berapa harganya?")
    assert sent.refused == []
    assert steps(answer) == [(1, "web_search", True), (1, "cek_harga", False)]
    assert "https://contoh.id/brg001" in answer.steps[0].result
    assert "BRG001" in answer.steps[0].arguments
    assert answer.steps[0].fault is None
    assert (answer.text, answer.rounds) == ("Rp 85.000.", 1)


def test_what_openai_ran_goes_back_as_it_came() -> None:
    first = says(ran("web_search", PAGES, query="a"), ran("code", "42", code="print(42)"), calls=[HARGA], thinking="hm")
    with wire(first, says(text="ya")) as sent:
        Agent(RESPONSES, tools=[cek_harga, hosted.web_search(), hosted.code()]).run("?")
    body = sent.received[-1].body
    responses_judge.judge(body)
    assert body["store"] is False
    assert {"web_search_call.action.sources", "code_interpreter_call.outputs"} < set(body["include"])
    kinds = [item.get("type") for item in sent.inputs()]
    order = ["reasoning", "web_search_call", "code_interpreter_call", "function_call", "function_call_output"]
    assert kinds == [None, *order]
    search, code = sent.inputs()[2:4]
    assert search["action"]["sources"] == [{"type": "url", "url": "https://contoh.id/brg001"}]
    assert code["outputs"] == [{"type": "logs", "logs": "42"}]


def test_what_anthropic_found_goes_back_with_its_seal_and_what_it_is_still_to_run_stays() -> None:
    first = says(ran("web_search", PAGES, query="a"), ran("code", None, command="ls"), calls=[HARGA])
    with wire(first, says(text="ya"), says(text="lagi")) as sent:
        chat = Agent(ANTHROPIC, tools=[cek_harga, hosted.web_search(most=3), hosted.code()]).session()
        answer = chat.run("?")
        chat.run("!")
    assert sent.refused == []  # the mock knows its seals
    for one in sent.received:
        anthropic_judge.accepted({**one.body, "stream": False})
    kinds = [block["type"] for block in sent.blocks(1)]
    assert kinds[1:5] == ["server_tool_use", "web_search_tool_result", "server_tool_use", "tool_use"]
    assert [block["type"] for block in sent.blocks(2)].count(
        "server_tool_use"
    ) == 1  # nobody waits for the other any more
    assert answer.usage.served == {"web_search": 1}
    unknown = answer.steps[1].fault
    assert unknown is not None
    assert unknown.kind == "outcome_unknown"


def test_a_reply_that_paused_goes_on_and_its_steps_are_of_one_reply() -> None:
    paused = says(ran("web_search", PAGES, query="a"), text="Saya cari. ", finish="paused")
    with wire(paused, says(ran("web_search", PAGES, query="b"), text="Ketemu.")) as sent:
        answer = Agent(ANTHROPIC, tools=[hosted.web_search()]).run("?")
    assert sent.refused == []
    assert sent.received[1].body["messages"][-1]["role"] == "assistant"
    assert (answer.text, steps(answer)) == ("Saya cari. Ketemu.", [(1, "web_search", True), (1, "web_search", True)])
    assert answer.usage.served == {"web_search": 2}


def test_anthropic_s_connector_is_told_of_servers_and_of_the_tools_that_are_wanted() -> None:
    server = hosted.mcp("toko", url="https://toko.id/mcp", approval="never", token="rahasia-sekali", tools=["cari"])
    with wire(says(ran("toko.cari", "ada 7", kode="BRG001"), text="Ada 7.")) as sent:
        answer = Agent(ANTHROPIC, tools=[server]).run("?")
    body = sent.received[0].body
    anthropic_judge.accepted({**body, "stream": False})
    assert body["mcp_servers"] == [
        {"type": "url", "name": "toko", "url": "https://toko.id/mcp", "authorization_token": "rahasia-sekali"}
    ]
    assert body["tools"][0]["configs"] == {"cari": {"enabled": True}}
    assert "mcp-client-2025-11-20" in sent.received[0].headers["anthropic-beta"]
    assert [(step.tool, step.result) for step in answer.steps] == [("toko.cari", "ada 7")]
    assert "rahasia" not in repr(answer)


def test_bedrock_calls_a_lambda_function_and_its_own_notes() -> None:
    with wire(says(ran("toko.cari", "ada 7", kode="BRG001"), ran("bedrock.notes", "dicatat"), text="Ada 7.")) as sent:
        answer = Agent(BEDROCK, tools=[hosted.aws("toko", ARN)]).run("?")
    assert sent.refused == []
    assert sent.received[0].body["tools"] == [
        {"type": "mcp", "server_label": "toko", "connector_id": ARN, "require_approval": "never"}
    ]
    assert "include" not in sent.received[0].body
    assert sent.received[0].headers["authorization"] == "Bearer not-a-key"
    assert [step.tool for step in answer.steps] == ["toko.cari", "bedrock.notes"]


def test_a_failure_of_theirs_is_a_fault_of_the_step() -> None:
    fails = ran("toko.cari", "server is down")
    with wire(says(type(fails)("toko.cari", {}, "server is down", fault=True), text="Maaf.")):
        answer = Agent(BEDROCK, tools=[hosted.aws("toko", ARN)]).run("?")
    fault = answer.steps[0].fault
    assert fault is not None
    assert (fault.kind, fault.message) == ("tool_failed", "server is down")


@pytest.mark.parametrize("model", [RESPONSES, ANTHROPIC])
def test_a_provider_that_quotes_a_token_does_not_get_it_into_the_record(model: str) -> None:
    said = Fails("bad_request", "401 from the server: 'rahasia-sekali-123' is no token")
    server = hosted.mcp("toko", url="https://toko.id/mcp", approval="never", token="rahasia-sekali-123")
    with wire(Says(fails=said)):
        answer = Agent(model, tools=[server]).run("?")
    assert answer.error is not None
    assert "is no token" in answer.error.message
    assert "rahasia" not in repr(answer)


# ── limits, and what may not happen twice ────────────────────────────────────────────────────────────────────────────


def test_what_the_provider_ran_counts_as_calls() -> None:
    first = says(ran("web_search", PAGES), ran("web_search", PAGES), calls=[HARGA])
    with wire(first, says(text="Sampai di sini.")) as sent:
        answer = Agent(RESPONSES, tools=[cek_harga, hosted.web_search()], limits=Limits(calls=2)).run("?")
    fault = answer.steps[2].fault
    assert fault is not None
    assert fault.kind == "not_run"
    assert (answer.stopped, answer.text) == ("calls", "Sampai di sini.")
    assert sent.received[1].body["tool_choice"] == "none"


BROKEN = Says(fails=Fails("connection"))
REFUSED = Says(fails=Fails("overloaded", status=503, retry_after=0.01))


@pytest.mark.parametrize(
    ("effect", "fault", "requests"),
    [
        ("unknown", BROKEN, 1),
        ("write", BROKEN, 1),
        ("read", BROKEN, 2),
        ("idempotent", BROKEN, 2),
        ("unknown", REFUSED, 2),
    ],
)
def test_a_request_that_may_have_changed_something_is_not_repeated(effect: str, fault: Says, requests: int) -> None:
    with wire(fault, says(text="ya")) as sent:
        agent = Agent([BEDROCK, BEDROCK], tools=[hosted.aws("toko", ARN, effect=effect)])  # type: ignore[arg-type]
        answer = agent.run("?")
    assert len(sent.received) == requests
    assert answer.stopped == ("answer" if requests == 2 else "model_error")
    if requests == 1:
        assert answer.error is not None
        assert "not repeated" in (answer.error.hint or "")


# ── who may use it ───────────────────────────────────────────────────────────────────────────────────────────────────


def offered(agent: Agent, principal: Principal | None = None) -> list[str]:
    with wire(says(text="ya")) as sent:
        chosen = agent.with_model(RESPONSES)
        chosen.run("?", principal=principal)
    return [tool.get("server_label") or tool["type"] for tool in sent.received[0].body.get("tools", [])]


def test_scopes_and_rules_are_about_what_is_offered() -> None:
    with wire():
        tools = [hosted.web_search(needs="web"), hosted.code()]
        needy = Agent(RESPONSES, tools=tools)
        denied = Agent(RESPONSES, tools=tools, rules=[Rule("deny", tool="code", principal="tamu*")])
        later = Agent(RESPONSES, tools=tools, rules=[Rule("deny", tool="c*", after_untrusted=True)])
    member, guest = Principal("budi", scopes=["web"]), Principal("tamu-1")
    assert offered(needy) == ["code_interpreter"]
    assert offered(needy, member) == ["web_search", "code_interpreter"]
    assert offered(denied, member) == ["web_search", "code_interpreter"]
    assert offered(denied, guest) == []
    assert offered(later, member) == ["web_search"]


def test_results_from_outside_bring_rules_about_them_to_bear() -> None:
    first = says(ran("web_search", PAGES), text="")
    rules = [Rule("deny", tool="cek_harga", after_untrusted=True, why="a page may have asked for it")]
    with wire(says(ran("web_search", PAGES), calls=[HARGA]), says(text="ya"), first):
        answer = Agent(RESPONSES, tools=[cek_harga, hosted.web_search()], rules=rules).run("?")
    fault = answer.steps[1].fault
    assert fault is not None
    assert fault.kind == "refused"


def test_another_provider_is_sent_what_it_takes() -> None:
    """Of what one provider ran another one gets nothing; what was permitted is a call like any other."""
    first = says(ran("web_search", PAGES, query="a"), asks("zip1.create", url="x"))
    server = hosted.mcp("zip1", url="https://zip1.id/mcp")
    with wire(first, says(text="ya")) as sent:
        chat = Agent(RESPONSES, tools=[hosted.web_search(), server]).session()
        chat.run("?")
        history = chat.messages
    with wire(says(text="lagi")) as sent:
        Agent(ANTHROPIC, tools=[hosted.web_search()]).session(messages=history).run("!")
    assert sent.refused == []
    kinds = [block["type"] for block in sent.blocks()]
    assert kinds == ["text", "tool_use", "tool_result", "text", "text"]
