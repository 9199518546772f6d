"""A memory of text files in one directory, which the model keeps for itself from one conversation to the next.

The commands and their arguments are those of Anthropic's memory tool, whose models were trained on it:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool. The files are whoever's the directory is: agents of
different users need different directories.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from tukang.machine.directory import Directory
from tukang.machine.editor import change, create, needed, view
from tukang.machine.making import folder, made
from tukang.machine.writing import inserted, replaced
from tukang.tools.contract import Defined
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import Predicate
from tukang.tools.tool import Tool

NAME = "memory"
SHOWN = "/memories"

_DESCRIPTION = f"""\
Your notes in text files below {SHOWN}, kept from one conversation to the next. View {SHOWN} before you begin; write down what
you will want to know later.
view: a file with its lines numbered, or what is in a directory, two levels deep.
create: a new file; it must not exist yet.
str_replace: replace old_str, which must be in the file exactly once, by new_str.
insert: put insert_text behind the line insert_line.
delete: a file, or a directory with all that is in it.
rename: from old_path to new_path, which must not exist yet."""

_COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"]
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "enum": _COMMANDS, "description": "What to do."},
        "path": {"type": "string", "description": f"The file or directory, such as {SHOWN}/notes.md; not for rename."},
        "file_text": {"type": "string", "description": "create: the content of the new file."},
        "old_str": {"type": "string", "description": "str_replace: the text to replace, exactly as it is in the file."},
        "new_str": {"type": "string", "description": "str_replace: the text in its place; nothing, to delete it."},
        "insert_line": {"type": "integer", "description": "insert: the line to insert behind; 0 for the beginning."},
        "insert_text": {"type": "string", "description": "insert: the text to put in."},
        "old_path": {"type": "string", "description": "rename: what to rename."},
        "new_path": {"type": "string", "description": "rename: its new path."},
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "view: first and last line of a file, from 1; -1 for its end.",
        },
    },
    "required": ["command"],
}


def memory(directory: str | Path, *, approval: Literal["ask", "never"] | Predicate | None = None) -> Tool:
    """A memory of text files in one directory, and no others; see `tukang.machine.directory`.

    Args:
        directory: where the files are; it is made if it is not there, for its owner's eyes only.
        approval: who permits a call; None: to view asks nobody, to write asks.

    Raises:
        ConfigurationError: it is no directory.
    """
    place = Path(directory).expanduser()
    if not place.exists():
        place.mkdir(mode=0o700, parents=True)
    return made(
        NAME,
        _DESCRIPTION,
        _SCHEMA,
        _Memory(Directory(folder(place, "the tool memory"), SHOWN, mode=0o600)).run,
        Defined("memory"),
        {"effect": "write", "reads_when": {"command": ["view"]}, "approval": approval},
    )


class _Memory:
    """The commands, on a directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def run(
        self,
        command: str,
        path: str | None = None,
        file_text: str | None = None,
        old_str: str | None = None,
        new_str: str | None = None,
        insert_line: int | None = None,
        insert_text: str | None = None,
        old_path: str | None = None,
        new_path: str | None = None,
        view_range: list[int] | None = None,
    ) -> str:
        directory = self._directory
        if command == "rename":
            old = directory.parts(needed(command, "old_path", old_path))
            new = directory.parts(needed(command, "new_path", new_path))
            directory.rename(old, new)
            return f"{directory.told(old)} is {directory.told(new)} now."
        parts = directory.parts(needed(command, "path", path))
        match command:
            case "view":
                return view(directory, parts, view_range)
            case "create":
                return create(directory, parts, needed(command, "file_text", file_text))
            case "str_replace":
                before, after = needed(command, "old_str", old_str), new_str or ""
                return change(directory, parts, lambda text, told: replaced(text, before, after, told))
            case "insert":
                line, more = needed(command, "insert_line", insert_line), needed(command, "insert_text", insert_text)
                return change(directory, parts, lambda text, _: inserted(text, line, more))
            case "delete":
                directory.delete(parts)
                return f"{directory.told(parts)} was deleted."
            case _:  # which the schema lets nobody ask for
                raise NothingDone(f"there is no command {command[:40]!r}")
