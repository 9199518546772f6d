"""llama.cpp inside this process, through xllamacpp: loads weights, completes prompts, keeps prompt states on disk.

It knows neither tools nor conversations. How it is arranged, and why:

* One **lane** (a thread with a queue) for each slot. The engine computes outside the GIL and reports through a callback on
  the lane's thread; pieces are handed to whichever event loop asked. So no loop ever blocks, jobs of one slot wait in line
  where they can still be withdrawn, and a job belongs to no loop.
* A callback that returns true ends the job. It is called for each token and, while a prompt is read, for each batch: the
  batch is small (`_BATCH`) so that cancelling takes effect within about two seconds on two slow cores. Measured here, 64
  reads a prompt as fast as 2,048.
* The engine insists on a server of its own. It listens on a socket file in a private folder and wants a random key. Only
  the slot's save and restore go through it: the package has no direct call for them.
* `cache_ram_mib=0`: the engine's own prompt cache grows to gigabytes and is of no use with one slot for each prompt.
"""

from __future__ import annotations

import atexit
import importlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import msgspec

from tukang.errors import ModelError
from tukang.models.local.engine import Completed, Job, Piece, Slot
from tukang.models.local.lane import Lane
from tukang.models.local.machine import require_memory, threads_to_use
from tukang.models.local.states import SlotControl, States
from tukang.models.local.weights import INSTALL_HINT, Weights

CONTEXT = 12_288
"""Tokens for both slots together; each has half: about 1,800 for the fixed examples, the rest for the agent and the turn. A
token takes 28 kB, when it is used."""

_BATCH = 64


class LlamaEngine:
    """Loaded weights and their two slots.

    Args:
        weights: what to load. Blocks for a few seconds: construct it in a thread.
        threads: computing threads; measured when None.
        states: where prompt states are kept between processes; None keeps none.

    Raises:
        ModelError: of kind `configuration`: the engine is not installed, memory is short, or the file cannot be loaded.
    """

    def __init__(self, weights: Weights, threads: int | None = None, states: Path | None = None) -> None:
        self.weights = weights
        require_memory(weights.path)
        self.threads = threads_to_use(threads)
        self._folder = Path(tempfile.mkdtemp(prefix="tukang-"))
        server, control = _start(weights.path, self.threads, self._folder)
        keeper = (
            States(control, states, self._folder, f"{weights.fingerprint}|{CONTEXT}|{_version()}") if states else None
        )
        self._lanes = {slot: Lane(f"tukang-local-{slot.name.lower()}", _Worker(server, slot, keeper)) for slot in Slot}
        atexit.register(self.close)

    async def complete(self, job: Job) -> AsyncGenerator[Piece | Completed, None]:
        """See `tukang.models.local.engine.Engine`."""
        async for item in self._lanes[job.slot].run(job):
            yield item

    def close(self) -> None:
        """Stop all work and free the memory. Further jobs are refused."""
        atexit.unregister(self.close)
        for lane in self._lanes.values():
            lane.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


class _Worker:
    """Does the jobs of one slot, one after the other, on the lane's thread."""

    def __init__(self, server: Any, slot: Slot, states: States | None) -> None:
        self._server: Any = server
        self._slot = slot
        self._states = states
        self._prompt = ""  # the last prompt the slot's cache holds, at least in part

    def __call__(self, job: Job, emit: Callable[[Piece | Completed], bool]) -> None:
        warming = job.max_tokens == 0
        if warming and self._prompt.startswith(job.prompt):
            if self._states:
                self._states.touch(job.prompt)
            emit(Completed("stop"))
            return
        if warming and self._states and self._states.restore(self._slot, job.prompt):
            self._prompt = job.prompt
            emit(Completed("stop"))
            return
        self._prompt = ""
        reader = _Reader(emit)
        self._server.handle_completions(_body(job), reader)
        if reader.failed is not None:
            raise reader.failed
        self._prompt = job.prompt
        if warming and self._states and not reader.withdrawn:
            self._states.save(self._slot, job.prompt)

    def close(self) -> None:
        self._server = None


class _Reader:
    """Takes the engine's chunks. Called on the lane's thread, with the GIL held; returning true ends the job."""

    def __init__(self, emit: Callable[[Piece | Completed], bool]) -> None:
        self._emit = emit
        self.failed: ModelError | None = None
        self.withdrawn = False

    def __call__(self, chunk: bytes) -> bool:
        # An exception here would be swallowed by the engine.
        try:
            self.withdrawn = self._take(msgspec.json.decode(chunk, type=_Chunk))
        except Exception as error:
            self.failed = ModelError("unexpected", f"the local engine's reply could not be read: {error}.")
        return self.withdrawn or self.failed is not None

    def _take(self, chunk: _Chunk) -> bool:
        if chunk.error is not None:
            kind = "bad_request" if chunk.error.code < 500 else "unexpected"
            self.failed = ModelError(kind, f"the local engine refused the request: {chunk.error.message}.")
            return True
        stopped = not self._emit(Piece(chunk.choices[0].text if chunk.choices else ""))
        if chunk.usage is not None:
            finish = "length" if self._cut(chunk) else "stop"
            cached = chunk.usage.prompt_tokens_details.cached_tokens
            self._emit(Completed(finish, chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached))
        return stopped

    @staticmethod
    def _cut(chunk: _Chunk) -> bool:
        return bool(chunk.choices) and chunk.choices[0].finish_reason == "length"


class _Choice(msgspec.Struct):
    text: str = ""
    finish_reason: str | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached = msgspec.field(default_factory=_Cached)


class _Error(msgspec.Struct):
    code: int = 500
    message: str = "no reason given"


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: _Error | None = None


def _body(job: Job) -> bytes:
    """The engine's request (llama.cpp, `tools/server/README.md`, POST /completion and /v1/completions)."""
    body: dict[str, Any] = {
        **job.extra,
        "prompt": job.prompt,
        "max_tokens": job.max_tokens,
        "temperature": job.temperature,
        "id_slot": int(job.slot),
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,
    }
    optional = {"grammar": job.grammar, "top_p": job.top_p, "seed": job.seed, "stop": list(job.stop) or None}
    body |= {key: value for key, value in optional.items() if value is not None}
    return msgspec.json.encode(body)


def _version() -> str:
    from importlib.metadata import version

    return version("xllamacpp")


def _start(path: Path, threads: int, folder: Path) -> tuple[Any, SlotControl]:
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ModelError("configuration", "the local model's engine is not installed.", hint=INSTALL_HINT) from error
    key = secrets.token_hex(16)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = len(Slot)
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0
    parameters.n_ctx_checkpoints = 0
    parameters.warmup = parameters.ui = parameters.fit_params = False
    parameters.verbosity = -1
    parameters.api_keys = [key]
    parameters.slot_save_path = f"{folder}{os.sep}"
    socket_file = folder / "engine.sock" if hasattr(socket, "AF_UNIX") else None
    parameters.hostnames = ["127.0.0.1" if socket_file is None else str(socket_file)]
    parameters.port = 0
    try:
        server = xllamacpp.Server(parameters)
    except Exception as error:
        raise ModelError(
            "configuration",
            f"llama.cpp cannot load {path}: {error}",
            hint="Check that the file is a complete GGUF file of a kind llama.cpp supports.",
        ) from error
    return server, SlotControl(socket_file, str(server.listening_address), key)
