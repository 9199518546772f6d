"""Results put plainly, in the user's language, for when the model's own words cannot be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from tukang.models.local.view import Step

Language = Literal["id", "en"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _words(
    "the is are was what which who how when where why please can could should do does did my me you your of to for in on and "
    "if it this that there have has with a an order check find tell give show compare calculate"
)
_INDONESIAN = _words(
    "yang apa apakah berapa bagaimana siapa kapan dimana mana tolong saya aku kamu anda di ke dari untuk dengan dan atau ini "
    "itu ada tidak bisa mau jika kalau lalu cek pesan cari buat harga cuaca sekarang hari buatkan hitung"
)
_NO_WORDS: dict[Language, str] = {
    "id": "Maaf, saya belum bisa menjawab itu dengan pasti.",
    "en": "Sorry, I cannot answer that with certainty.",
}
_ASK: dict[Language, str] = {
    "id": "Tentu. Bisa sebutkan rinciannya?",
    "en": "Sure. Could you tell me the details?",
}
_FAILED: dict[Language, str] = {"id": "gagal", "en": "failed"}
_EMPTY: dict[Language, str] = {"id": "tidak ada hasil", "en": "no results"}


def language_heard(text: str) -> Language | None:
    """The language most of the known words are of; None when that is a tie."""
    words = re.findall(r"[a-z]+", text.lower())
    english, indonesian = sum(word in _ENGLISH for word in words), sum(word in _INDONESIAN for word in words)
    return None if english == indonesian else "en" if english > indonesian else "id"


def language_of(text: str) -> Language:
    """Indonesian unless more of the words are English."""
    return language_heard(text) or "id"


def ask_for_details(request: str) -> str:
    """A question for what a request leaves open."""
    return _ASK[language_of(request)]


def results_in_words(steps: Sequence[Step], request: str) -> str:
    """Each result on a line of its own, its members named; an apology where there is none."""
    language = language_of(request)
    lines = [_line(step, language) for step in steps]
    return "\n".join(lines) or _NO_WORDS[language]


def _line(step: Step, language: Language) -> str:
    try:
        value: object = msgspec.json.decode(step.result)
    except msgspec.DecodeError:
        value = step.result
    error = cast("dict[str, object]", value).get("error") if isinstance(value, dict) else None
    if error is not None:
        message: object = cast("dict[str, object]", error).get("message") if isinstance(error, dict) else error
        return f"{_name(step.name)}: {_FAILED[language]} ({_said(cast('object', message), language)})"
    said = _said(cast("object", value), language)
    return said if _is_sentence(said) else f"{_name(step.name)}: {said}"


def values_of(result: str) -> str:
    """What a result says, without the names of its members."""
    try:
        value: object = msgspec.json.decode(result)
    except msgspec.DecodeError:
        return result
    return " ".join(_leaves(value))


def _leaves(value: object) -> list[str]:
    match value:
        case dict():
            return [leaf for member in cast("dict[str, object]", value).values() for leaf in _leaves(member)]
        case list():
            return [leaf for item in cast("list[object]", value) for leaf in _leaves(item)]
        case _:
            return [str(value)]


def _is_sentence(text: str) -> bool:
    return " " in text and text.endswith((".", "!", "?"))


def _said(value: object, language: Language) -> str:
    match value:
        case dict():
            told = {name: _said(member, language) for name, member in cast("dict[str, object]", value).items()}
            summary = max(told.values(), key=len, default="")
            if _is_sentence(summary) and all(text in summary for text in told.values()):
                return summary  # it tells all the others
            return ", ".join(f"{_name(name)} {text}" for name, text in told.items()) or _EMPTY[language]
        case list():
            return "; ".join(_said(item, language) for item in cast("list[object]", value)) or _EMPTY[language]
        case bool():
            return {("id", True): "ya", ("id", False): "tidak", ("en", True): "yes", ("en", False): "no"}[
                language, value
            ]
        case None:
            return "-"
        case _:
            return str(value)


def _name(name: str) -> str:
    return name.replace("_", " ")
