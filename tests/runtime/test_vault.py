"""Secrets that a function needs: given by the host, seen by nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from tests.tools import isolated
from tukang import Agent, CallContext, ConfigurationError, Secret, ToolDefinitionError, tool
from tukang.conversation import Message
from tukang.models.scripted import Scripted, call
from tukang.runtime.signals import Progress, Signal
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import Tool

KEY = "s3sam-buka-pintu"


def saying(function: Any, **options: Any) -> tuple[Any, Scripted]:
    model = Scripted([call("kirim", untuk="budi"), "Selesai."])
    agent = Agent(model, tools=[tool(function, name="kirim", effect="read", description="Kirim.")], **options)
    return agent, model


def everything(model: Scripted) -> str:
    """All that the model was shown."""
    said: list[Message] = [*model.requests[-1].messages]
    return msgspec.json.encode([said, [one.parameters for one in model.requests[0].tools]]).decode()


def kirim(untuk: str, kunci: Annotated[str, Secret("BANK")]) -> str:
    assert kunci == KEY
    return f"terkirim ke {untuk} dengan {kunci}"


async def kirim_async(untuk: str, context: CallContext, kunci: Annotated[str, Secret("BANK")] = "") -> str:
    context.progress(50, f"dengan {kunci}")
    await asyncio.sleep(0)
    return kirim(untuk, kunci)


def gagal(untuk: str, kunci: Annotated[str, Secret("BANK")]) -> str:
    raise ValueError(f"{untuk}: the bank does not know {kunci}")


def tidak_jadi(untuk: str, kunci: Annotated[str, Secret("BANK")]) -> str:
    raise NothingDone(f"{untuk}: {kunci} is locked", f"unlock {kunci}")


async def fetched(name: str) -> str:
    await asyncio.sleep(0)
    return {"BANK": KEY}[name]


@pytest.mark.parametrize("source", [{"BANK": KEY}, lambda name: {"BANK": KEY}[name], fetched])
@pytest.mark.parametrize("function", [kirim, kirim_async, gagal, tidak_jadi])
def test_the_function_gets_it_and_nobody_else_sees_it(function: Any, source: Any) -> None:
    agent, model = saying(function, secrets=source)
    signals: list[Any] = []

    async def work() -> Any:
        stream = agent.stream("go")
        async for item in stream:
            signals.append(item)
        return stream.answer

    answer = asyncio.run(work())
    assert KEY not in everything(model)
    assert "kunci" not in everything(model)
    assert "budi" in answer.steps[0].result
    assert "[secret]" in answer.steps[0].result
    assert KEY not in repr(answer)
    told = [item.delta for item in signals if isinstance(item, Signal) and isinstance(item.delta, Progress)]
    assert [one.message for one in told] == (["dengan [secret]"] if function is kirim_async else [])


def test_it_reaches_a_function_in_a_process() -> None:
    model = Scripted([call("kirim", untuk="budi"), "Selesai."])
    agent = Agent(model, tools=[tool(isolated.whispers, name="kirim", isolation="process")], secrets={"BANK": KEY})
    answer = agent.run("go")
    assert answer.steps[0].result == "budi [secret] 16"


def test_it_stands_in_no_store(tmp_path: Path) -> None:
    agent, _ = saying(kirim, secrets={"BANK": KEY})
    answer = agent.session("budi", store=f"sqlite:///{tmp_path}/t.db").run(f"pakai {KEY}")
    assert answer.steps[0].fault is None
    assert not any(KEY.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_a_secret_that_is_not_there_runs_nothing() -> None:
    for secrets in (None, {}, {"BANK": ""}, {"LAIN": "x"}):
        with pytest.raises(ConfigurationError, match="needs the secret 'BANK' for 'kunci'"):
            saying(kirim, secrets=secrets)
    for broken in (lambda _: None, lambda _: "", lambda _: 1 / 0):
        agent, model = saying(kirim, secrets=broken)
        answer = agent.run("go")
        assert answer.steps[0].fault is not None
        assert answer.steps[0].fault.kind == "not_run"
        assert "ZeroDivision" not in everything(model)


def test_a_model_cannot_name_one() -> None:
    model = Scripted([call("kirim", untuk="budi", kunci="mine"), "Selesai."])
    answer = Agent(model, tools=[tool(kirim, effect="read", description="Kirim.")], secrets={"BANK": KEY}).run("go")
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "invalid_arguments"


def test_a_mark_that_marks_nothing_is_refused() -> None:
    def a(kunci: Annotated[int, Secret("BANK")]) -> None: ...

    def b(kunci: Annotated[str, Secret("")]) -> None: ...

    def c(kunci: Annotated[str, Secret]) -> None: ...

    def d(kunci: Annotated[str, Secret("BANK")], /) -> None: ...

    for function in (a, b, c, d):
        with pytest.raises(ToolDefinitionError, match="Secret"):
            Agent(Scripted([]), tools=[function], secrets={"BANK": KEY})
    from tukang.tools.adopting import as_tool

    made: Tool = as_tool(kirim)
    assert list(made.contract.parameters["properties"]) == ["untuk"]
