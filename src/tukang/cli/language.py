"""Which language the command line speaks, and what it has to put into it that others said in English."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tukang.errors import ConfigurationError
from tukang.loop.events import Language

_WHY_ID = (
    (r"neither OPENAI_API_KEY nor OPENAI_BASE_URL is set", "OPENAI_API_KEY dan OPENAI_BASE_URL tidak ada"),
    (r"it was asked for by name", "diminta dengan namanya"),
    (r"it was passed as an object", "diberikan oleh program"),
    (r"(\w+) is set", r"\1 ada"),
    (
        r"(\w+) is set and OPENAI_MODEL is not, so the default (.+)",
        r"\1 ada dan OPENAI_MODEL tidak, jadi bawaannya: \2",
    ),
)


def why(sentence: str, language: Language) -> str:
    """The sentence of `tukang.models.names.Choice.why`, in a language."""
    if language == "id":
        for pattern, said in _WHY_ID:
            if match := re.fullmatch(pattern, sentence):
                return match.expand(said)
    return sentence


def language_of(asked: str | None, environment: Mapping[str, str]) -> Language:
    """The language to speak: as asked for, else `TUKANG_LANG`, else the locale's if that is Indonesian, else English.

    Raises:
        ConfigurationError: the language asked for is neither.
    """
    for source, value in (("--lang", asked), ("TUKANG_LANG", environment.get("TUKANG_LANG"))):
        if value:
            match value.lower():
                case "id" | "en" as language:
                    return language
                case _:
                    raise ConfigurationError(f"{source} must be 'id' or 'en', not {value!r}")
    locale = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return "id" if re.match(r"(id|in)(_|\.|@|$)", locale.lower()) else "en"
