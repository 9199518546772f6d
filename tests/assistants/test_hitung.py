"""The calculator: whole numbers stay whole, decimals are what people expect, and what cannot be done says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.assistants import hitung
from tukang.assistants.hitung import add, divide, multiply, power, subtract
from tukang.models.scripted import Scripted, call

whole = st.integers(-(10**40), 10**40)


def same(value: object, expected: object) -> bool:
    return value == expected and type(value) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (add(11434, 12341), 23775),
        (add(0.1, 0.2), 0.3),
        (add(0.5, 0.5), 1),
        (subtract(10, 4), 6),
        (subtract(1.1, 1), 0.1),
        (multiply(23775, 412), 9795300),
        (multiply(1.1, 1.1), 1.21),
        (multiply(12.5, 8), 100),
        (divide(100, 8), 12.5),
        (divide(100, 4), 25),
        (divide(-7, 7), -1),
        (divide(1, 3), 0.333333333333333),
        (power(2, 10), 1024),
        (power(2, -1), 0.5),
        (power(9, 0.5), 3),
        (power(0, 0), 1),
    ],
)
def test_results_are_as_people_write_them(value: object, expected: object) -> None:
    assert same(value, expected)


@given(whole, whole)
def test_whole_numbers_are_exact_whatever_their_size(a: int, b: int) -> None:
    assert same(add(a, b), a + b)
    assert same(subtract(a, b), a - b)
    assert same(multiply(a, b), a * b)
    if b:
        assert same(divide(a * b, b), a)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (call("divide", a=1, b=0), "membagi dengan nol"),
        (call("divide", a=1.5, b=0.0), "membagi dengan nol"),
        (call("power", base=0, exponent=-1), "nol tidak bisa dipangkatkan"),
        (call("power", base=-8, exponent=0.5), "tidak punya hasil nyata"),
        (call("power", base=9, exponent=999999999), "terlalu besar"),
        (call("power", base=1e300, exponent=2.5), "terlalu besar"),
        (call("multiply", a=1e308, b=1e308), "terlalu besar"),
        (call("multiply", a=10**2000, b=10**2000), "terlalu besar"),
        (call("divide", a=10**400, b=0.5), "terlalu besar"),
    ],
)
def test_what_has_no_result_is_refused_clearly(asked: Any, said: str) -> None:
    (step,) = hitung.agent(Scripted([asked, "…"])).run("…").steps
    assert step.fault is not None
    assert step.fault.kind == "nothing_done"
    assert said in step.result


def test_the_sum_of_the_issue_takes_two_rounds() -> None:
    agent = hitung.agent(Scripted([call("add", a=11434, b=12341), call("multiply", a=23775, b=412), "9795300"]))
    answer = agent.run("What is (11434+12341)*412?")
    assert [step.result for step in answer.steps] == ["23775", "9795300"]
    assert answer.rounds == 2


def test_a_number_in_quotes_is_read_and_words_are_not() -> None:
    answer = hitung.agent(Scripted([[call("add", a="2", b=3), call("add", a="dua", b=3)], "…"])).run("…")
    assert answer.steps[0].result == "5"
    assert answer.steps[1].fault is not None
