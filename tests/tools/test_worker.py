"""When a worker ends by itself, and what happens when one cannot be started."""

from __future__ import annotations

import socket
import sys

import pytest

from tukang.tools import worker
from tukang.tools.frames import READY, Frames
from tukang.tools.processes import Errand, Processes
from tukang.tools.workers import Lost


def test_a_worker_that_nobody_asks_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "IDLE", 0.001)
    program, line = socket.socketpair()
    with program, line:
        worker.serve(line)  # returns
        frames = Frames(1000)
        frames.add(program.recv(1000))
        assert frames.next() == (READY, b"")


def test_a_worker_whose_program_is_gone_ends() -> None:
    program, line = socket.socketpair()
    with line:
        program.shutdown(socket.SHUT_WR)
        worker.serve(line)  # returns, although it would wait longer for a call
        program.close()


def test_a_worker_that_cannot_be_started_is_tried_again_and_then_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    processes = Processes()
    said = processes.run(Errand(b"", None, None, None))
    processes.tidy()
    assert isinstance(said, Lost)
    assert not said.started
    assert said.reason.startswith("its process could not be started: [Errno 2]")


def test_an_interpreter_that_does_not_work_costs_no_more_than_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    processes = Processes()
    said = processes.run(Errand(b"", None, None, None))
    processes.tidy()
    assert said == Lost("its process was ended")
