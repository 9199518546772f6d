"""The built-in tool `read_more`: the rest of a result that was too long to give whole.

It is in a toolbox from the start, or never: a menu that changed in the middle of a conversation would make a provider read
everything before it again. It is there when some tool declares `max_output`; see `tukang.tools.toolbox`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tukang.conversation import Text
from tukang.tools.context import CallContext
from tukang.tools.outcome import NothingDone
from tukang.tools.outputs import head, reading_on
from tukang.tools.tool import tool
from tukang.tools.untrusted import Untrusted, untrusted

NAME = "read_more"


@tool(effect="read", isolation="async", max_output=None)
async def read_more(
    handle: Annotated[str, Field(description="The handle that stood beside the result.")],
    context: CallContext,
    offset: Annotated[int, Field(ge=0, description="The character to begin at.")] = 0,
) -> list[Text] | Untrusted:
    """Read on in a tool result that was too long to be shown whole. Only with a handle that such a result gave."""
    found = None if context.outputs is None else await context.outputs.read(handle, offset)
    if found is None:
        raise NothingDone(
            f"no result is kept under the handle {handle[:80]!r}", "Call the tool again that gave the result."
        )
    if offset >= found.whole:
        raise NothingDone(f"the result has {found.whole} characters: there is nothing at {offset}")
    shown = head(found.text, found.page)
    end = offset + len(shown)
    page = [Text(shown), Text(f"[{reading_on(end, offset, found.whole, handle)}]")]
    if handle.partition("-")[0] == context.call_id.partition("-")[0]:
        return page  # where it came from was said with its beginning
    return untrusted(page, "a result of an earlier turn")  # whosever it was
