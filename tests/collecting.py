"""Each worker of a run reads every test before it runs one: here that is made quicker, and nothing else is decided.

What is compiled is kept in `__pycache__`, also where the machine says otherwise: workers would compile all tests anew each
time, and hundreds of processes that tests start all of the project. In a fresh checkout each worker first reads a share of
the tests, so that the others find those compiled. And what is there when the tests begin stays until they end: the
garbage collector need not go through it again and again. A test that is about what is left behind calls it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def keep_what_is_compiled() -> None:
    """In this process, in the workers, and in what the tests start."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    gc.disable()
    try:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            _read_a_share(getattr(session.config, "workerinput", {}))
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)
        gc.enable()


def _read_a_share(worker: dict[str, object]) -> None:
    """Import every Nth file of tests, if there are N workers; what cannot be imported is said where it is collected."""
    if not worker:
        return
    number, count = int(str(worker["workerid"]).removeprefix("gw")), int(str(worker["workercount"]))
    for path in sorted(HERE.rglob("test_*.py"))[number::count]:
        name = ".".join((HERE.name, *path.relative_to(HERE).with_suffix("").parts))
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)
