"""What a type checker knows of `returns`. Checked by pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, assert_type

import msgspec
from pydantic import BaseModel

from tukang import Agent, Answer, Limits


class Invoice(BaseModel):
    total: int


@dataclass
class Point:
    x: int


class City(TypedDict):
    name: str


class Reading(msgspec.Struct):
    celsius: float


def run(agent: Agent) -> None:
    assert_type(agent.run("…"), Answer[None])
    assert_type(agent.run("…", returns=Invoice), Answer[Invoice])
    assert_type(agent.run("…", returns=Invoice, limits=Limits(), context=1).data, Invoice | None)
    assert_type(agent.run("…", returns=Point).data, Point | None)
    assert_type(agent.run("…", returns=City).data, City | None)
    assert_type(agent.run("…", returns=Reading).data, Reading | None)
    assert_type(agent.run("…", returns=list[Invoice]).data, list[Invoice] | None)
    assert_type(agent.run("…", returns=int).data, int | None)
    assert_type(agent.run("…", returns=Literal["a", "b"]), Answer[Any])
    assert_type(agent.run("…", returns={"type": "object"}), Answer[Any])
    assert_type(agent.session().run("…", returns=Invoice), Answer[Invoice])
    agent.run("…", retruns=Invoice)  # pyright: ignore[reportCallIssue]


async def arun(agent: Agent) -> None:
    assert_type(await agent.arun("…"), Answer[None])
    assert_type(await agent.arun("…", returns=Invoice), Answer[Invoice])
    assert_type(await agent.session().arun("…", returns=Invoice), Answer[Invoice])
    stream = agent.stream("…", returns=Invoice)
    async for _ in stream:
        pass
    assert_type(stream.answer, Answer[Invoice])
    assert_type(agent.stream("…").answer.data, None)


def plain(answer: Answer) -> None:
    assert_type(answer, Answer[Any])


def any_answer(agent: Agent) -> None:
    plain(agent.run("…"))
    plain(agent.run("…", returns=Invoice))
