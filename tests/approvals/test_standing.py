"""Permission for a session: within its bounds, and nowhere else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tukang.approvals.standing import Bound, Standing, standing_verdict
from tukang.runtime.people import Approval


def asked(tool: str = "pesan", *, edited: bool = False, **arguments: Any) -> Approval:
    return Approval(
        call_id="t-1-0", tool=tool, arguments=arguments, effect="write", digest="d", turn="t", edited=edited
    )


@pytest.mark.parametrize(
    ("bound", "within", "outside"),
    [
        (Bound(equals=("PRD001",)), ["PRD001"], ["PRD002", "prd001", None, 1]),
        (Bound(equals=(None,)), [None], [0, "", False]),
        (Bound(equals=(1,)), [1], [True, 2, "1"]),
        (Bound(equals=([1, {"a": True}],)), [[1, {"a": True}]], [[1, {"a": 1}]]),
        (Bound(at_most=5), [0, 1, 5, 4.5], [6, -1, "5", None, True, float("nan")]),
        (Bound(anything=True), [None, 1, "x", [1]], []),
        (Bound(), [], [None, 0, ""]),
    ],
)
def test_a_bound(bound: Bound, within: list[Any], outside: list[Any]) -> None:
    assert [one for one in within if not bound.holds(one)] == []
    assert [one for one in outside if bound.holds(one)] == []
    again = msgspec.convert(msgspec.to_builtins(bound), Bound)
    assert [again.holds(one) for one in within + outside] == [bound.holds(one) for one in within + outside]


def test_it_covers_its_tool_within_its_bounds() -> None:
    standing = Standing("pesan", {"id": Bound(equals=("A",)), "jumlah": Bound(at_most=2)}, "siti")
    assert standing.covers(asked(id="A", jumlah=2))
    assert standing.covers(asked(id="A"))
    assert not standing.covers(asked(id="A", jumlah=3))
    assert not standing.covers(asked(id="A", jumlah=1, catatan="x")), "what is not bounded is not permitted"
    assert not standing.covers(asked("bayar", id="A", jumlah=1))
    assert not standing.covers(asked(id="A", jumlah=1, edited=True))
    assert str(standing) == 'pesan(id = "A", jumlah ≤ 2)'
    verdict = standing_verdict((standing,), asked(id="A", jumlah=1))
    assert verdict is not None
    assert (verdict.by, "always in this session" in verdict.reason) == ("siti", True)
    assert standing_verdict((), asked()) is None
