"""What a model may look up in its session: a tool that searches it, and handles that read turns and results on.

Everything here is looked up in one session only: what a model makes up as a handle finds nothing of another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tukang.conversation import Message, ToolResult
from tukang.loop.events import Language
from tukang.memory.past import Past
from tukang.memory.transcript import transcript
from tukang.memory.wording import WORDS
from tukang.tools.adopting import as_tool
from tukang.tools.outputs import Outputs, Slice
from tukang.tools.tool import Tool, tool

HITS = 5
"""Places that a search gives."""

PAGE = 10_000
"""Characters of an old turn or result that are read at a time."""

_LONGEST_RESULT = 2_000


def search_tool(past: Past, language: Language) -> Tool:
    """The tool that searches a session: `search_conversation`, or `cari_percakapan` in Indonesian."""
    words = WORDS[language]

    async def search(query: str) -> list[dict[str, Any]]:
        return [
            {
                "turn": hit.number,
                "date": datetime.fromtimestamp(hit.started, UTC).strftime("%Y-%m-%d %H:%M UTC"),
                "excerpt": hit.excerpt,
                "handle": hit.turn,
            }
            for hit in await past.search(query, HITS)
        ]

    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": words.query}},
        "required": ["query"],
        "additionalProperties": False,
    }
    schema = {"name": words.tool, "description": words.description, "parameters": parameters}
    return as_tool(tool((schema, search), effect="read"))


class Recalled:
    """The long results of a session's tools (`tukang.tools.outputs.Outputs`), and besides these everything that is no longer
    shown whole: handles are the ids of turns and of calls.

    Args:
        kept: where long results are kept.
        past: the session's finished turns.
        running: gives the messages of the turn that runs.
    """

    def __init__(self, kept: Outputs, past: Past, running: Current) -> None:
        self._kept = kept
        self._past = past
        self._running = running

    async def keep(self, handle: str, text: str, page: int) -> bool:
        """Keep a long result."""
        return await self._kept.keep(handle, text, page)

    async def read(self, handle: str, offset: int) -> Slice | None:
        """A page and one character more of a kept result, of an old result, or of an old turn."""
        found = await self._kept.read(handle, offset)
        if found is not None:
            return found
        text = await self._text(handle)
        return None if text is None else Slice(text[offset : offset + PAGE + 1], offset, len(text), PAGE)

    async def _text(self, handle: str) -> str | None:
        if result := _result(self._running.messages, handle):
            return result.text
        if turn := await self._past.turn(handle):
            return transcript(turn, longest=PAGE, longest_result=_LONGEST_RESULT)
        turn = await self._past.of_call(handle)
        result = None if turn is None else _result(turn.messages, handle)
        return None if result is None else result.text


class Current:
    """The messages of the turn that runs, as far as it was when the model was last asked."""

    def __init__(self) -> None:
        self.messages: Sequence[Message] = ()


def _result(messages: Sequence[Message], call: str) -> ToolResult | None:
    return next((result for message in messages for result in message.results if result.call_id == call), None)
