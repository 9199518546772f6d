"""Folders as they are found in life: pipes and links in them, names that are no text, files that are no more."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tukang.knowledge import Knowledge

Make = Callable[..., Knowledge]


def _became(knowledge: Knowledge, folder: Path, **more: bool) -> dict[str, str]:
    return {Path(one.source).name: one.became for one in knowledge.add(folder, **more)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "berkas"
    made.mkdir()
    (made / "parkir.txt").write_text("Parkir ada di lantai dua.", "utf-8")
    return made


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes and sockets among files")
def test_what_is_no_file_is_said_and_never_waited_for(
    local: Make, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipa.txt")
    monkeypatch.chdir(folder)  # a socket's address is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("soket.txt")
        assert _became(local(), folder) == {"parkir.txt": "added", "pipa.txt": "failed", "soket.txt": "failed"}


def test_links_that_go_round_cost_only_themselves(local: Make, folder: Path) -> None:
    (folder / "putar.txt").symlink_to("putar.txt")
    (folder / "dalam").symlink_to(folder)
    (folder / "putus.txt").symlink_to("tidak-ada.txt")
    outcomes = local().add(folder)
    assert [one.became for one in outcomes] == ["added", "failed", "failed"]
    assert {one.error.kind for one in outcomes if one.error} == {"unreadable", "missing"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_text_is_written_out(local: Make, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/nama\xff.txt")).write_text("Rapat tiap Senin.", "utf-8")
    knowledge = local()
    knowledge.add(folder)
    assert knowledge.search("rapat senin")[0].document == "nama\\xff.txt"
    assert [one.became for one in knowledge.add(folder)] == ["unchanged", "unchanged"]
    assert len(knowledge.remove(folder / os.fsdecode(b"nama\xff.txt"))) == 1


def test_a_file_that_is_no_more_is_said_and_its_document_goes_when_that_is_wanted(local: Make, folder: Path) -> None:
    (folder / "lama.txt").write_text("Rapat tiap Senin.", "utf-8")
    knowledge = local()
    knowledge.add_text("catatan", "Bukan berkas.")
    knowledge.add(folder)
    (folder / "lama.txt").rename(folder / "baru.txt")
    assert _became(knowledge, folder) == {"baru.txt": "added", "parkir.txt": "unchanged", "lama.txt": "vanished"}
    assert "lama.txt" in {one.name for one in knowledge.documents()}
    assert _became(knowledge, folder, prune=True)["lama.txt"] == "removed"
    assert {one.name for one in knowledge.documents()} == {"baru.txt", "parkir.txt", "catatan"}
    assert "lama.txt" not in _became(knowledge, folder)


def test_two_that_add_the_same_at_once_add_it_once(make: Callable[..., Knowledge], folder: Path) -> None:
    first, second = make(), make()

    async def both() -> set[str]:
        ((one,), (other,)) = await asyncio.gather(first.aadd(folder), second.aadd(folder))
        return {one.became, other.became}

    assert asyncio.run(both()) <= {"added", "unchanged"}
    assert len(first.search("parkir")) == 1
