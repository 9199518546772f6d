"""A docstring as a prompt: the description a model reads, and a description for each parameter.

Google, NumPy and Sphinx style, with English or Indonesian section names, with or without a blank line before a section.
What the author wrote reaches the model: only the section about parameters is taken out, because it is in the schema.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence

import msgspec
from docstring_parser import Docstring, ParseError
from docstring_parser import google as google_style
from docstring_parser import numpydoc as numpy_style
from docstring_parser import rest as sphinx_style

_PARAMETERS = re.compile(
    r"(?:function |tool )?(?:args|arguments|params|parameters|inputs?)|keyword (?:args|arguments)|other parameters"
    r"|(?:daftar )?(?:argumen|parameter|masukan)(?: fungsi| alat)?|argumen-argumen|parameter-parameter|argumen kata kunci"
    r"|parameter lain",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"returns?|yields?|raises?|except|exceptions|errors|warns|warnings?|examples?|notes?|see also|references|todo|outputs?"
    r"|attributes|usage|pengembalian|mengembalikan|kembalian|nilai kembali(?:an)?|nilai balik|balikan|menghasilkan|hasil"
    r"|keluaran|luaran|galat|kesalahan|menimbulkan|memunculkan|melempar|pengecualian|contoh|contoh penggunaan|catatan"
    r"|peringatan|lihat juga|referensi|rujukan|atribut|penggunaan|pemakaian",
    re.IGNORECASE,
)
_HEADING = re.compile(r"([A-Za-z][A-Za-z /-]*?)\s*:?\s*")
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,}|~{3,})\s*")
_MARKDOWN = re.compile(r"#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|__[^_]+__:?")
_FIELD = re.compile(r"\s*:(\w+)\b[^:]*:")
_FIELD_PARAMETERS = re.compile(r"param|parameter|arg|argument|key|keyword|argumen|type|tipe", re.IGNORECASE)
_BULLET = re.compile(r"^(\s*)(?:[*•–-]|\d+[.)])\s+(?=\S)")
_DASHED = re.compile(r"^([*`]*\w+[*`]*(?:\s*\([^)]*\))?)\s+(?:--?|–|—|=)\s+(?=\S)")
_INLINE = re.compile(rf"\s*(?:{_PARAMETERS.pattern})\s*:\s+", re.IGNORECASE)
_ENTRY = re.compile(
    r"\s*(?:[*•-]\s+|\d+[.)]\s+|@param\s+)?[`*]*(\w+)[`*]*\s*(?:\([^)]*\))?[`*]*\s*(?::|--?\s|–|—)\s*\S"
)


class Described(msgspec.Struct, frozen=True):
    """What a docstring says.

    Args:
        description: the prompt.
        parameters: what it says of each parameter.
        documented: it has a section about parameters, read or not.
        unread: words that stand where the name of a parameter would, in what was not read as one: `@param x: …`.
    """

    description: str = ""
    parameters: dict[str, str] = {}
    documented: bool = False
    unread: frozenset[str] = frozenset()


def describe(docstring: str | None) -> Described:
    """Read a docstring; never raises, whatever is in it."""
    if not docstring or not docstring.strip():
        return Described()
    lines = inspect.cleandoc(docstring).splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    documented = False
    place = 0
    while place < len(lines):
        end = _end_of_section(lines, place)
        if end is None:
            kept.append(lines[place])
            place += 1
            continue
        documented = True
        parameters |= _read(lines[place:end])
        place = end
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Described(description, parameters, documented, _entries(kept))


def _entries(lines: Sequence[str]) -> frozenset[str]:
    """The first words of lines that look like `name: text`, outside sections that are known to be about something else."""
    found: set[str] = set()
    margin: int | None = None
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        if margin is not None and _indent(line) <= margin and not _is_underlined(lines, place - 1):
            margin = None
        if _is_heading(lines, place, _OTHERS):
            margin = _indent(line)
        elif margin is None and (entry := _ENTRY.match(_INLINE.sub("", line))):
            found.add(entry[1])
    return frozenset(found)


def _end_of_section(lines: Sequence[str], start: int) -> int | None:
    """Where the parameter section that starts at this line ends; None when none starts here."""
    if field := _FIELD.match(lines[start]):
        return _end_of_field(lines, start) if _FIELD_PARAMETERS.fullmatch(field[1]) else None
    if not _is_heading(lines, start, _PARAMETERS):
        return None
    underlined = _is_underlined(lines, start)
    margin = _indent(lines[start])
    end = start + (2 if underlined else 1)
    first = next((line for line in lines[end : end + 2] if line.strip()), "")
    # entries may stand at the margin of their heading: always so in NumPy style, by neglect in Google style
    flat = underlined or (_indent(first) <= margin and _is_flat_entry(lines, end, first))
    if flat and first and not lines[end].strip():
        end += 1
    while end < len(lines):
        line = lines[end]
        if (_is_heading(lines, end, _PARAMETERS) or _is_heading(lines, end, _OTHERS)) and _indent(line) <= margin:
            break
        if (
            line.strip()
            and _indent(line) <= margin
            and not (flat and (underlined or ":" in line or _BULLET.match(line)))
        ):
            break
        if not line.strip() and flat and not underlined:
            break
        end += 1
    return end


def _is_flat_entry(lines: Sequence[str], place: int, first: str) -> bool:
    """Whether the first line after a heading is an entry at its margin: right below it, or as a bullet after a blank line."""
    return bool(first) and (lines[place].strip() != "" or _BULLET.match(first) is not None)


def _end_of_field(lines: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > _indent(lines[start]):
        end += 1
    return end


def _is_heading(lines: Sequence[str], place: int, names: re.Pattern[str]) -> bool:
    line = lines[place].strip()
    decorated = _MARKDOWN.fullmatch(line) is not None
    heading = _HEADING.fullmatch(line.strip("#*_ ").rstrip(":").rstrip("*_ ") if decorated else line)
    if not heading or not all(names.fullmatch(part.strip()) for part in heading[1].split("/")):
        return False
    return decorated or line.endswith(":") or _is_underlined(lines, place)


def _is_underlined(lines: Sequence[str], place: int) -> bool:
    return place + 1 < len(lines) and _UNDERLINE.fullmatch(lines[place + 1]) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _read(section: Sequence[str]) -> dict[str, str]:
    """The descriptions in one parameter section, whatever its style and language."""
    if _FIELD.match(section[0]):
        text = re.sub(r"^(\s*):(?:argumen|parameter)\b", r"\1:param", "\n".join(section), flags=re.IGNORECASE)
        return _found(lambda: sphinx_style.parse(inspect.cleandoc(text)))
    if len(section) > 1 and _UNDERLINE.fullmatch(section[1]):
        text = "\n".join(["Parameters", "----------", *section[2:]])
        return _found(lambda: numpy_style.parse(text))
    body = inspect.cleandoc("\n".join(["", *(_BULLET.sub(r"\1", line) for line in section[1:])])).splitlines()
    entries = ["    " + _DASHED.sub(r"\1: ", line) for line in body if line.strip()]
    text = "\n".join(["", "Args:", *entries])
    return _found(lambda: google_style.parse(text))


def _found(parse: Callable[[], Docstring]) -> dict[str, str]:
    try:
        parsed = parse()
    except (ParseError, ValueError):
        return {}
    return {
        name.strip().lstrip("*"): " ".join(parameter.description.split())
        for parameter in parsed.params
        if parameter.description
        for name in parameter.arg_name.replace("`", "").strip("*").split(",")
    }
