"""tukang: the agentic tool loop, made safe and readable. The names a user imports, and nothing else."""

from tukang.agent import Agent, Chat
from tukang.answer import Answer, Step
from tukang.conversation import File, Image, Message, Text, Usage, assistant, user
from tukang.errors import (
    ConfigurationError,
    ModelError,
    SessionBusyError,
    ToolDefinitionError,
    TukangError,
)
from tukang.loop.limits import Limits
from tukang.models.base import Settings
from tukang.stream import Stream
from tukang.tools.context import CallContext
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import Tool, tool
from tukang.tools.toolbox import Toolbox

__all__ = [
    "Agent",
    "Answer",
    "CallContext",
    "Chat",
    "ConfigurationError",
    "File",
    "Image",
    "Limits",
    "Message",
    "ModelError",
    "NothingDone",
    "SessionBusyError",
    "Settings",
    "Step",
    "Stream",
    "Text",
    "Tool",
    "ToolDefinitionError",
    "Toolbox",
    "TukangError",
    "Usage",
    "assistant",
    "tool",
    "user",
]
