"""From the text a model sent to a JSON object: parse, and if that fails, mend. Pure; knows neither tools nor schemas.

Valid JSON is never touched. What is not valid is given to `mending`, which repairs notation only and refuses the rest.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.tools.json_text import Unreadable, as_object, decode
from tukang.tools.mending import mend


class Parsed(msgspec.Struct, frozen=True):
    """The object a model meant. `repaired` says that its notation had to be mended."""

    arguments: dict[str, Any]
    repaired: bool = False


def parse(text: str | None) -> Parsed:
    """Read the arguments of a call.

    Blank text, `null` and None mean `{}`: that is what providers send for a call without arguments.

    Raises:
        Unreadable: it is not an object, and no mending of notation alone makes it one; the message says why.
    """
    if text is None or not text.strip():
        return Parsed({})
    try:
        value = decode(text)
    except Unreadable:
        raise
    except ValueError:
        return Parsed(as_object(mend(text)), repaired=True)
    if value is None:
        return Parsed({})
    if isinstance(value, str) and (not value.strip() or value.lstrip().startswith("{")):  # encoded twice
        return Parsed(parse(value).arguments, repaired=True)
    return Parsed(as_object(value))
