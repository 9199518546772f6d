"""The sentences about tools that work on this machine (`--tool`), in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class MachineTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    opt_tool: str
    unknown: str
    needs_place: str
    row: str
    missing: str
    fix: str


MACHINE_TEXTS: Mapping[Language, MachineTexts] = {
    "id": MachineTexts(
        opt_tool="Alat di mesin ini: bash[:FOLDER], editor[:FOLDER], memory:FOLDER, computer:LAYAR; boleh beberapa kali",
        unknown="--tool {given}: tidak ada alat {name!r}; yang ada: bash, editor, memory, computer",
        needs_place="--tool {given}: sebut tempatnya, misalnya --tool {example}",
        row="alat {tool}",
        missing="tidak ada {programs}",
        fix="apt install {packages}, kalau mau memakai --tool {tool}",
    ),
    "en": MachineTexts(
        opt_tool="A tool on this machine: bash[:DIR], editor[:DIR], memory:DIR, computer:DISPLAY; may be given several times",
        unknown="--tool {given}: there is no tool {name!r}; there are bash, editor, memory, computer",
        needs_place="--tool {given}: name its place, such as --tool {example}",
        row="tool {tool}",
        missing="no {programs}",
        fix="apt install {packages}, if you want to use --tool {tool}",
    ),
}
