"""Whether an agent has long work at all: what it costs an agent that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tukang.errors import ConfigurationError

if TYPE_CHECKING:
    from tukang.runtime.cache import ResultCache
    from tukang.runtime.vault import Vault
    from tukang.tasks.backend import Backend
    from tukang.tasks.desk import Tasks
    from tukang.tasks.workshop import Host


def tasks_of(host: Host, vault: Vault | None, backend: Backend | None, cache: ResultCache | None) -> Tasks | None:
    """The long work of an agent; None when none of its tools is long.

    Raises:
        ConfigurationError: a backend was given, and there is nothing to be carried.
    """
    if any(tool.policy.long for tool in host.toolbox):
        from tukang.tasks.desk import Tasks  # an agent without long tools needs no store
        from tukang.tasks.embedded import Embedded

        return Tasks(host, vault, backend or Embedded(), cache)
    if backend is not None:
        raise ConfigurationError(
            "tasks= says what carries long work, and no tool is long: say @tool(long=True), or leave tasks out"
        )
    return None
