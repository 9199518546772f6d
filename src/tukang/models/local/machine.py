"""What this machine has free: processor cores, memory, disk. It measures and refuses; it changes nothing.

Linux is read exactly (affinity, control groups, `/proc`); elsewhere the numbers are coarser, and what cannot be known is
not refused.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from tukang.errors import ConfigurationError, ModelError

MOST_THREADS = 8
"""Generating is bound by memory bandwidth: more threads than this stop helping."""

WORKING_MEMORY = 1_000_000_000
"""Bytes the engine needs beside the mapped weights: repacked weights, the attention cache of both slots, buffers."""

_SAMPLE_SECONDS = 0.2


def threads_to_use(asked: int | None = None) -> int:
    """How many threads the engine should compute with.

    The cores this process may use, less those that others keep busy now: an engine whose threads wait for each other
    collapses when one of them has to share its core.

    Args:
        asked: the developer's own number; without it `TUKANG_LOCAL_THREADS`, without that a measurement of 0.2 seconds.

    Raises:
        ConfigurationError: the number asked for is not a positive whole number.
    """
    value = str(asked) if asked is not None else os.environ.get("TUKANG_LOCAL_THREADS", "").strip()
    if not value:
        allowed = _cores_allowed()
        return max(1, min(MOST_THREADS, allowed, round(allowed - _cores_busy())))
    if not value.isdecimal() or int(value) < 1:
        raise ConfigurationError(f"threads of the local model must be a whole number of at least 1, not {value!r}")
    return int(value)


def require_memory(weights: Path) -> None:
    """Refuse to load weights that do not fit into the memory that is free now.

    Raises:
        ModelError: of kind `configuration`, saying how much is missing.
    """
    needed = weights.stat().st_size + WORKING_MEMORY
    free = free_memory()
    if free is not None and free < needed:
        raise ModelError(
            "configuration",
            f"the local model needs {_gigabytes(needed)} of memory and {_gigabytes(free)} is free.",
            hint="Close other programs, give the container more memory, or use a smaller GGUF file.",
        )


def require_disk(folder: Path, needed: int) -> None:
    """Refuse to write `needed` bytes where they do not fit.

    Raises:
        ModelError: of kind `configuration`, saying where and how much is missing.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelError(
            "configuration",
            f"{folder} needs {_gigabytes(needed)} for the local model and has {_gigabytes(free)} free.",
            hint="Make room, or set TUKANG_CACHE to a folder on a larger disk.",
        )


def free_memory() -> int | None:
    """Bytes that can be allocated without swapping, within the control group's limit; None where it is unknown."""
    known = [amount for amount in (_free_in_machine(), _free_in_group()) if amount is not None]
    return min(known, default=None)


def _free_in_machine() -> int | None:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _free_in_group() -> int | None:
    limit, used = _read("/sys/fs/cgroup/memory.max").strip(), _read("/sys/fs/cgroup/memory.current").strip()
    if not limit.isdecimal() or not used.isdecimal():
        return None
    # Pages of files count as used but are given back under pressure.
    stat = dict(line.split() for line in _read("/sys/fs/cgroup/memory.stat").splitlines() if len(line.split()) == 2)
    return int(limit) - int(used) + int(stat.get("inactive_file", 0)) + int(stat.get("active_file", 0))


def _cores_allowed() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _read("/sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0].isdecimal() and quota[1].isdecimal():
        cores = min(cores, max(1, int(quota[0]) // int(quota[1])))
    return cores


def _cores_busy() -> float:
    """Cores that are computing now, by the machine's own count; by the load average where there is none."""
    before = _processor_time()
    if before is None:
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    time.sleep(_SAMPLE_SECONDS)
    after = _processor_time() or before
    total = after[1] - before[1]
    return (after[0] - before[0]) / total * (os.cpu_count() or 1) if total else 0.0


def _processor_time() -> tuple[int, int] | None:
    """Busy and total processor time of the machine, in ticks (`/proc/stat`: idle and iowait are the fields 4 and 5)."""
    fields = [int(field) for field in _read("/proc/stat").partition("\n")[0].split()[1:9]]
    if len(fields) < 5:
        return None
    return sum(fields) - fields[3] - fields[4], sum(fields)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _gigabytes(amount: int) -> str:
    return f"{amount / 1e9:.1f} GB"
