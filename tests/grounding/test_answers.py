"""What nobody said is found in forty written answers, and nothing else is."""

from __future__ import annotations

import pytest

from tests.grounding.answers import ANSWERS, Case
from tukang.grounding.evidence import Evidence


def test_there_are_forty_of_them_and_each_kind_is_there() -> None:
    assert len(ANSWERS) == len(set(ANSWERS)) == 40
    assert sum(bool(case.unsupported) for case in ANSWERS) == 16


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.answer[:40])
def test_no_miss_and_no_false_alarm(case: Case) -> None:
    assert Evidence([case.asked, *case.results]).unsupported(case.answer) == case.unsupported
