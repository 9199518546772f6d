"""The list of rows that no SDK agrees with is whole, and says what the adapters really do with each."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from tests.wire.recordings import WIRE, at_hand, body_of, lines, protocol_of
from tests.wire.replay import PROTOCOLS, compare

LIST = Path(__file__).with_name("disputed.toml")


class Disputed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows of one kind; see the top of the list."""

    kind: str
    file: str
    reading: Literal["as recorded", "departs", "refused"]
    we: str
    why: str
    rows: tuple[str, ...]
    differs: tuple[str, ...] = ()


class _List(msgspec.Struct, forbid_unknown_fields=True):
    disputed: tuple[Disputed, ...]


KINDS = msgspec.convert(tomllib.loads(LIST.read_text("utf-8")), _List).disputed


def test_every_row_that_is_disputed_is_listed_once() -> None:
    files = sorted(at_hand(WIRE).glob("*.jsonl"))
    disputed = [(path.name, row["id"]) for path in files for row in lines(path) if row.get("sdk_agrees") is not True]
    listed = [(kind.file, row) for kind in KINDS for row in kind.rows]
    assert sorted(listed) == sorted(disputed)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_what_the_list_says_is_what_is_done(kind: Disputed) -> None:
    path = at_hand(WIRE / kind.file)
    protocol = PROTOCOLS[protocol_of(path, PROTOCOLS)]
    seen = 0
    for row in lines(path):
        if row["id"] not in kind.rows:
            continue
        seen += 1
        assert bool(compare(protocol, row, cuts=1, every=600)) is (kind.reading == "departs"), row["id"]
        response = row["response"]
        got = protocol.decode(response["status"], response.get("headers") or {}, [body_of(response)])
        fields = {difference.split(":")[0] for difference in protocol.expected(row).differences(got)}
        assert fields <= set(kind.differs), row["id"]
        assert (got.error is not None) is (kind.reading == "refused" or "error" in kind.differs), row["id"]
    assert seen == len(kind.rows)
