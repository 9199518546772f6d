"""Functions for `test_in_process`: they run in a worker process, which finds them by their name in this module.

It imports little, because a worker imports it anew. What a function does to its process is done to no other.
"""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import datetime
import decimal
import enum
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tukang.tools.context import CallContext
from tukang.tools.outcome import NothingDone
from tukang.tools.secret import Secret

NEVER = 3600


class Warna(enum.Enum):
    merah = "merah"
    biru = "biru"


class Barang(BaseModel):
    kode: str
    jumlah: Annotated[int, Field(ge=1)]
    warna: Warna


def pid() -> int:
    return os.getpid()


def add(a: int, b: int) -> int:
    return a + b


# ── what goes in ─────────────────────────────────────────────────────────────────────────────────────────────────────


def rich(
    barang: Barang, hari: datetime.date, harga: decimal.Decimal, jenis: Literal["a", "b"] = "a", *, n: int = 3
) -> list[Any]:
    assert isinstance(barang, Barang)
    assert isinstance(barang.warna, Warna)
    return [barang, hari + datetime.timedelta(days=1), harga * 2, jenis, n]


def told(context: CallContext[dict[str, str]]) -> list[Any]:
    left = context.seconds_left()
    assert left is not None
    return [context.call_id, context.idempotency_key, context.session, context.context, 0 < left <= 5]


def unbound(context: CallContext) -> str:
    return str(context.seconds_left())


class Toko:
    def __init__(self, nama: str) -> None:
        self.nama = nama

    def sapa(self, siapa: str) -> str:
        return f"{siapa} di {self.nama}"

    def __call__(self, siapa: str) -> str:
        return self.sapa(siapa)


# ── what comes out ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass
class Titik:
    x: int


def local() -> Any:
    @dataclasses.dataclass
    class Lokal:
        y: int

    return {"titik": Titik(1), "lokal": Lokal(2), "hari": datetime.date(2026, 1, 2), "é": "\N{SNOWMAN}"}


def image() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"x" * 10


def nothing() -> None:
    pass


def unwritable() -> Any:
    return {"a": threading.Lock()}


async def awaited() -> str:
    await asyncio.sleep(0)
    return "awaited"


def makes_a_coroutine() -> Any:
    return awaited()


def steps(context: CallContext) -> Iterator[str]:
    context.progress(10, "mulai")
    yield "satu"
    yield "dua"


async def async_steps() -> AsyncIterator[str]:
    yield "satu"
    await asyncio.sleep(0)
    yield "dua"


def prints() -> str:
    print("x" * 10_000)
    os.write(1, b"\x00\x01\x02" * 1000)
    os.write(2, b"\xff" * 10)
    return "said"


def size(n: int) -> str:
    return "x" * n


def takes(text: str) -> int:
    return len(text)


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────


def raises() -> None:
    raise ValueError("postgres://budi:rahasia@db")


def exits() -> None:
    sys.exit(3)


def did_nothing() -> None:
    raise NothingDone("stok habis", "Tawarkan yang lain.")


async def cancels_itself() -> None:
    raise asyncio.CancelledError


def sleeps() -> None:
    time.sleep(NEVER)


async def sleeps_async() -> None:
    await asyncio.sleep(NEVER)


def holds_the_interpreter() -> None:
    ctypes.PyDLL(None).sleep(NEVER)  # in C, with the interpreter's lock


def matches_for_ever() -> None:
    re.match(r"(a+)+$", "a" * 64 + "b")


def ignores_signals(context: CallContext) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    context.progress(message=str(os.getpid()))
    time.sleep(NEVER)


def segfaults() -> None:
    ctypes.string_at(0)


def ends() -> None:
    os._exit(3)


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def loses_its_guard(context: CallContext) -> None:
    context.progress(message=str(os.getpid()))
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(NEVER)


def fills_memory(megabytes: int) -> int:
    kept = [bytearray(1 << 20) for _ in range(megabytes)]
    return len(kept)


# ── what it starts ───────────────────────────────────────────────────────────────────────────────────────────────────


def returns_twice() -> str:
    return "child" if os.fork() == 0 else "parent"


def leaves_behind() -> list[int]:
    """A child, and a process that has left its session and its parent."""
    child = subprocess.Popen(["sleep", str(NEVER)])
    child.returncode = 0  # so that it is not complained about
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(NEVER)
        os._exit(0)
    return [child.pid, int(os.read(reading, 20))]


def forks_too_often(times: int) -> None:
    """Forks in each process again, like one that forks without end; but no more often than this in all."""
    reading, writing = os.pipe()
    os.write(writing, b"x" * times)
    os.close(writing)
    while os.read(reading, 1):
        os.fork()
    time.sleep(NEVER)


def hangs_with_children(context: CallContext) -> None:
    child = subprocess.Popen(["sleep", str(NEVER)], start_new_session=True)
    context.progress(message=f"{os.getpid()} {child.pid}")
    time.sleep(NEVER)


def whispers(untuk: str, kunci: Annotated[str, Secret("BANK")]) -> str:
    """Says what it was told."""
    return f"{untuk} {kunci} {len(kunci)}"
