"""`tukang worker`: what is shown of a fleet, in both languages and as JSON; what is asked for when something is missing."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workers.crew import Shop, at_work, until
from tukang.cli import main
from tukang.cli.worker_texts import WORKER_TEXTS, WorkerTexts
from tukang.workers import Fleet

Said = tuple[int, str, str]
Cli = Callable[..., Said]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs a command in this process: its code, and what it wrote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUKANG_STORE", raising=False)

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def _some_of_each(url: str) -> None:
    """Leave a turn of each kind behind that needs no worker to be seen: queued, tried again, failed for good."""

    async def run() -> None:
        shop = Shop()
        async with Fleet(url) as fleet:
            await fleet.submit("toko", "siti", "halo", tool_choice="terbang", turn="gagal-1")
            async with at_work(url, shop.agent()):
                await until(lambda: _failed(fleet))
            await fleet.submit("gudang", "budi", "halo", turn="antre-1")

    asyncio.run(run())


async def _failed(fleet: Fleet) -> bool:
    return (await fleet.status()).counts["failed"] == 1


def test_status_shows_who_works_and_what_failed(cli: Cli, queue_url: str) -> None:
    assert cli("worker", "status", "--store", queue_url)[1].endswith("There are no workers.\n")
    _some_of_each(queue_url)
    code, out, _ = cli("worker", "status", "--store", queue_url)
    assert code == 0
    assert "queued 1 · running 0 · waiting 0 · failed 1" in out
    assert "No worker runs: gudang" in out
    assert re.search(r"Failed for good\n  gagal-1  siti  toko .*failed 1×: tool_choice 'terbang'", out)
    assert re.search(r"Queued\n  antre-1  budi  gudang", out)
    assert "rahasia" not in out
    code, out, _ = cli("--lang", "id", "worker", "status", "--store", queue_url)
    assert "antre 1 · berjalan 0 · menunggu 0 · gagal 1" in out
    assert "Gagal untuk seterusnya\n  gagal-1" in out


def test_status_is_a_document_for_programs(cli: Cli, queue_url: str) -> None:
    _some_of_each(queue_url)
    code, out, _ = cli("worker", "status", "--json", "--store", queue_url)
    status = json.loads(out)
    assert code == 0
    assert status["counts"] == {"queued": 1, "running": 0, "waiting": 0, "failed": 1}
    assert {turn["turn"]: turn["state"] for turn in status["turns"]} == {"gagal-1": "failed", "antre-1": "queued"}
    assert "tool_choice" in status["turns"][0]["why"]


def test_what_failed_is_tried_again_when_somebody_says_so(cli: Cli, queue_url: str) -> None:
    _some_of_each(queue_url)
    code, _, err = cli("worker", "retry", "gagal-1", "--store", queue_url)
    assert (code, err) == (0, "gagal-1 is queued again\n")
    code, _, err = cli("--lang", "id", "worker", "retry", "gagal-1", "--store", queue_url)
    assert code == 2
    assert "tidak ada giliran" in err


def test_what_is_missing_is_asked_for(cli: Cli) -> None:
    code, _, err = cli("worker")
    assert (code, "--agent module:name" in err) == (2, True)
    code, _, err = cli("worker", "--agent", "tests.workers.shop:agent")
    assert (code, "--store postgresql://" in err) == (2, True)
    code, _, err = cli("worker", "--agent", "tests.workers.shop:agent", "--store", "sqlite:///x.db")
    assert (code, "postgresql://…" in err) == (2, True)
    code, _, err = cli("worker", "status", "--store", "postgresql://127.0.0.1:1/x")
    assert (code, "Is the server up" in err) == (1, True)


def test_the_queue_is_made_with_the_schema(cli: Cli, postgres_url: str) -> None:
    code, _, err = cli("worker", "status", "--store", postgres_url)
    assert (code, "tukang db upgrade --workers" in err) == (2, True)
    code, out, _ = cli("db", "upgrade", "--workers", "--store", postgres_url)
    assert code == 0
    assert "step 1, " in out
    assert "procrastinate, tukang 1" in out
    assert "is up to date" in cli("db", "upgrade", "--workers", "--store", postgres_url)[1]
    assert cli("worker", "status", "--store", postgres_url)[0] == 0
    code, _, err = cli("db", "upgrade", "--workers", "--store", "sqlite:///x.db")
    assert (code, "postgresql://…" in err, Path("x.db").exists()) == (2, True, False)


@pytest.mark.parametrize("field", WorkerTexts.__struct_fields__)
def test_both_languages_say_it_with_the_same_values(field: str) -> None:
    values = [set(re.findall(r"{(\w+)", getattr(texts, field))) for texts in WORKER_TEXTS.values()]
    assert values[0] == values[1]
    assert getattr(WORKER_TEXTS["id"], field) != getattr(WORKER_TEXTS["en"], field)
