"""The words of a text as they are searched: folded, stemmed in Indonesian and in English, with numbers and ids kept whole.

The databases get words, not text: so every one of them finds the same, and none needs a dictionary of its own. An id is found
by its parts and as a whole, with and without what joins it (`INV-2024-001`), and a name of a program by its parts
(`FinanceTool`, `cek_harga`).

Stemming is that of Sastrawi, with its dictionary of root words (`menyewakan` → `sewa`), and of Snowball for what is English.
Both come with the extra `knowledge`; without them a word is itself.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

_RUN = re.compile(r"[^\W_]+(?:[.\-/][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 60
"""Characters of a word that count. Longer ones are not words: hashes, base64."""

_MOST = 64
"""Words of a question that are looked for."""

_MOST_READ = 5_000
"""Characters of a question that are read."""

_STOP_INDONESIAN = """
    yang dan di ke dari untuk pada dengan adalah ini itu atau oleh dalam sebagai juga akan tidak bisa dapat saya kamu
    anda kami kita mereka ia dia apa apakah bagaimana berapa siapa kapan mana mengapa kenapa ada sudah telah karena
    agar jika kalau maka saja lagi para secara serta yaitu nya mau ingin tolong dong sih kah pun
"""
_STOP_ENGLISH = """
    the a an of to in on for with and or is are was be been by from as at it its this that these those i you he she we
    they me my your our can could would should will do does did have has how what when where which who please want
    need if so
"""
INDONESIAN, ENGLISH = frozenset(_STOP_INDONESIAN.split()), frozenset(_STOP_ENGLISH.split())
STOP = INDONESIAN | ENGLISH
"""Words that say nothing about what a text is about. They stand in the index, and are left out of a question that has
others."""


def folded(text: str) -> str:
    """A text without case and accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


def words_of(text: str) -> list[str]:
    """The words of a text as they stand in an index, in order."""
    return list(_words(text))


def question_words(text: str) -> list[str]:
    """The words to look for: each once, without those that say nothing, unless there are no others; the first of many."""
    plain = list(dict.fromkeys(_words(text[:_MOST_READ])))
    telling = [word for word in plain if word not in STOP]
    return (telling or plain)[:_MOST]


def spoken(name: str) -> str:
    """A name of a program as words: `FinanceTool` is "Finance Tool", `cek_harga` "cek harga"."""
    return " ".join(piece for part in _PART.findall(name) for piece in _CAMEL.split(part))


def _words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        parts = _PART.findall(run)
        for part in parts:
            pieces = _CAMEL.split(part)
            if len(pieces) > 1:
                yield from (stem(word) for piece in pieces if (word := folded(piece)[:_LONGEST]))
            for word in _PART.findall(folded(part)):
                yield stem(word[:_LONGEST])
        if len(parts) > 1 and any(sign.isdigit() for sign in run):
            yield folded("".join(parts))[:_LONGEST]


@functools.lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A folded word without its endings and beginnings. What holds a digit is an id or a number, and stays as it is."""
    if len(word) < 4 or not word.isalpha():
        return word
    return _stemmer()(word)


@functools.cache
def _stemmer() -> Callable[[str], str]:
    if importlib.util.find_spec("Sastrawi") is None or importlib.util.find_spec("snowballstemmer") is None:
        return _itself
    factory: Any = importlib.import_module("Sastrawi.Stemmer.StemmerFactory").StemmerFactory()
    roots = frozenset(factory.get_words())
    indonesian: Any = factory.create_stemmer(isDev=True)
    english: Any = importlib.import_module("snowballstemmer").stemmer("english")
    lock = threading.Lock()  # the stemmers keep notes in themselves while they work

    def stemmed(word: str) -> str:
        if word in roots:
            return word
        with lock:
            root = str(indonesian.stem(word))
            return root if root in roots else str(english.stemWord(word))

    return stemmed


def _itself(word: str) -> str:
    return word
