"""What around the program is at fault where something broke that is no fault of the program's. It looks; it mends nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import find_dotenv

from tukang.loop.events import Language

_GONE: Mapping[Language, str] = {
    "id": "Folder kerja ini sudah tidak ada. Pindahlah ke folder lain, lalu jalankan lagi.",
    "en": "The working directory is not there any more. Go to another one, and run it again.",
}
_DOTENV: Mapping[Language, str] = {
    "id": "{path} tidak bisa dibaca: harus boleh dibaca pengguna ini, dan dalam UTF-8.",
    "en": "{path} cannot be read: this user has to be allowed to, and it has to be UTF-8.",
}


def at_fault(error: Exception, language: Language) -> str | None:
    """What is wrong with where the program was started, and how to mend it; None when nothing is, as far as can be seen."""
    if isinstance(error, OSError) and not _stands_somewhere():
        return _GONE[language]
    if isinstance(error, (OSError, UnicodeDecodeError)) and (path := _unreadable_dotenv()):
        return _DOTENV[language].format(path=path)
    return None


def _stands_somewhere() -> bool:
    """Whether the working directory is still there."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _unreadable_dotenv() -> str | None:
    path = find_dotenv(usecwd=True)
    try:
        if path:
            Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return path
    return None
