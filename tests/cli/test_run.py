"""`tukang run`: the answer on stdout, the trace on stderr, a code for scripts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script, calls
from tukang.assistants.katalog import Katalog
from tukang.models.scripted import Fails, Says

CHECK = ("cek_harga_produk", {"product_id": "PRD001"})
ORDER = ("buat_pesanan", {"product_id": "PRD001", "quantity": 1, "user_id": "USR042"})


def test_answer_and_trace_go_to_different_streams(cli: Cli, script: Script) -> None:
    ran = cli(
        "run",
        "toko",
        "Pesan",
        "--user",
        "USR042",
        "--approve",
        "buat_pesanan",
        "--model",
        script(calls(CHECK), calls(ORDER), "Jadi: ORD1001."),
    )
    assert ran.code == 0
    assert ran.out == "Jadi: ORD1001.\n"
    assert "model scripted:replies.jsonl (it was asked for by name)" in ran.err
    assert "round 1" in ran.err
    assert 'cek_harga_produk(product_id="PRD001")' in ran.err
    assert "→" in ran.err
    assert "ORD1001" in ran.err
    assert "round 2" in ran.err
    assert "\x1b" not in ran.err
    assert [order.user_id for order in Katalog().orders()] == ["USR042"]


def test_reused_repaired_refused_and_failed_calls_are_marked(cli: Cli, script: Script) -> None:
    model = script(
        calls(("add", {"a": 1, "b": 2}), ("add", {"b": 2, "a": 1}), ("add", "{'a': 5, 'b': 6,}")),
        calls(("divide", {"a": 1, "b": 0}), ("ad", {"a": 1}), ("add", {"a": "x", "b": 1})),
        "3",
    )
    ran = cli("run", "hitung", "…", "--model", model, "--lang", "id")
    lines = ran.err.splitlines()
    assert [line for line in lines if "add(" in line and "dipakai ulang" in line]
    assert [line for line in lines if "add(a=5, b=6)" in line and "argumen diperbaiki" in line]
    assert [line for line in lines if "divide(" in line and "ditolak: nothing_done" in line]
    assert [line for line in lines if line.startswith("  ad(") and "ditolak: unknown_tool" in line]
    assert [line for line in lines if "ditolak: invalid_arguments" in line]
    assert "terjawab · 6 panggilan · 2 putaran" in lines[-1]


def test_quiet_hides_everything_but_the_answer(cli: Cli, script: Script) -> None:
    ran = cli("run", "hitung", "…", "--quiet", "--model", script(calls(("add", {"a": 1, "b": 2})), "3"))
    assert (ran.code, ran.out, ran.err) == (0, "3\n", "")


def test_json_is_one_document_and_nothing_else(cli: Cli, script: Script) -> None:
    model = script(calls(("add", {"a": 11434, "b": 12341}), ("divide", {"a": 1, "b": 0})), "23775")
    ran = cli("run", "hitung", "…", "--json", "--model", model)
    body = json.loads(ran.out)
    assert (body["answer"], body["stopped"], body["assistant"], body["rounds"]) == ("23775", "answer", "hitung", 1)
    assert body["usage"]["requests"] == 2
    added, divided = body["steps"]
    assert (added["arguments"], added["result"], added["fault"]) == ({"a": 11434, "b": 12341}, 23775, None)
    assert divided["fault"] == "nothing_done"
    assert "round 1" in ran.err


@pytest.mark.parametrize("question", ["-", None])
def test_the_question_may_come_by_a_pipe(cli: Cli, question: str | None) -> None:
    Path("echo_agent.py").write_text(
        "from tukang import Agent\n"
        "from tukang.models.scripted import Scripted\n"
        "agent = Agent(Scripted(lambda request: request.messages[-1].text.upper()))\n"
    )
    ran = cli("run", "echo_agent:agent", *([question] if question else []), "-q", stdin="satu\ndua\n")
    assert (ran.code, ran.out) == (0, "SATU\nDUA\n")


def test_single_shot_is_one_round_and_counts_as_answered(cli: Cli, script: Script) -> None:
    model = script(calls(("add", {"a": 1, "b": 2})), "tiga", calls(("add", {"a": 3, "b": 4})))
    ran = cli("run", "hitung", "…", "--single-shot", "--json", "--model", model)
    body = json.loads(ran.out)
    assert (ran.code, body["stopped"], body["rounds"], body["answer"]) == (0, "rounds", 1, "tiga")


@pytest.mark.parametrize(
    ("fails", "code"),
    [
        (Fails("overloaded", "the server is busy"), 1),
        (Fails("authentication", "the key is refused"), 2),
        (Fails("not_found", "no such model"), 2),
    ],
)
def test_a_model_that_fails_is_said_and_has_a_code(cli: Cli, script: Script, fails: Fails, code: int) -> None:
    ran = cli("run", "hitung", "…", "--model", script(calls(("add", {"a": 1, "b": 2})), Says(fails=fails)))
    assert ran.code == code
    assert "add: 3" in ran.out  # what is known so far
    assert f"Error: {fails.message}" in ran.err


def test_a_limit_reached_is_code_1(cli: Cli, script: Script) -> None:
    rounds = [calls(("add", {"a": number, "b": 1})) for number in range(10)]
    ran = cli("run", "hitung", "…", "--model", script(*rounds, "sampai sini"))
    assert (ran.code, ran.out) == (1, "sampai sini\n")
    assert "limit of rounds" in ran.err


def test_control_characters_never_reach_a_terminal(cli: Cli, script: Script) -> None:
    ran = cli("run", "obrolan", "…", "--model", script("merah \x1b[31m\x07 dua\nbaris"))
    assert ran.out == "merah \ufffd[31m\ufffd dua\nbaris\n"


def test_ctrl_c_ends_the_turn_with_what_there_is(script: Script, tmp_path: Path) -> None:
    model = script(calls(("add", {"a": 1, "b": 2})), Says(text="Sejauh ini tiga", silent=True))
    command = [sys.executable, "-m", "tukang", "run", "hitung", "…", "--model", model]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    for line in process.stderr:  # the call is done; what follows is silence
        if "→ 3" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "cancelled" in err
    assert out.strip()


def test_a_reader_that_leaves_early_is_no_crash(script: Script, tmp_path: Path) -> None:
    command = f"{sys.executable} -m tukang run obrolan x -q --model {script('a' * 200_000)} | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout == "a" * 10
    assert done.stderr == ""


SLOW = """
import asyncio, sys
from tukang import Agent
from tukang.models.scripted import Scripted

class Slow(Scripted):
    async def prepare(self, request):
        print("loading", file=sys.stderr, flush=True)
        await asyncio.Event().wait()

agent = Agent(Slow(["never said"]))
"""


def test_ctrl_c_while_the_model_loads(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "tukang", "run", "slow:agent", "…"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    for line in process.stderr:
        if "loading" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Cancelled." in err
    assert "Traceback" not in err


NOTA = """
from pydantic import BaseModel

class Nota(BaseModel):
    nomor: str
    total: int
"""


def test_returns_prints_data_and_nothing_else(cli: Cli, script: Script, tmp_path: Path) -> None:
    (tmp_path / "bentuk.py").write_text(NOTA)
    model = script("Sebentar.", calls(("answer", {"nomor": "N-7", "total": 120})))
    ran = cli("run", "hitung", "Nota N-7, 120.", "--returns", "bentuk:Nota", "--model", model)
    assert (ran.code, ran.out) == (0, '{"nomor":"N-7","total":120}\n')
    model = script(calls(("answer", {"nomor": "N-7", "total": 120})))
    ran = cli("run", "hitung", "Nota N-7, 120.", "--returns", "bentuk:Nota", "--json", "--model", model)
    assert json.loads(ran.out)["data"] == {"nomor": "N-7", "total": 120}


def test_no_data_is_not_a_success(cli: Cli, script: Script, tmp_path: Path) -> None:
    (tmp_path / "bentuk2.py").write_text(NOTA)
    ran = cli("run", "hitung", "…", "--returns", "bentuk2:Nota", "--model", script("Tidak ada.", "Tetap tidak."))
    assert ran.code == 1
    assert "no data came" in ran.err
    ran = cli("run", "hitung", "…", "--returns", "bentuk2:Not", "--model", script("…"))
    assert ran.code == 2
    assert "has no 'Not'. Did you mean bentuk2:Nota?" in ran.err
