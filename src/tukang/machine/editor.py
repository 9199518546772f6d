"""A text editor for the files of one directory: view, create, str_replace, insert. To view is to read; the rest writes.

The commands and their arguments are those of Anthropic's text editor tool, whose models were trained on it:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from tukang.machine.directory import Directory, Entry
from tukang.machine.making import folder, made
from tukang.machine.terminal import plain
from tukang.machine.writing import decoded, encoded, inserted, numbered, replaced
from tukang.tools.contract import Defined
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import Predicate
from tukang.tools.tool import Tool

T = TypeVar("T")

NAME = "str_replace_based_edit_tool"
SHOWN = "/workspace"
"""What a model calls the directory, here and in the shell."""

_DESCRIPTION = f"""\
Look at text files below {SHOWN} and change them.
view: a file with its lines numbered, or what is in a directory, two levels deep.
create: a new file; it must not exist yet.
str_replace: replace old_str, which must be in the file exactly once, by new_str.
insert: put insert_text behind the line insert_line."""

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "enum": ["view", "create", "str_replace", "insert"],
            "description": "What to do.",
        },
        "path": {"type": "string", "description": f"The file or directory, such as {SHOWN}/src/main.py."},
        "file_text": {"type": "string", "description": "create: the content of the new file."},
        "old_str": {"type": "string", "description": "str_replace: the text to replace, exactly as it is in the file."},
        "new_str": {"type": "string", "description": "str_replace: the text in its place; nothing, to delete it."},
        "insert_line": {"type": "integer", "description": "insert: the line to insert behind; 0 for the beginning."},
        "insert_text": {"type": "string", "description": "insert: the text to put in."},
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "view: first and last line of a file, from 1; -1 for its end.",
        },
    },
    "required": ["command", "path"],
}


def editor(directory: str | Path, *, approval: Literal["ask", "never"] | Predicate | None = None) -> Tool:
    """A text editor for the files of one directory, and no others; see `tukang.machine.directory`.

    Args:
        directory: where the files are.
        approval: who permits a call; None: to view asks nobody, to write asks.

    Raises:
        ConfigurationError: there is no such directory, or it is the whole machine.
    """
    return made(
        NAME,
        _DESCRIPTION,
        _SCHEMA,
        _Editor(Directory(folder(directory, "the tool editor"), SHOWN)).run,
        Defined("editor"),
        {"effect": "write", "reads_when": {"command": ["view"]}, "approval": approval},
    )


class _Editor:
    """The commands, on a directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def run(
        self,
        command: str,
        path: str,
        file_text: str | None = None,
        old_str: str | None = None,
        new_str: str | None = None,
        insert_line: int | None = None,
        insert_text: str | None = None,
        view_range: list[int] | None = None,
    ) -> str:
        parts = self._directory.parts(path)
        match command:
            case "view":
                return view(self._directory, parts, view_range)
            case "create":
                return create(self._directory, parts, needed(command, "file_text", file_text))
            case "str_replace":
                old, new = needed(command, "old_str", old_str), new_str or ""
                return change(self._directory, parts, lambda text, told: replaced(text, old, new, told))
            case "insert":
                line = needed(command, "insert_line", insert_line)
                more = needed(command, "insert_text", new_str if insert_text is None else insert_text)
                return change(self._directory, parts, lambda text, _: inserted(text, line, more))
            case _:  # which the schema lets nobody ask for
                raise NothingDone(f"there is no command {command[:40]!r}")


def needed(command: str, name: str, value: T | None) -> T:
    """An argument that this command cannot do without."""
    if value is None:
        raise NothingDone(f"{command} needs {name}")
    return value


def view(directory: Directory, parts: tuple[str, ...], span: list[int] | None) -> str:
    """A file with its lines numbered, or what is in a folder."""
    told = directory.told(parts)
    if directory.kind(parts) == "folder":
        if span is not None:
            raise NothingDone(f"{told} is a directory, and view_range is for files")
        entries, cut = directory.listing(parts)
        lines = [told, *(_line(told, entry) for entry in entries)]
        return "\n".join([*lines, f"(no more than {len(entries)} are shown)"] if cut else lines)
    text = decoded(directory.read(parts), told)
    return plain(numbered(text, span)) or f"({told} is empty)"


def create(directory: Directory, parts: tuple[str, ...], text: str) -> str:
    """A new file."""
    directory.create(parts, encoded(text))
    return f"{directory.told(parts)} was created."


def change(directory: Directory, parts: tuple[str, ...], how: Callable[[str, str], tuple[str, str]]) -> str:
    """A file changed by a function of its text and its name: what it says now, and where that is seen."""
    told = directory.told(parts)
    before = directory.read(parts)
    after, around = how(decoded(before, told), told)
    directory.change(parts, before, encoded(after))
    return f"{told} was changed. It now reads:\n{plain(around)}"


def _line(told: str, entry: Entry) -> str:
    marks = {"folder": "/", "link": "  (a link, not followed)", "special": "  (not an ordinary file)"}
    size = f"  {entry.size} bytes" if entry.kind == "file" else ""
    return f"{told}{entry.path}{marks.get(entry.kind, '')}{size}"
