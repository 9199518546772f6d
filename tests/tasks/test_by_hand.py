"""The pair `mulai_ekspor_data` and `cek_status_task` as ordinary tools, without any of `tukang.tasks`: it works as well, when
the poll says that it is one; and who forgets that is told."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from tukang import Agent, Answer, tool
from tukang.errors import ToolWarning
from tukang.models.scripted import Scripted, call


class ByHand:
    """An export that somebody else runs: each question finds it further."""

    def __init__(self) -> None:
        self.percent = 0

    @tool(effect="idempotent", approval="never")
    def mulai_ekspor_data(self, format: str, filter_tanggal: str | None = None) -> dict[str, Any]:
        """Mulai mengekspor pesanan.

        Argumen:
            format: csv atau json
            filter_tanggal: contoh: 2026-11
        """
        return {"task_id": "EKS1", "format": format, "filter": filter_tanggal}

    def cek_status_task(self, task_id: str) -> dict[str, Any]:
        """Cek sudah sejauh mana sebuah ekspor.

        Argumen:
            task_id: nomor dari mulai_ekspor_data
        """
        self.percent += 50
        return {"task_id": task_id, "kemajuan": self.percent}


def run(poll: Any, hand: ByHand) -> Answer[None]:
    asks = call("cek_status_task", task_id="EKS1")
    model = Scripted([call("mulai_ekspor_data", format="csv"), asks, asks, "Selesai."])
    return Agent(model, tools=[hand.mulai_ekspor_data, poll]).run("Ekspor.")


def progress(answer: Answer[None]) -> list[int]:
    return [json.loads(step.result)["kemajuan"] for step in answer.steps if step.tool == "cek_status_task"]


def test_a_poll_that_says_so_runs_every_time() -> None:
    hand = ByHand()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ToolWarning)
        answer = run(tool(hand.cek_status_task, effect="read", repeatable=True), hand)
    assert progress(answer) == [50, 100]
    assert [tool.name for tool in Agent(Scripted([]), tools=[hand.mulai_ekspor_data]).toolbox] == ["mulai_ekspor_data"]


def test_who_does_not_say_so_is_told_and_the_second_answer_is_the_first() -> None:
    hand = ByHand()
    with pytest.warns(ToolWarning) as told:
        answer = run(tool(hand.cek_status_task, effect="read"), hand)
    built, reused = (str(one.message) for one in told)
    assert "'cek_status_task' looks like a poll" in built
    assert "repeatable=True" in built
    assert "did not run" in reused
    assert progress(answer) == [50, 50]
    assert hand.percent == 50
