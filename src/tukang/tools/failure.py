"""An exception in the words the model may read: its type and its message, short, without what looks like a secret."""

from __future__ import annotations

import re
from typing import cast

from tukang.tools.json_text import unicode

LONGEST = 500
"""Characters of a message that reach the model."""

_SECRETS = (
    re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]*(?=@)", re.IGNORECASE),  # user and password in a URL
    re.compile(r"(?P<keep>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(
        r"(?P<keep>\b[\w-]*(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|authorization)[\"']?\s*[=:]\s*)"
        r"(?!\s*(?:Bearer|Basic)\b)(?:\"[^\"]*\"|'[^']*'|[^\s,;&)}\]]+)",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>)\b(?:sk-|sk_|pk_|ghp_|gho_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza)[A-Za-z0-9_-]{10,}"),
    re.compile(r"(?P<keep>)\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # a JSON Web Token
)


def words(error: BaseException) -> str:
    """`ValueError: stock is 0`; the type alone when there is no message. No traceback, no chained exception."""
    error = _innermost(error)
    try:
        message = str(error).strip()
    except Exception:  # an exception that cannot even be written
        message = ""
    message = without_secrets(unicode(message))
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}… ({len(message)} characters)"
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def _innermost(error: BaseException) -> BaseException:
    """The one exception in a group of one: a task group's own message says nothing."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    group = cast("BaseExceptionGroup[BaseException]", error)
    return _innermost(group.exceptions[0]) if len(group.exceptions) == 1 else group


def without_secrets(text: str) -> str:
    """The text with everything that looks like a credential replaced by `[secret]`."""
    for secret in _SECRETS:
        text = secret.sub(r"\g<keep>[secret]", text)
    return text
