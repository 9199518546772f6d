"""What cannot be taken in, and why. The kinds are a closed list, so that the command line can say them in either language."""

from __future__ import annotations

from typing import Literal

from tukang.errors import TukangError

DocumentErrorKind = Literal[
    "missing",  # there is no such file
    "outside",  # it lies outside of the folder that was given: through `..`, or a symbolic link
    "too_large",  # more bytes than `most_bytes`, packed or unpacked
    "empty",  # no bytes, or no words in them
    "scanned",  # pages that are pictures: there is no text to read
    "password",  # it is locked with a password
    "corrupt",  # it is not what its name says, or it is damaged
    "encoding",  # its text is in another encoding than UTF-8, and none was named
    "unknown_format",  # no reader for files of this name
    "unreadable",  # the system does not let us read it
    "metadata",  # what is said about it cannot be kept
]


class DocumentError(TukangError):
    """A document that was not taken in. What was known of it before stays as it was.

    Args:
        kind: one of the closed list above.
        source: which document.
        detail: what was found, in a few words.
        hint: how to mend it, where that is known.
    """

    def __init__(self, kind: DocumentErrorKind, source: str, detail: str, hint: str = "") -> None:
        super().__init__(f"{source}: {detail}" + (f" {hint}" if hint else ""))
        self.kind: DocumentErrorKind = kind
        self.source = source
        self.detail = detail
        self.hint = hint
