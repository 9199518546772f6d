"""Threads for functions that block: at once, kept for the next, never joined, counted when they are left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tukang.tools.threads import Job, Threads

LONG = 60.0


def finish(threads: Threads, job: Callable[[], Any]) -> Any:
    """Run a job and wait for it, and for its thread to be idle again or gone."""
    results: list[Any] = []
    done = threading.Event()

    def whole() -> None:
        results.append(job())
        done.set()

    threads.run(Job(whole))
    assert done.wait(LONG)
    return results[0]


def test_threads_are_daemons_and_not_threads_of_asyncio() -> None:
    assert finish(Threads(), lambda: threading.current_thread().daemon)


def test_no_idle_thread_is_kept_when_none_is_wanted() -> None:
    threads = Threads(most_idle=0)
    used = [finish(threads, threading.current_thread) for _ in range(3)]
    for thread in used:
        thread.join(LONG)
        assert not thread.is_alive()
    assert len(set(used)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have() -> None:
    threads = Threads()
    finish(threads, lambda: None)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if finish(threads, lambda: "ok") == "ok" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, as it will very soon."""
    end = time.monotonic() + LONG
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.001)
    return held


def test_a_job_that_was_left_behind_is_counted_until_it_ends() -> None:
    threads = Threads(most_abandoned=2)
    let_go = threading.Event()
    jobs = [Job(lambda: let_go.wait(LONG) and None, name) for name in ("a", "a", "b")]
    for job in jobs:
        threads.run(job)
    threads.abandon(jobs[0])
    assert not threads.full
    threads.abandon(jobs[2])
    assert threads.full
    assert threads.abandoned() == {"a": 1, "b": 1}
    let_go.set()
    assert until(lambda: not threads.abandoned())
    assert not threads.full


def test_a_job_that_had_just_ended_is_not_counted() -> None:
    threads = Threads()
    job = Job(lambda: None)
    threads.run(job)
    assert until(lambda: job.over)
    threads.abandon(job)
    assert not threads.abandoned()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_left_nothing_behind() -> None:
    threads = Threads(most_abandoned=1)
    let_go = threading.Event()
    job = Job(lambda: let_go.wait(LONG) and None)
    threads.run(job)
    threads.abandon(job)
    assert threads.full
    child = os.fork()
    if child == 0:
        os._exit(1 if threads.full else 0)
    assert os.waitpid(child, 0)[1] == 0
    let_go.set()
