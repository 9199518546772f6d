"""An exception in the words the model may read: its type and its message, short, without what looks like a secret."""

from __future__ import annotations

from typing import cast

from tukang.secrets import Remover
from tukang.tools.json_text import unicode

LONGEST = 500
"""Characters of a message that reach the model."""

_SCANNED = 4 * LONGEST
"""Characters of a message that are searched for secrets, so that a long message costs no more than a short one."""

_REMOVER = Remover(in_errors=True)


def words(error: BaseException) -> str:
    """`ValueError: stock is 0`; the type alone when there is no message. No traceback, no chained exception."""
    error = _innermost(error)
    try:
        message = str(error).strip()
    except BaseException:  # an exception that cannot even be written
        message = ""
    length = len(message)
    message = without_secrets(unicode(message[:_SCANNED]))
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}… ({length} characters)"
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def _innermost(error: BaseException) -> BaseException:
    """The one exception in a group of one: a task group's own message says nothing."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    group = cast("BaseExceptionGroup[BaseException]", error)
    return _innermost(group.exceptions[0]) if len(group.exceptions) == 1 else group


def without_secrets(text: str) -> str:
    """The message of an error with everything that looks like a credential replaced by `[secret]`."""
    return _REMOVER.text(text)
