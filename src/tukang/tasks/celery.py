"""Long work over Celery: a task's id is a message on Redis or RabbitMQ, and any worker of the agent runs it.

    agent = Agent(…, tools=[…], tasks=Celery("redis://…"))

and on as many machines as there are, `tukang tasks work module:agent --store URL`. What is true of a task stands in its row
in the store; a message may come twice, late or never, and changes nothing about it. So messages are acknowledged when they
are received, no result is kept, and nothing depends on the broker's time-outs.

Celery is used as a guest: each sender and each worker has an app of its own, and the program's current and default app, its
logging, its signals and its event loops stay as they are.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tukang.errors import ConfigurationError
from tukang.memory.stores.errors import StoreError
from tukang.tasks.backend import Job
from tukang.tasks.runner import Runner

if TYPE_CHECKING:
    from tukang.tasks.workshop import Caller

logger = logging.getLogger("tukang.tasks")

NAME = "celery"
MESSAGE = "tukang.task"
"""What the messages are called; their only argument is the task's id."""

_SCHEMES = ("redis", "rediss", "redis+socket", "amqp", "amqps")
_CONNECTING = 5.0
"""Seconds to wait for the broker before a message is given up; a worker then carries it again."""

_LONGEST_PLAIN = 100
"""Characters of an agent's name that stand in its queue's: RabbitMQ has names of up to 255 bytes."""

_AFTER_A_FAULT = 2.0
_STOPPING = 4.0
"""Seconds that Celery's worker gets to stop. It hears of it within two, between two looks at the broker."""

_LONGEST_PAUSE = 600.0
"""Seconds between two messages about the same task that nobody begins, at most: a queue that is long is not made longer."""


class Celery:
    """Carries tasks through a broker.

    Args:
        broker: `redis://…` or `amqp://…`, as Celery has it.
        slots: how many tasks at a time, of one worker.
        takeover: seconds within which a task goes on elsewhere whose worker died, or that was lost on its way.
        caller: see `tukang.tasks.workshop.Caller`.
        redact: see `tukang.tasks.backend.Backend.redact`.

    Raises:
        ConfigurationError: Celery is not installed, or the address is none of a broker.
    """

    name = NAME
    remote = True

    def __init__(
        self,
        broker: str,
        *,
        slots: int = 4,
        takeover: float = 30.0,
        caller: Caller | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self.address = _checked(broker)
        self.caller = caller
        self.redact = redact
        self.lease = takeover / 2
        self.slots = slots
        self.takeover = takeover
        self._broker = broker
        self._app = _app(broker)

    def noticed(self, here: Runner) -> None:
        """Workers see to what is there."""

    async def carry(self, job: Job, here: Runner) -> None:  # noqa: ARG002
        """Send a message.

        Raises:
            StoreError: the broker cannot be reached.
        """
        try:
            async with asyncio.timeout(_CONNECTING):
                await asyncio.to_thread(self.send, job)
        except TimeoutError as error:
            raise self.unreachable(error) from error

    def send(self, job: Job) -> None:
        """Send a message; blocks. On a connection of its own: one that is kept would be torn by a fork.

        Raises:
            StoreError: the broker cannot be reached.
        """
        try:
            with self._app.connection_for_write(connect_timeout=_CONNECTING) as connection:
                connection.ensure_connection(max_retries=1, interval_start=0.2, timeout=_CONNECTING)
                with self._app.amqp.Producer(connection, auto_declare=False) as producer:
                    self._app.send_task(
                        MESSAGE,
                        args=(job.task,),
                        queue=queue_of(job.agent),
                        countdown=job.delay or None,
                        ignore_result=True,
                        retry=False,
                        producer=producer,
                    )
        except Exception as error:  # of Kombu's, of Redis's, of amqp's: each broker has its own
            raise self.unreachable(error) from None

    async def work(self, runner: Runner, stop: asyncio.Event) -> None:
        """Run tasks of the runner's agent until `stop` is set."""
        await asyncio.to_thread(self._must_reach)
        await runner.store.tasks.pending(runner.shop.name, NAME, 1)  # to raise what it raises
        await Working(self, runner).run(stop)

    def _must_reach(self) -> None:
        try:
            with self._app.connection_for_write(connect_timeout=_CONNECTING) as connection:
                connection.ensure_connection(max_retries=1, interval_start=0.2, timeout=_CONNECTING)
        except Exception as error:
            raise self.unreachable(error) from None

    def unreachable(self, error: Exception) -> StoreError:
        """What is said of it: nothing of what the broker's client says, which may hold the password."""
        return StoreError("unavailable", f"the broker {self.address} cannot be reached: {type(error).__name__}")

    def another_app(self) -> Any:
        """An app for one worker: a function is registered with it once."""
        return _app(self._broker)


class Working:
    """A worker of tasks: Celery's, in threads of this process, which hand each message to the runner on this loop."""

    def __init__(self, backend: Celery, runner: Runner) -> None:
        self._backend = backend
        self._runner = runner
        self._agent = runner.shop.name
        self._loop = asyncio.get_running_loop()
        self._pauses: dict[str, tuple[float, float]] = {}
        self._over = threading.Event()

    async def run(self, stop: asyncio.Event) -> None:
        app = self._backend.another_app()
        controller = _controller(app, self._backend.slots, queue_of(self._agent), self._message)
        ended: asyncio.Future[None] = self._loop.create_future()
        serving = threading.Thread(target=self._serve, args=(app, controller, ended), name="tukang-celery", daemon=True)
        serving.start()
        others = [asyncio.create_task(self._beat()), asyncio.create_task(stop.wait())]
        try:
            await asyncio.wait((ended, others[1]), return_when=asyncio.FIRST_COMPLETED)
            if ended.done() and not stop.is_set():
                raise StoreError("unavailable", "Celery's worker has ended by itself; what its log says is why")
        finally:
            self._over.set()
            # in the worker's own thread: two that read from one connection take each other's answers
            controller.consumer.call_soon(_leave)
            for task in others:
                task.cancel()
            await asyncio.wait(others)
            # one that is just waiting for its broker is left behind; it begins nothing any more
            await asyncio.wait((ended,), timeout=_STOPPING)

    def _serve(self, app: Any, controller: Any, ended: asyncio.Future[None]) -> None:
        """Celery's worker, in a thread of its own; it waits for a broker that has gone away."""
        app.set_current()  # of this thread
        try:
            controller.start()
        except Exception:
            logger.exception("the worker of %s ended", self._backend.name)
        finally:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(lambda: ended.done() or ended.set_result(None))

    def _message(self, task: str) -> None:
        """One delivery, in a thread of Celery's."""
        if self._over.is_set():
            return
        pause: float | None = _AFTER_A_FAULT
        running = asyncio.run_coroutine_threadsafe(self._runner.run(task), self._loop)
        try:
            while not self._over.is_set():
                try:
                    pause = running.result(timeout=0.5)
                    break
                except TimeoutError:
                    if running.done():
                        raise
            else:  # stopped in the middle: whoever takes it over finds it as its row says
                running.cancel()
                return
        except StoreError as error:
            logger.warning("task %s: %s", task, error)
        except Exception:
            logger.exception("task %s", task)
        if pause is not None:
            self._again(task, pause)

    def _again(self, task: str, pause: float) -> None:
        try:
            self._backend.send(Job(task, self._agent, pause))
        except StoreError as error:  # then it is found to be lost
            logger.warning("task %s: %s", task, error)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._backend.takeover / 6)
            try:
                await self.carry_lost()
            except StoreError as error:
                logger.warning("no heartbeat: %s", error)

    async def carry_lost(self) -> None:
        """Carry again what was lost on its way, each less and less often: it may as well wait in a long queue.

        Raises:
            StoreError: the store or the broker cannot be reached.
        """
        backend = self._backend
        late = await self._runner.undelivered(NAME, backend.takeover / 2)
        lost = [task for task, left in late if left <= 0]
        self._pauses = {task: self._pauses[task] for task in lost if task in self._pauses}
        for task in lost:
            at, pause = self._pauses.get(task, (0.0, backend.takeover / 2))
            if time.monotonic() >= at:
                await backend.carry(Job(task, self._agent), self._runner)
                self._pauses[task] = (time.monotonic() + pause, min(2 * pause, _LONGEST_PAUSE))


def _leave() -> None:
    raise import_module("celery.exceptions").WorkerShutdown(0)


def queue_of(agent: str) -> str:
    """Where messages about an agent's tasks are."""
    plain = agent.isascii() and len(agent) <= _LONGEST_PLAIN
    return f"tukang:{agent if plain else hashlib.sha256(agent.encode()).hexdigest()}:tasks"


def _checked(broker: str) -> str:
    """The address without what is secret in it.

    Raises:
        ConfigurationError: it is none of a broker.
    """
    scheme, there, _ = broker.partition("://")
    if not there or scheme not in _SCHEMES:
        named = repr(scheme) if there else "an address without a scheme"
        raise ConfigurationError(f"{named} is no broker: expected redis://… or amqp://… (RabbitMQ)")
    try:
        parts = urlsplit(broker)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigurationError(
            f"the broker's address {scheme}://… cannot be read: expected {scheme}://host:port"
        ) from None
    return f"{scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def _app(broker: str) -> Any:
    celery: Any
    try:
        celery = import_module("celery")
        if broker.startswith("redis"):
            import_module("redis")
    except ImportError as error:
        raise ConfigurationError("Celery is not installed: pip install 'tukang[celery]'") from error
    app: Any = celery.Celery("tukang", broker=broker, set_as_current=False)
    # Celery takes CELERY_BROKER_URL from the environment before what it is given: that is for the program's own
    for name in ("connection_for_read", "connection_for_write"):
        setattr(app, name, _to(broker, getattr(app, name)))
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # there is nothing to cancel; what is not set is warned of
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=_CONNECTING,
        broker_transport_options={"socket_connect_timeout": _CONNECTING, "socket_timeout": 30.0},
    )
    return app


def _to(broker: str, connect: Callable[..., Any]) -> Callable[..., Any]:
    def connected(url: str | None = None, **more: Any) -> Any:
        return connect(url or broker, **more)

    return connected


def _controller(app: Any, slots: int, queue: str, deliver: Callable[[str], None]) -> Any:
    """Celery's worker without its command line, which would take this process's signals and logging."""
    worker: Any = import_module("celery.worker")
    app.task(deliver, name=MESSAGE, ignore_result=True, shared=False)
    return worker.WorkController(
        app=app,
        hostname=f"tukang-{os.getpid()}@{os.uname().nodename}",
        pool_cls=_pool(app),
        concurrency=slots,
        queues=[queue],
        use_eventloop=False,  # Celery's own is one for the whole process
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )


def _pool(app: Any) -> Any:
    """Celery's pool of threads, in which this app is the current one: there it looks for the function."""
    threads: Any = import_module("celery.concurrency.thread")

    def on_apply(self: Any, target: Callable[..., Any], *args: Any, **more: Any) -> Any:
        def here(*given: Any, **named: Any) -> Any:
            app.set_current()  # of this thread
            return target(*given, **named)

        return threads.TaskPool.on_apply(self, here, *args, **more)

    return type("Pool", (threads.TaskPool,), {"on_apply": on_apply})
