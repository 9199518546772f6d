"""Markdown and plain text. Text is UTF-8, or UTF-16 with its mark, or what the user names: a guess would be wrong in
silence."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.reading.blocks import Block, Content

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_UNDERLINE = re.compile(r"^(=+|-{3,})[ \t]*$")
_RULE = re.compile(r"^\|?[ \t:|-]+\|[ \t:|-]*$")
_FENCE = re.compile(r"^(```+|~~~+)")


def decoded(data: bytes, source: str, encoding: str | None = None) -> str:
    """The text of a file.

    Raises:
        DocumentError: `encoding`: it is in no encoding that is certain.
    """
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            encoding = name
            break
    try:
        text = data.decode(encoding or "utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        found = (
            f"byte {error.start} is not {error.encoding}"
            if isinstance(error, UnicodeDecodeError)
            else f"there is no encoding {encoding!r}"
        )
        raise DocumentError(
            "encoding", source, f"its text cannot be decoded: {found}.", "Save it as UTF-8, or name its encoding."
        ) from error
    if "\0" in text:
        raise DocumentError(
            "encoding",
            source,
            "it has NUL characters in it, as no text has.",
            "Save it as UTF-8, or name its encoding.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(data: bytes, source: str, encoding: str | None) -> Content:
    """Plain text: paragraphs, with nothing made of them."""
    text = decoded(data, source, encoding)
    return Content(tuple(Block("text", part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()))


def read_markdown(data: bytes, source: str, encoding: str | None) -> Content:
    """Markdown: its headings, tables and paragraphs, and what stands before the text between lines of `---`."""
    text = decoded(data, source, encoding)
    front = _FRONT.match(text)
    pairs = {key.lower(): value.strip("\"'") for key, value in _PAIR.findall(front[1])} if front else {}
    blocks = tuple(_markdown(text[front.end() :] if front else text))
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return Content(blocks, title=pairs.pop("title", None) or pairs.pop("judul", None) or first, data=pairs)


def _markdown(text: str) -> Iterator[Block]:
    held: list[str] = []
    fenced = ""

    def flush() -> Iterator[Block]:
        if any(line.strip() for line in held):
            table = len(held) > 1 and all(line.lstrip().startswith("|") for line in held)
            lines = [line for line in held if not (table and _RULE.match(line.strip()))]
            yield Block("table" if table else "text", "\n".join(lines).strip())
        held.clear()

    for line in text.split("\n"):
        if fence := _FENCE.match(line.strip()):
            fenced = "" if fenced and fence[1].startswith(fenced) else fenced or fence[1]
            held.append(line)
        elif fenced:
            held.append(line)
        elif heading := _HEADING.match(line):
            yield from flush()
            yield Block("heading", heading[2], level=len(heading[1]))
        elif held and len(held) == 1 and held[0].strip() and (under := _UNDERLINE.match(line)):
            title = held.pop().strip()
            yield Block("heading", title, level=1 if under[1][0] == "=" else 2)
        elif not line.strip():
            yield from flush()
        else:
            if held and line.lstrip().startswith("|") != held[-1].lstrip().startswith("|"):
                yield from flush()
            held.append(line)
    yield from flush()
