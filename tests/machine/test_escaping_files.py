"""Nothing that a model asks of the editor or the memory leads out of their directory; each attempt is answered as data."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine.calling import SECRET, refused, said
from tukang.machine import editor, memory
from tukang.machine.directory import DEEPEST, LARGEST, Directory
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import Tool

LIBC = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """The directory, with a secret beside it."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "beside").mkdir()
    place = tmp_path / "inside"
    place.mkdir()
    return place


@pytest.fixture(params=["editor", "memory"])
def tool(request: pytest.FixtureRequest, inside: Path) -> Tool:
    return editor(inside) if request.param == "editor" else memory(inside)


OUT = [
    "../secret.txt",
    "/workspace/../secret.txt",
    "/memories/../secret.txt",
    "a/../../secret.txt",
    "./../secret.txt",
    "..",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "/workspacex/../../etc/passwd",
    "~/.ssh/id_rsa",
    "\\\\host\\share",
    "a\0b",
    "a\x1b[31m",
    "a\u202eb",
    "a\ud800b",
    "x" * 300,
    "x" * 5000,
    "/".join(["d"] * (DEEPEST + 1)),
]


@pytest.mark.parametrize("path", OUT)
@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "view"},
        {"command": "create", "file_text": "x"},
        {"command": "str_replace", "old_str": "sk", "new_str": "x"},
        {"command": "insert", "insert_line": 0, "insert_text": "x"},
    ],
    ids=lambda one: one["command"],
)
def test_a_path_that_leads_out_is_refused(tool: Tool, inside: Path, path: str, arguments: dict[str, Any]) -> None:
    message = refused(tool, path=path, **arguments)

    assert SECRET not in message
    assert str(inside) not in message
    assert "\x1b" not in message
    assert (inside.parent / "secret.txt").read_text() == SECRET
    assert sorted(one.name for one in inside.parent.iterdir()) == ["beside", "inside", "secret.txt"]


@pytest.mark.parametrize("path", OUT)
def test_nothing_outside_is_deleted_or_moved(inside: Path, path: str) -> None:
    tool = memory(inside)
    (inside / "a.md").write_text("a")

    refused(tool, command="delete", path=path)
    refused(tool, command="rename", old_path=path, new_path="b.md")
    refused(tool, command="rename", old_path="a.md", new_path=path)

    assert (inside.parent / "secret.txt").read_text() == SECRET
    assert [one.name for one in inside.iterdir()] == ["a.md"]


@pytest.mark.parametrize("path", ["/workspace", "/workspace/", "", "."])
def test_the_directory_itself_stays(inside: Path, path: str) -> None:
    shown = path.replace("workspace", "memories")

    refused(memory(inside), command="delete", path=shown)
    refused(memory(inside), command="rename", old_path=shown, new_path="x")
    refused(editor(inside), command="create", path=path, file_text="x")
    assert said(editor(inside), command="view", path=path) == "/workspace"


# ── links, second names, and what is no file ─────────────────────────────────────────────────────────────────────────


def test_no_link_is_followed_at_the_end_or_on_the_way(tool: Tool, inside: Path) -> None:
    (inside / "file").symlink_to(inside.parent / "secret.txt")
    (inside / "folder").symlink_to(inside.parent)
    (inside / "near").symlink_to("file")
    (inside / "loop").symlink_to("loop")

    for path in ("file", "near", "loop", "folder/secret.txt", "folder/beside"):
        assert "link" in refused(tool, command="view", path=path)
        refused(tool, command="str_replace", path=path, old_str="sk", new_str="x")
        refused(tool, command="create", path=path, file_text="x")
    refused(tool, command="create", path="folder/new.txt", file_text="x")
    listed = said(tool, command="view", path="")
    assert SECRET not in listed
    assert "secret.txt" not in listed
    assert (inside.parent / "secret.txt").read_text() == SECRET
    assert not (inside.parent / "new.txt").exists()


def test_a_link_is_deleted_and_not_what_it_leads_to(inside: Path) -> None:
    (inside / "folder").mkdir()
    (inside / "folder" / "out").symlink_to(inside.parent)
    (inside / "file").symlink_to(inside.parent / "secret.txt")

    said(memory(inside), command="delete", path="folder")
    said(memory(inside), command="delete", path="file")

    assert list(inside.iterdir()) == []
    assert (inside.parent / "secret.txt").read_text() == SECRET


def test_a_second_name_of_a_file_elsewhere_is_not_read(tool: Tool, inside: Path) -> None:
    os.link(inside.parent / "secret.txt", inside / "mine.txt")

    assert "second name" in refused(tool, command="view", path="mine.txt")
    refused(tool, command="str_replace", path="mine.txt", old_str=SECRET, new_str="x")
    assert (inside.parent / "secret.txt").read_text() == SECRET


def test_what_is_no_ordinary_file_is_not_opened(tool: Tool, inside: Path) -> None:
    os.mkfifo(inside / "pipe")  # to open it would wait for somebody to write
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(inside)  # the name of a socket must be short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        for name in ("pipe", "socket"):
            assert "not an ordinary file" in refused(tool, command="view", path=name)
            refused(tool, command="insert", path=name, insert_line=0, insert_text="x")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_opened(tool: Tool, inside: Path) -> None:
    try:
        os.mknod(inside / "zero", 0o020666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this system lets nobody make a device")

    assert "not an ordinary file" in refused(tool, command="view", path="zero")


def test_a_file_too_large_is_not_read(tool: Tool, inside: Path) -> None:
    with (inside / "large").open("wb") as file:
        file.truncate(LARGEST + 1)

    assert "bytes" in refused(tool, command="view", path="large")
    assert "too many" in refused(tool, command="create", path="new", file_text="x" * (LARGEST + 1))
    assert [one.name for one in inside.iterdir()] == ["large"]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00a", b"abc\xc3", b"\xed\xa0\x80", b"a\0b"])
def test_what_is_no_text_is_said_to_be_none(tool: Tool, inside: Path, data: bytes) -> None:
    (inside / "file").write_bytes(data)

    assert "text" in refused(tool, command="view", path="file")
    refused(tool, command="insert", path="file", insert_line=0, insert_text="x")
    assert (inside / "file").read_bytes() == data


def test_what_no_file_can_hold_is_not_written(tool: Tool, inside: Path) -> None:
    for text in ("a\ud800", "a\0b"):
        refused(tool, command="create", path="file", file_text=text)
    assert list(inside.iterdir()) == []


def test_names_that_move_a_cursor_are_shown_as_what_they_are(tool: Tool, inside: Path) -> None:
    (inside / "a\x1b[2Jb\u202e").write_text("x")

    assert "\x1b" not in said(tool, command="view", path="")
    assert "\u202e" not in said(tool, command="view", path="")


@given(st.text(st.one_of(st.sampled_from("./~\\ abc\0\n"), st.characters()), max_size=40))
def test_whatever_a_path_is_its_parts_are_names(path: str) -> None:
    directory = Directory(Path("/nowhere"), "/workspace")
    for written in (path, f"/workspace/{path}", f"/workspace{path}"):
        try:
            parts = directory.parts(written)
        except NothingDone:
            continue
        assert all(part not in ("", ".", "..") and "/" not in part and part.isprintable() for part in parts)
        assert directory.parts(directory.told(parts)) == parts


# ── races ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def exchanging(one: Path, other: Path, done: threading.Event) -> threading.Thread:
    """Lets two names change places, as fast as it goes, without a moment in which there is only one of them."""
    names = [os.fsencode(name) for name in (one, other)]

    def swap() -> None:
        while not done.is_set():
            assert LIBC.renameat2(-100, names[0], -100, names[1], 2) == 0

    return threading.Thread(target=swap)


def test_what_is_swapped_in_meanwhile_does_not_lead_out(inside: Path) -> None:
    outside = inside.parent / "beside"
    (outside / "file").write_text(SECRET)
    (inside / "d").mkdir()
    (inside / "d" / "file").write_text("own")
    (inside / "link").symlink_to(outside)
    directory, done, seen = Directory(inside, "/x"), threading.Event(), set[bytes]()
    thread = exchanging(inside / "d", inside / "link", done)
    thread.start()
    try:
        for number in range(300):
            for attempt in (
                lambda: seen.add(directory.read(("d", "file"))),
                lambda: directory.change(("d", "file"), SECRET.encode(), b"changed"),
                lambda n=number: directory.create(("d", f"new{n}"), b"x"),
                lambda: directory.delete(("d", "file2")),
                lambda: seen.update(entry.path.encode() for entry in directory.listing(("d",))[0]),
            ):
                with suppress(NothingDone):
                    attempt()
    finally:
        done.set()
        thread.join()

    assert SECRET.encode() not in seen
    assert b"own" in seen  # it was there to be read, too
    assert [one.name for one in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == SECRET


@pytest.mark.parametrize("becomes", ["link", "pipe", "second name"])
def test_what_a_file_becomes_after_the_look_is_looked_at_again(
    inside: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    file, secret, look = inside / "file", inside.parent / "secret.txt", os.stat
    file.write_text("own")

    def then_swap(name: str, **options: Any) -> os.stat_result:
        found = look(name, **options)
        if name == "file":
            os.unlink(file)
            if becomes == "pipe":
                os.mkfifo(file)  # to wait for a writer would be for ever
            else:
                os.symlink(secret, file) if becomes == "link" else os.link(secret, file)
        return found

    monkeypatch.setattr(os, "stat", then_swap)

    with pytest.raises(NothingDone):
        Directory(inside, "/x").read(("file",))


def test_a_file_swapped_for_a_link_meanwhile_is_not_written_through(inside: Path) -> None:
    secret, file = inside.parent / "secret.txt", inside / "file"
    file.write_text("own")
    (inside / "link").symlink_to(secret)
    directory, done = Directory(inside, "/x"), threading.Event()
    thread = exchanging(file, inside / "link", done)
    thread.start()
    try:
        for _ in range(100):
            with suppress(NothingDone):
                before = directory.read(("file",))
                assert SECRET.encode() not in before
                directory.change(("file",), before, before)
    finally:
        done.set()
        thread.join()

    assert secret.read_text() == SECRET


@pytest.mark.parametrize("swapped", ["project/notes", "project"])
def test_a_place_that_becomes_a_link_is_no_place_any_more(inside: Path, swapped: str) -> None:
    """A shell that may write around it can put a link to anywhere in its place."""
    place = inside / "project" / "notes"
    place.mkdir(parents=True)
    tools = [editor(place), memory(place)]
    (inside / swapped).rename(inside / "away")
    (inside / swapped).symlink_to(inside.parent)
    (inside.parent / "notes").symlink_to(inside.parent)

    for tool in tools:
        refused(tool, command="view", path="secret.txt")
        refused(tool, command="view", path="")
        refused(tool, command="create", path="new.txt", file_text="x")

    assert not (inside.parent / "new.txt").exists()
