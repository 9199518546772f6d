"""What `grounded=` may be, and what patterns hold an answer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tukang import Agent, ConfigurationError, Evidence, Grounded
from tukang.grounding.policy import unsupported
from tukang.models.scripted import Scripted

KNOWN = Evidence(['{"meja": 5, "harga": 1200000, "nama": "Budi  Santoso"}'])


def nothing(_text: str, _known: Evidence) -> Iterable[str]:
    return ()


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        (False, None),
        (None, None),
        (True, Grounded()),
        (r"ORD\d+", Grounded(patterns=(r"ORD\d+",))),
        ([r"ORD\d+", r"PRD\d+"], Grounded(patterns=(r"ORD\d+", r"PRD\d+"))),
        (nothing, Grounded(check=nothing)),
        (Grounded(earlier=False), Grounded(earlier=False)),
    ],
)
def test_it_is_said_shortly_or_in_full(said: Any, policy: Grounded | None) -> None:
    assert Grounded.of(said) == policy


@pytest.mark.parametrize("said", [3, [], [3], {"ORD": 1}])
def test_anything_else_is_refused(said: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"expected True, a regular expression"):
        Agent(Scripted([]), grounded=said)


def test_a_pattern_that_is_none_is_refused_when_the_agent_is_built() -> None:
    with pytest.raises(ConfigurationError, match=r"'ORD\(' is not a regular expression"):
        Agent(Scripted([]), grounded="ORD(")
    with pytest.raises(ConfigurationError, match="empty regular expression"):
        Agent(Scripted([]), grounded="")
    with pytest.raises(ConfigurationError, match="both patterns and check"):
        Grounded(patterns=("x",), check=nothing)


def test_patterns_say_what_must_be_known_and_nothing_else_must() -> None:
    patterns = (r"meja \d+", r"Rp\s*[\d.,]+(?: juta)?")
    assert unsupported("meja 5, meja 6, Rp 1.200.000, Rp 1.3 juta, ORD999", KNOWN, patterns) == (
        "meja 6",
        "Rp 1.3 juta",
    )


def test_the_group_of_a_pattern_is_what_must_be_known() -> None:
    assert unsupported("untuk Budi Santoso, untuk Sari Dewi", KNOWN, [r"untuk (\w+ \w+)"]) == ("Sari Dewi",)
    assert unsupported("budi santoso", KNOWN, ["budi santoso"]) == ()
    assert unsupported("Bud", KNOWN, ["Bud"]) == ("Bud",), "a part of a word is another word"
