"""The recorded traffic of Amazon Bedrock, where it is at hand, comes out exactly: also what boto3 does not agree with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wire.replay import replay

RECORDED = Path(__file__).parents[3] / "shared" / "data" / "wire"


@pytest.mark.parametrize(("name", "rows"), [("bedrock_converse", 275), ("bedrock_invoke", 55)])
def test_recorded_traffic_comes_out_exactly(name: str, rows: int) -> None:
    path = RECORDED / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"the recorded traffic is not at hand ({path})")
    outcome = replay(path, count_all=True, cuts=1, every=0)
    assert outcome.differences == ()
    assert (outcome.exact, outcome.rows) == (rows, rows)
