"""tukang: the agentic tool loop, made safe and readable. The names a user imports, and nothing else.

Each is loaded when it is first asked for: a worker process of a tool, or `tukang --help`, needs few of them. A type checker
reads the imports below; `_FROM` says the same to Python, and a test that they agree.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tukang.agent import Agent
    from tukang.answer import Answer, Step, Waiting
    from tukang.chat import Chat
    from tukang.conversation import File, Image, Message, Text, Usage, assistant, user
    from tukang.errors import (
        ConfigurationError,
        ModelError,
        SessionBusyError,
        ToolDefinitionError,
        TukangError,
    )
    from tukang.grounding.evidence import Evidence
    from tukang.grounding.policy import Grounded
    from tukang.loop.limits import Limits
    from tukang.loop.permissions import Principal, Rule, Where
    from tukang.memory.session import NothingToResumeError
    from tukang.memory.stores.errors import LeaseLostError, StoreError
    from tukang.memory.window import Summary, Window
    from tukang.models.base import Settings
    from tukang.runtime.people import Approval
    from tukang.stream import Stream
    from tukang.tools import hosted
    from tukang.tools.context import CallContext
    from tukang.tools.long import Long, Task, TaskCancelled
    from tukang.tools.outcome import NothingDone
    from tukang.tools.secret import Secret
    from tukang.tools.tool import Tool, tool
    from tukang.tools.toolbox import Toolbox
    from tukang.tools.untrusted import untrusted

__all__ = [
    "Agent",
    "Answer",
    "Approval",
    "CallContext",
    "Chat",
    "ConfigurationError",
    "Evidence",
    "File",
    "Grounded",
    "Image",
    "LeaseLostError",
    "Limits",
    "Long",
    "Message",
    "ModelError",
    "NothingDone",
    "NothingToResumeError",
    "Principal",
    "Rule",
    "Secret",
    "SessionBusyError",
    "Settings",
    "Step",
    "StoreError",
    "Stream",
    "Summary",
    "Task",
    "TaskCancelled",
    "Text",
    "Tool",
    "ToolDefinitionError",
    "Toolbox",
    "TukangError",
    "Usage",
    "Waiting",
    "Where",
    "Window",
    "assistant",
    "hosted",
    "tool",
    "untrusted",
    "user",
]

_FROM = {
    "Agent": "tukang.agent",
    "Answer": "tukang.answer",
    "Approval": "tukang.runtime.people",
    "CallContext": "tukang.tools.context",
    "Chat": "tukang.chat",
    "ConfigurationError": "tukang.errors",
    "Evidence": "tukang.grounding.evidence",
    "File": "tukang.conversation",
    "Grounded": "tukang.grounding.policy",
    "Image": "tukang.conversation",
    "LeaseLostError": "tukang.memory.stores.errors",
    "Limits": "tukang.loop.limits",
    "Long": "tukang.tools.long",
    "Message": "tukang.conversation",
    "ModelError": "tukang.errors",
    "NothingDone": "tukang.tools.outcome",
    "NothingToResumeError": "tukang.memory.session",
    "Principal": "tukang.loop.permissions",
    "Rule": "tukang.loop.permissions",
    "Secret": "tukang.tools.secret",
    "SessionBusyError": "tukang.errors",
    "Settings": "tukang.models.base",
    "Step": "tukang.answer",
    "StoreError": "tukang.memory.stores.errors",
    "Stream": "tukang.stream",
    "Summary": "tukang.memory.window",
    "Task": "tukang.tools.long",
    "TaskCancelled": "tukang.tools.long",
    "Text": "tukang.conversation",
    "Tool": "tukang.tools.tool",
    "ToolDefinitionError": "tukang.errors",
    "Toolbox": "tukang.tools.toolbox",
    "TukangError": "tukang.errors",
    "Usage": "tukang.conversation",
    "Waiting": "tukang.answer",
    "Where": "tukang.loop.permissions",
    "Window": "tukang.memory.window",
    "assistant": "tukang.conversation",
    "hosted": "tukang.tools",
    "tool": "tukang.tools.tool",
    "untrusted": "tukang.tools.untrusted",
    "user": "tukang.conversation",
}
"""Where each name is defined."""


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(_FROM[name])
        value = getattr(module, name, None) or import_module(f"{_FROM[name]}.{name}")  # a module of its own
        globals()[name] = value  # from now on found without being asked for here
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
