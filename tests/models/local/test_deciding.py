"""A decision is checked: against the schema, for invented identifiers, for a call already made. Two tries, then an answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.models.local.engines import Says, Scripted
from tests.models.local.gbnf import Gbnf
from tukang.conversation import Message, Text, ToolCall, ToolResult, user
from tukang.errors import ModelError
from tukang.models.base import ModelRequest
from tukang.models.local.deciding import Decision, decide, decision_grammar
from tukang.models.local.engine import Slot
from tukang.models.local.grounding import Sources
from tukang.models.local.prompts import NOTHING, OPENING, decision
from tukang.models.local.view import view_of
from tukang.tools.contract import Contract

PRICE = Contract(
    "price",
    "The price of a product.",
    {"type": "object", "properties": {"product_id": {"type": "string"}}, "required": ["product_id"]},
)
ORDER = Contract(
    "order",
    "Order a product.",
    {
        "type": "object",
        "properties": {"product_id": {"type": "string"}, "quantity": {"type": "integer", "multipleOf": 2}},
        "required": ["product_id", "quantity"],
    },
)
CITY = Contract(
    "weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)


def call(name: str, **arguments: Any) -> str:
    return decision("something", name, arguments).removeprefix(OPENING)


def decided(
    says: list[Says], *messages: Message, tools: tuple[Contract, ...] = (PRICE, ORDER), **more: Any
) -> tuple[Decision, Scripted]:
    engine = Scripted(decide=says)
    request = ModelRequest(more.pop("instructions", ""), messages)
    view = view_of(request)
    return asyncio.run(decide(engine, view, tools, Sources(view.said), **more)), engine


def asked(name: str, arguments: str, result: str) -> tuple[Message, Message]:
    return Message("assistant", (ToolCall("c1", name, arguments),)), Message(
        "tool", (ToolResult("c1", name, (Text(result),)),)
    )


def test_a_grounded_call_is_passed_on() -> None:
    found, engine = decided([call("price", product_id="PRD001")], user("Berapa harga PRD001?"))
    assert (found.tool, json.loads(found.arguments)) == ("price", {"product_id": "PRD001"})
    assert found.usage.requests == len(engine.asked(Slot.DECIDE)) == 1
    assert found.usage.input > 0


def test_nothing_is_an_answer() -> None:
    assert decided([NOTHING], user("Halo"))[0].tool is None


def test_an_invented_identifier_is_not_passed_on() -> None:
    found, engine = decided([call("price", product_id="PRD777")] * 2, user("Saya mau pesan"))
    assert found.tool is None
    assert found.missing == ("product_id",)
    first, second = engine.asked(Slot.DECIDE)
    assert first.prompt != second.prompt
    assert "product_id" in second.prompt


def test_the_second_try_counts() -> None:
    says: list[Says] = [call("price", product_id="PRD777"), call("price", product_id="PRD001")]
    found, _ = decided(says, user("harga PRD001"))
    assert found.tool == "price"
    assert found.usage.requests == 2


def test_a_misspelt_identifier_is_put_right() -> None:
    found, _ = decided([call("price", product_id="PRD01")], user("harga PRD001"))
    assert json.loads(found.arguments) == {"product_id": "PRD001"}


def test_instructions_and_results_ground_an_identifier() -> None:
    says: list[Says] = [call("price", product_id="PRD009")]
    assert decided(says, user("harga?"), instructions="Only PRD009 is sold.")[0].tool == "price"
    result = asked("price", "{}", '{"best": "PRD009"}')
    assert decided(says, user("harga?"), *result)[0].tool == "price"


def test_arguments_of_earlier_calls_ground_nothing() -> None:
    before = asked("weather", '{"city": "PRD009"}', "{}")
    assert decided([call("price", product_id="PRD009")] * 2, user("harga?"), *before)[0].tool is None


def test_an_order_nobody_asked_for_is_not_made_and_the_other_tools_are_offered_once_more() -> None:
    before = asked("price", '{"product_id":"PRD001"}', '{"price": 5, "stock": 14}')
    says: list[Says] = [call("order", product_id="PRD001", quantity=14), call("price", product_id="PRD002")]
    found, engine = decided(says, user("Harga PRD001 dan PRD002?"), *before)
    assert (found.tool, json.loads(found.arguments)) == ("price", {"product_id": "PRD002"})
    assert "order" not in (engine.asked(Slot.DECIDE)[1].grammar or "")


def test_an_order_that_was_asked_for_is_made_after_a_look() -> None:
    before = asked("price", '{"product_id":"PRD001"}', '{"price": 5, "stock": 14}')
    says: list[Says] = [call("order", product_id="PRD001", quantity=2)]
    assert decided(says, user("Harga PRD001? Kalau ada, pesan 2."), *before)[0].tool == "order"


def test_the_same_call_twice_is_an_answer() -> None:
    before = asked("price", '{"product_id":"PRD001"}', '{"price": 5}')
    found, engine = decided([call("price", product_id="PRD001")], user("harga PRD001"), *before)
    assert found.tool is None
    assert len(engine.asked(Slot.DECIDE)) == 1


def test_what_the_schema_refuses_is_tried_once_more_then_left_to_the_loop() -> None:
    odd = call("order", product_id="PRD001", quantity=3)
    found, engine = decided([odd, odd], user("pesan 3 PRD001"))
    assert found.tool == "order"
    assert json.loads(found.arguments)["quantity"] == 3
    assert "multiple" in engine.asked(Slot.DECIDE)[1].prompt


def test_a_word_that_nobody_said_costs_one_more_try_only() -> None:
    london = call("weather", city="London")
    assert decided([london, NOTHING], user("What can you do?"), tools=(CITY,))[0].tool is None
    found, engine = decided([london, london], user("Weather in the capital of England?"), tools=(CITY,))
    assert found.tool == "weather"
    assert len(engine.asked(Slot.DECIDE)) == 2


def test_a_decision_cut_at_the_limit_says_so() -> None:
    found, _ = decided([call("price", product_id="PRD001")], user("harga PRD001"), max_tokens=20)
    assert found.cut
    assert found.tool == "price"
    assert not found.arguments.endswith("}}")


def test_a_refused_grammar_is_replaced_by_a_looser_one() -> None:
    refused = ModelError("bad_request", "the grammar is too much")
    found, engine = decided([refused, call("price", product_id="PRD001")], user("harga PRD001"))
    assert found.tool == "price"
    first, second = engine.asked(Slot.DECIDE)
    assert first.grammar != second.grammar


def test_other_faults_of_the_engine_are_not_hidden() -> None:
    with pytest.raises(ModelError, match="broke") as caught:
        decided([ModelError("unexpected", "broke")], user("harga PRD001"))
    assert caught.value.kind == "unexpected"


def test_an_empty_argument_is_a_missing_one() -> None:
    for nothing in ("", "-", " ? "):
        found, _ = decided([call("weather", city=nothing)] * 2, user("Cuaca?"), tools=(CITY,))
        assert found.tool is None
        assert found.missing == ("city",)


def test_a_request_with_a_code_or_a_figure_leans_towards_a_call() -> None:
    def bias(text: str, *more: Message) -> float:
        extra = decided([NOTHING], user(text), *more)[1].jobs[0].extra
        return extra["logit_bias"][0][1] if extra else 0.0

    assert bias("Pesan 2 unit PRD001") < 0
    assert bias("Apa kabar?") == bias("Siapa presiden tahun 1998?") == 0
    assert bias("Harga PRD001", *asked("price", "{}", "5")) > 0


def test_the_grammar_allows_the_tools_on_offer_and_an_answer_only_where_it_may_be() -> None:
    free, forced = Gbnf(decision_grammar([PRICE], may_answer=True)), Gbnf(decision_grammar([PRICE], may_answer=False))
    right = call("price", product_id="PRD001")
    assert free.allows(right)
    assert forced.allows(right)
    assert free.allows(NOTHING)
    assert not forced.allows(NOTHING)
    assert not free.allows(call("order", product_id="PRD001", quantity=2))
    assert not free.allows(call("price"))


CONVERT = Contract(
    "convert",
    "To Fahrenheit.",
    {"type": "object", "properties": {"celsius": {"type": "number"}}, "required": ["celsius"]},
)


def test_a_measure_nobody_gave_is_looked_up_first() -> None:
    says: list[Says] = [call("convert", celsius=25), call("weather", city="Jakarta")]
    found, engine = decided(says, user("Suhu di Jakarta dalam Fahrenheit?"), tools=(CITY, CONVERT))
    assert found.tool == "weather"
    assert "convert" not in (engine.asked(Slot.DECIDE)[1].grammar or "")


def test_a_measure_that_was_given_or_found_or_spelled_is_passed_on() -> None:
    says: list[Says] = [call("convert", celsius=32)]
    assert decided(says, user("Ubah 32 derajat ke Fahrenheit."), tools=(CITY, CONVERT))[0].tool == "convert"
    found = asked("weather", '{"city": "Jakarta"}', '{"suhu": 32}')
    question = user("Suhu di Jakarta dalam Fahrenheit?")
    says = [decision("ubah ke Fahrenheit", "convert", {"celsius": 32}).removeprefix(OPENING)]
    assert decided(says, question, *found, tools=(CITY, CONVERT))[0].tool == "convert"
    says = [call("convert", celsius=100)]
    assert decided(says, user("Ubah seratus derajat."), tools=(CITY, CONVERT))[0].tool == "convert"


def test_what_was_left_out_is_pointed_at_once() -> None:
    before = asked("weather", '{"city": "Bandung"}', '{"suhu": 24}')
    says: list[Says] = [NOTHING, call("weather", city="Surabaya")]
    found, engine = decided(says, user("Cuaca di Bandung dan Surabaya?"), *before, tools=(CITY,))
    assert (found.tool, json.loads(found.arguments)) == ("weather", {"city": "Surabaya"})
    assert "weather untuk Surabaya belum ada" in engine.asked(Slot.DECIDE)[1].prompt
    assert decided([NOTHING] * 2, user("Cuaca di Bandung dan Surabaya?"), *before, tools=(CITY,))[0].tool is None
