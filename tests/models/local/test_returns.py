"""An answer that is data, from the local model: the grammar gives it. Without weights: the engine says what it is told."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tests.models.local.engines import Says, Scripted
from tests.models.local.gbnf import Gbnf
from tests.models.local.test_deciding import call
from tukang import Agent, tool
from tukang.models.local import LocalModel
from tukang.models.local.engine import Slot
from tukang.models.local.prompts import NOTHING


class Nota(BaseModel):
    nomor: str
    total: int
    lunas: bool = False


@tool(effect="read")
def price(product_id: str) -> dict[str, Any]:
    """The price of a product."""
    return {"product_id": product_id, "harga": 1200}


GIVEN = call("answer", nomor="N-7", total=1200, lunas=True)
QUESTION = "Nota N-7, PRD001, total 1200, lunas."


def agent(decide: list[Says], answer: list[Says] | None = None, **more: Any) -> tuple[Agent, Scripted]:
    engine = Scripted(decide, answer or ())
    return Agent(LocalModel(engine=engine), **more), engine


def test_the_forced_answer_is_all_the_grammar_allows() -> None:
    one, engine = agent([GIVEN])
    answer = one.run(QUESTION, returns=Nota)
    assert (answer.data, answer.stopped) == (Nota(nomor="N-7", total=1200, lunas=True), "answer")
    grammar = Gbnf(engine.asked(Slot.DECIDE)[0].grammar or "")
    assert grammar.allows(GIVEN)
    assert not grammar.allows(NOTHING)
    assert not grammar.allows(call("answer", nomor="N-7", total="banyak"))


def test_a_choice_is_given_as_one_of_its_words() -> None:
    one, engine = agent([call("answer", data="lunas")])
    assert one.run(QUESTION, returns=Literal["lunas", "utang"]).data == "lunas"
    grammar = Gbnf(engine.asked(Slot.DECIDE)[0].grammar or "")
    assert not grammar.allows(call("answer", data="entah"))


def test_words_after_a_tool_are_followed_by_the_forced_answer() -> None:
    says: list[Says] = [call("price", product_id="PRD001"), NOTHING, GIVEN]
    one, engine = agent(says, ["Harganya 1200."], tools=[price])
    answer = one.run(QUESTION, returns=Nota)
    assert (answer.data, answer.stopped) == (Nota(nomor="N-7", total=1200, lunas=True), "answer")
    assert [step.tool for step in answer.steps] == ["price", "answer"]
    last = Gbnf(engine.asked(Slot.DECIDE)[-1].grammar or "")
    assert last.allows(GIVEN)
    assert not last.allows(call("price", product_id="PRD001"))


def test_what_nobody_said_is_not_data() -> None:
    invented = call("answer", nomor="PRD777", total=1200)
    one, _ = agent([invented] * 4, ["Nomor notanya belum disebut."] * 2)
    answer = one.run("Nota itu, total 1200.", returns=Nota)
    assert (answer.data, answer.stopped) == (None, "no_data")
    assert "belum disebut" in answer.text
