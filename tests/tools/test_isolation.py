"""A function that cannot run where its policy wants it is refused when the tool is made, with its name and a way out."""

from __future__ import annotations

import enum
import functools
import sys
import threading
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from tests.tools import isolated
from tukang import Agent, CallContext, ConfigurationError, ToolDefinitionError, tool
from tukang.models.scripted import Scripted, call
from tukang.tools.adopting import as_tool
from tukang.tools.signature import Function


def refused(function: Function, **policy: Any) -> str:
    with pytest.raises(ToolDefinitionError) as raised:
        as_tool(tool(name="t", **({"isolation": "process"} | policy))(function))
    return str(raised.value)


def plain(x: int) -> int:
    return x


async def coroutine(x: int) -> int:
    return x


def test_async_is_not_for_a_plain_function_nor_a_thread_for_an_async_one() -> None:
    assert refused(plain, isolation="async") == (
        "tool 't': isolation='async', but plain() is a plain function, which would hold up the event loop for everybody: "
        "make it `async def`, or leave isolation out (it then runs in a thread)"
    )
    assert refused(coroutine, isolation="thread") == (
        "tool 't': isolation='thread', but coroutine() is async: leave isolation out (it then runs on the event loop), or "
        "say isolation='process'"
    )
    for function, isolation in ((plain, "thread"), (coroutine, "async"), (plain, "process"), (coroutine, "process")):
        assert as_tool(tool(name="t", isolation=isolation)(function)).policy.isolation == isolation  # type: ignore[arg-type]


def test_memory_is_for_processes() -> None:
    assert "say isolation='process', or leave memory out" in refused(plain, isolation="thread", memory=100)


# ── the function ─────────────────────────────────────────────────────────────────────────────────────────────────────

MODULE_LEVEL = "define it at the top level of a module, and bind what it needs with functools.partial"


def test_a_closure_and_a_lambda() -> None:
    def inner(x: int) -> int:
        return x

    cannot = "tool 't' cannot run with isolation='process': "
    assert refused(inner) == f"{cannot}inner() is defined inside a function: {MODULE_LEVEL}"
    assert refused(functools.partial(inner, x=1)) == f"{cannot}inner() is defined inside a function: {MODULE_LEVEL}"
    assert refused(lambda: 1).endswith(f"is a lambda, which has no name to be found by: {MODULE_LEVEL}")


def test_what_is_defined_in_the_program_that_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_main(function: Any) -> Any:
        monkeypatch.setattr(function, "__module__", "__main__")
        return function

    way_out = (
        "is defined in the program that was started (__main__), which a worker does not import: put it into a module of its "
        "own, and import it from there"
    )
    assert refused(of_main(plain)).endswith(f"plain() {way_out}")
    assert refused(of_main(Keeper)(None).use).endswith(f"Keeper.use() {way_out}")
    assert refused(functools.lru_cache(of_main(coroutine))).endswith(way_out)


def test_a_module_that_cannot_be_imported_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("dibuat_sendiri")
    exec("def hitung(x: int) -> int: return x", made.__dict__)
    monkeypatch.setitem(sys.modules, "dibuat_sendiri", made)
    assert "hitung() is defined in 'dibuat_sendiri', which cannot be imported by that name" in refused(made.hitung)


class Keeper:
    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def use(self, x: int) -> int:
        return x


def test_an_object_that_holds_what_cannot_be_sent() -> None:
    assert refused(Keeper(threading.Lock()).use) == (
        "tool 't' cannot run with isolation='process': Keeper.use() holds what cannot be sent there: TypeError: cannot "
        "pickle '_thread.lock' object; let it make that itself, when it is called"
    )
    told = refused(functools.partial(plain, x=Keeper(lambda: 1)))  # type: ignore[arg-type]
    assert "holds what cannot be sent there: PicklingError: " in told
    assert "is a lambda" in told


@pytest.mark.parametrize(
    "function",
    [plain, Keeper(1).use, functools.partial(plain, x=1), isolated.Toko("a"), functools.lru_cache(isolated.pid)],
)
def test_what_can_be_found_again_and_sent_is_taken(function: Function) -> None:
    if isinstance(function, functools._lru_cache_wrapper):  # type: ignore[attr-defined]
        assert "it's not the same object" in refused(function), "the name leads to what it wraps"
    else:
        as_tool(tool(name="t", isolation="process")(function))


# ── its parameters ───────────────────────────────────────────────────────────────────────────────────────────────────


class Warna(enum.Enum):
    merah = "merah"


@dataclass
class Titik:
    warna: list[Warna]


class Pasangan(NamedTuple):
    titik: Titik


class Barang(BaseModel):
    pasangan: dict[str, Pasangan | None]
    isi: Iterable[int] = ()


def takes_barang(barang: Barang) -> int:
    return len(barang.pasangan)


def takes_titik(titik: Titik, banyak: Iterable[int] = ()) -> int:
    return len(titik.warna) + sum(banyak)


def test_types_are_found_however_deep_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    as_tool(tool(isolation="process")(takes_titik))
    told = refused(takes_barang)
    assert told.endswith(
        "parameter 'barang' of takes_barang() has an Iterable in it, which cannot be sent: make it a list"
    )
    monkeypatch.setattr(Warna, "__module__", "__main__")
    assert (
        "parameter 'titik' of takes_titik() takes Warna, which is defined in the program that was started"
        in refused(takes_titik)
    )


def takes_local() -> Any:
    class Lokal(BaseModel):
        n: int

    def f(lokal: Any) -> Any:
        return lokal

    f.__annotations__["lokal"] = Lokal
    f.__qualname__ = "plain"  # found again, unlike what it takes
    return f


def test_a_type_made_inside_a_function() -> None:
    made = takes_local()
    globals()["plain"], kept = made, plain
    try:
        told = refused(made)
    finally:
        globals()["plain"] = kept
    assert "parameter 'lokal' of plain() takes takes_local.<locals>.Lokal, which is defined inside a function: " in told
    assert told.endswith(MODULE_LEVEL)


# ── what the caller passes along ─────────────────────────────────────────────────────────────────────────────────────


def test_a_context_that_cannot_be_sent_is_refused_before_the_turn_begins() -> None:
    agent = Agent(
        Scripted([call("pid"), "done"] * 2),
        tools=[tool(isolation="process")(isolated.told), tool(isolation="process")(isolated.pid)],
    )
    with pytest.raises(ConfigurationError) as raised:
        agent.start("go", context=Keeper(threading.Lock()))
    assert str(raised.value) == (
        "context: Keeper cannot be sent to the process of tool 'told', which asks for it: TypeError: cannot pickle "
        "'_thread.lock' object; give what can be pickled, such as an id, and let the function look the rest up"
    )
    agent.start("go", context=Keeper(1))
    agent.start("go")


def in_a_thread(context: CallContext) -> str:
    return type(context.context).__name__


def test_a_context_that_stays_here_may_be_anything() -> None:
    agent = Agent(Scripted([call("in_a_thread"), "done"]), tools=[in_a_thread, tool(isolation="process")(isolated.pid)])
    agent.start("go", context=threading.Lock())
