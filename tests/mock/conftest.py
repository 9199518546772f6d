"""One server and one client of each kind for all tests: making the SDKs' clients takes longer than using them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.mock.judge import Judge, Stage
from tests.mock.judges import JUDGES, judge
from tukang.mock import MockServer, in_thread


@pytest.fixture(scope="session")
def staged() -> Iterator[tuple[Stage, str]]:
    stage = Stage()
    with in_thread(MockServer(stage.next)) as server:
        yield stage, server.url


@pytest.fixture
def stage(staged: tuple[Stage, str]) -> Stage:
    return staged[0]


@pytest.fixture(params=JUDGES, ids=lambda kind: kind.name)
def client(request: pytest.FixtureRequest, staged: tuple[Stage, str]) -> Judge:
    return judge(request.param, staged[1])


@pytest.fixture(params=[kind for kind in JUDGES if kind.seals], ids=lambda kind: kind.name)
def sealing(request: pytest.FixtureRequest, staged: tuple[Stage, str]) -> Judge:
    """Of a protocol that seals its reasoning."""
    return judge(request.param, staged[1])


@pytest.fixture(params=[kind for kind in JUDGES if kind.pairs], ids=lambda kind: kind.name)
def pairing(request: pytest.FixtureRequest, staged: tuple[Stage, str]) -> Judge:
    """Of a protocol that pairs calls with results, and has rules for the names of tools."""
    return judge(request.param, staged[1])


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> Any:
    return request.param
