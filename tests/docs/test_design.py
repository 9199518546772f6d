"""What the documents say about the code is true."""

from __future__ import annotations

import re
from pathlib import Path

from tukang.loop.decide import BETWEEN_ROUNDS, IN_A_ROUND, WHILE_ASKED
from tukang.loop.diagram import diagram

ROOT = Path(__file__).parents[2]


def test_the_state_diagram_is_the_one_the_fold_uses() -> None:
    assert diagram() in (ROOT / "docs/design.md").read_text("utf-8")


def test_the_table_of_rules_is_the_one_the_loop_uses() -> None:
    table = re.findall(
        r"^\| [a-z].* \| `(\w+)` \| `\w+` \|$", (ROOT / "docs/design.md").read_text("utf-8"), re.MULTILINE
    )
    assert table == [rule.__module__.rpartition(".")[2] for rule in (*IN_A_ROUND, *WHILE_ASKED, *BETWEEN_ROUNDS)]
