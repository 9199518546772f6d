"""A turn as plain text: for a model that sums it up, and for one that reads it again. Pure.

Thinking is left out, pictures and documents are named, and what is long is cut.
"""

from __future__ import annotations

from tukang.conversation import File, Image, Message, Text, ToolCall, ToolResult
from tukang.memory.past import PastTurn
from tukang.tools.outputs import head


def transcript(turn: PastTurn, *, longest: int, longest_result: int) -> str:
    """What was said and done in a turn, in lines that begin with who spoke.

    Args:
        turn: the turn.
        longest: characters of a text, or of a call's arguments.
        longest_result: characters of a result. What is longer ends with the handle that reads it on.
    """
    lines = [f"turn {turn.number}"]
    for message in turn.messages:
        lines += [line for part in message.parts if (line := _line(message, part, longest, longest_result))]
    return "\n".join(lines)


def _line(message: Message, part: object, longest: int, longest_result: int) -> str:
    match part:
        case Text(text):
            return f"{message.role}: {_cut(text, longest)}" if text.strip() else ""
        case ToolCall():
            return f"call: {part.name}({_cut(part.arguments, longest)})"
        case ToolResult():
            text = head(part.text, longest_result)
            more = f" … [handle {part.call_id}]" if len(text) < len(part.text) else ""
            return f"result of {part.name}: {text}{more}"
        case Image() | File():
            name = part.name if isinstance(part, File) and part.name else part.media_type
            return f"{message.role}: [{name}]"
        case _:
            return ""


def _cut(text: str, longest: int) -> str:
    """The text, its middle left out where it is longer."""
    if len(text) <= longest:
        return text
    begin = head(text, longest * 2 // 3)
    return f"{begin} … {text[len(begin) + len(text) - longest :]}"
