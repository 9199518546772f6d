"""What the machine has free decides how the engine runs, and whether it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from tukang.errors import ConfigurationError, ModelError
from tukang.models.local import machine
from tukang.models.local.machine import MOST_THREADS, WORKING_MEMORY, require_memory, threads_to_use


@pytest.mark.parametrize(
    ("allowed", "busy", "threads"),
    [(2, 0.1, 2), (2, 1.0, 1), (2, 5.0, 1), (8, 3.2, 5), (64, 0.0, MOST_THREADS), (1, 1.0, 1)],
)
def test_threads_are_the_cores_that_are_free(
    allowed: int, busy: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TUKANG_LOCAL_THREADS", raising=False)
    monkeypatch.setattr(machine, "_cores_allowed", lambda: allowed)
    monkeypatch.setattr(machine, "_cores_busy", lambda: busy)
    assert threads_to_use() == threads


def test_a_number_that_was_asked_for_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_LOCAL_THREADS", "3")
    assert threads_to_use() == 3
    assert threads_to_use(5) == 5


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_number_that_is_none_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_LOCAL_THREADS", value)
    with pytest.raises(ConfigurationError, match="whole number"):
        threads_to_use()


def test_short_memory_is_said_in_gigabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "w.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setattr(machine, "free_memory", lambda: WORKING_MEMORY // 2)
    with pytest.raises(ModelError, match=r"1\.0 GB of memory and 0\.5 GB is free") as caught:
        require_memory(weights)
    assert caught.value.kind == "configuration"


def test_unknown_memory_is_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "w.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setattr(machine, "free_memory", lambda: None)
    require_memory(weights)
    monkeypatch.setattr(machine, "free_memory", lambda: 2 * WORKING_MEMORY)
    require_memory(weights)


def test_a_group_s_limit_counts_without_what_it_can_give_back(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 8000000 kB\n",
        "/sys/fs/cgroup/memory.max": "3000000000\n",
        "/sys/fs/cgroup/memory.current": "2500000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 1000000000\nactive_file 500000000\n",
    }
    monkeypatch.setattr(machine, "_read", lambda path: files.get(path, ""))
    assert machine.free_memory() == 2_000_000_000
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert machine.free_memory() == 8_192_000_000
