"""Weights are found without importing, joined once, and trusted by their hash alone."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from tukang.errors import ConfigurationError, ModelError
from tukang.models.local import weights
from tukang.models.local.weights import Source, cache_folder, is_installed, official_weights, own_weights

SLICES = (b"GGUF" + b"a" * 1000, b"b" * 500, b"c" * 7)
WHOLE = b"".join(SLICES)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Source:
    """Three pieces on the import path; importing any of them would fail."""
    prefix = f"piece_of_{abs(hash(request.node.name))}_"
    for number, content in enumerate(SLICES, 1):
        folder = tmp_path / "site" / f"{prefix}{number}" / "data"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").write_text("raise RuntimeError('a piece was imported')")
        (folder / f"part{number:02d}.bin").write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return Source("small", len(WHOLE), hashlib.sha256(WHOLE).hexdigest(), 3, prefix + "{n}", "data/part{n:02d}.bin")


def test_pieces_are_joined_in_order_and_progress_is_told(source: Source, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = official_weights(source, tmp_path / "cache", lambda done, total: told.append((done, total)))
    assert found.path.read_bytes() == WHOLE
    assert found.fingerprint == source.sha256
    assert told[-1] == (len(WHOLE), len(WHOLE))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_second_start_reads_nothing_again(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = official_weights(source, tmp_path)
    monkeypatch.setattr(weights, "_find_pieces", lambda _: pytest.fail("looked for the pieces again"))
    assert official_weights(source, tmp_path) == first


def test_a_changed_file_is_noticed_and_joined_anew(source: Source, tmp_path: Path) -> None:
    path = official_weights(source, tmp_path).path
    path.write_bytes(b"x" * len(WHOLE))
    os.utime(path, ns=(1, 1))
    assert official_weights(source, tmp_path).path.read_bytes() == WHOLE


def test_a_cut_off_file_is_joined_anew(source: Source, tmp_path: Path) -> None:
    path = official_weights(source, tmp_path).path
    path.write_bytes(WHOLE[:100])
    assert official_weights(source, tmp_path).path.read_bytes() == WHOLE


def test_a_good_file_without_its_marker_is_hashed_not_joined(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = official_weights(source, tmp_path).path
    next(tmp_path.glob("*.verified.json")).unlink()
    monkeypatch.setattr(weights, "_join", lambda *_: pytest.fail("joined again"))
    assert official_weights(source, tmp_path).path == path
    assert list(tmp_path.glob("*.verified.json"))


def test_what_an_interrupted_join_left_is_overwritten(source: Source, tmp_path: Path) -> None:
    (tmp_path / "small.part").write_bytes(b"half")
    assert official_weights(source, tmp_path).path.read_bytes() == WHOLE
    assert not (tmp_path / "small.part").exists()


def test_pieces_of_something_else_are_thrown_away(source: Source, tmp_path: Path) -> None:
    wrong = Source(source.name, source.size, "0" * 64, source.pieces, source.package, source.file)
    with pytest.raises(ModelError, match="not the official file") as caught:
        official_weights(wrong, tmp_path)
    assert caught.value.kind == "configuration"
    assert not list(tmp_path.glob("*.gguf"))
    assert not list(tmp_path.glob("*.part"))


def test_a_missing_piece_is_named_with_what_to_do(source: Source, tmp_path: Path) -> None:
    more = Source(source.name, source.size, source.sha256, 4, source.package, source.file)
    with pytest.raises(ModelError, match=r"tukang\[local\]") as caught:
        official_weights(more, tmp_path)
    assert source.package.format(n=4).replace("_", "-") in str(caught.value)


def test_nothing_installed_is_said_in_one_sentence(tmp_path: Path) -> None:
    absent = Source("absent", 1, "0" * 64, 22, "no_such_piece_{n}", "x{n}")
    with pytest.raises(ModelError, match="all 22 pieces are missing"):
        official_weights(absent, tmp_path)
    assert not is_installed(absent)


def test_a_full_disk_is_said_before_anything_is_written(source: Source, tmp_path: Path) -> None:
    huge = Source(source.name, 1 << 60, source.sha256, source.pieces, source.package, source.file)
    with pytest.raises(ModelError, match="TUKANG_CACHE"):
        official_weights(huge, tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_that_cannot_be_made_is_said(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="cannot be kept") as caught:
        official_weights(source, tmp_path / "file" / "cache")
    assert caught.value.kind == "configuration"


def test_two_starts_at_once_join_once(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joins: list[int] = []
    join = weights._join  # pyright: ignore[reportPrivateUsage]

    def counted(*arguments: object) -> None:
        joins.append(1)
        join(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(weights, "_join", counted)
    threads = [threading.Thread(target=official_weights, args=(source, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert joins == [1]


def test_the_cache_is_where_it_was_asked_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TUKANG_CACHE", raising=False)
    assert cache_folder() == tmp_path / "tukang"
    monkeypatch.setenv("TUKANG_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_own_weights_must_be_there_and_be_gguf(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        own_weights(tmp_path / "none.gguf")
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigurationError, match="not a GGUF file"):
        own_weights(other)


def test_own_weights_have_another_fingerprint_once_they_change(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF1")
    before = own_weights(path)
    path.write_bytes(b"GGUF2")
    assert own_weights(path).fingerprint != before.fingerprint
