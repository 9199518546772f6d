"""Prompt states on disk: kept by weights and prompt, few, and never needed."""

from __future__ import annotations

import os
from pathlib import Path

from tukang.models.local.engine import Slot
from tukang.models.local.states import MOST_STATES, SlotControl, States


class Disk(SlotControl):
    """Stands for the engine: saves and restores by writing and reading the file it is told."""

    def __init__(self, exchange: Path) -> None:
        self._exchange = exchange
        self.willing = True
        self.restored: list[bytes] = []

    def act(self, slot: Slot, action: str, filename: str) -> bool:
        path = self._exchange / filename
        if self.willing and action == "save":
            path.write_bytes(slot.name.encode())
        if self.willing and action == "restore":
            self.restored.append(path.read_bytes())
        return self.willing


def states(tmp_path: Path, owner: str = "weights") -> tuple[States, Disk]:
    (tmp_path / "exchange").mkdir(exist_ok=True)
    disk = Disk(tmp_path / "exchange")
    return States(disk, tmp_path / "kept", tmp_path / "exchange", owner), disk


def test_what_was_saved_is_restored_for_the_same_prompt_only(tmp_path: Path) -> None:
    kept, disk = states(tmp_path)
    assert not kept.restore(Slot.DECIDE, "prompt")
    kept.save(Slot.DECIDE, "prompt")
    assert kept.restore(Slot.DECIDE, "prompt")
    assert disk.restored == [b"DECIDE"]
    assert not kept.restore(Slot.DECIDE, "another prompt")


def test_other_weights_have_other_states(tmp_path: Path) -> None:
    states(tmp_path)[0].save(Slot.DECIDE, "prompt")
    assert not states(tmp_path, "other weights")[0].restore(Slot.DECIDE, "prompt")


def test_a_state_the_engine_refuses_is_dropped(tmp_path: Path) -> None:
    kept, disk = states(tmp_path)
    kept.save(Slot.ANSWER, "prompt")
    disk.willing = False
    assert not kept.restore(Slot.ANSWER, "prompt")
    assert list((tmp_path / "kept").iterdir()) == []


def test_an_engine_that_cannot_save_leaves_nothing(tmp_path: Path) -> None:
    kept, disk = states(tmp_path)
    disk.willing = False
    kept.save(Slot.ANSWER, "prompt")
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    kept, _ = states(tmp_path)
    (tmp_path / "kept").write_text("in the way")
    kept.save(Slot.ANSWER, "prompt")
    assert not kept.restore(Slot.ANSWER, "prompt")


def test_only_the_states_used_last_are_kept(tmp_path: Path) -> None:
    kept, _ = states(tmp_path)
    kept.save(Slot.DECIDE, "first")
    (first,) = (tmp_path / "kept").iterdir()
    for number in range(MOST_STATES + 2):
        for file in (tmp_path / "kept").iterdir():
            os.utime(file, (number, number))
        os.utime(first, (10**6, 10**6))
        kept.save(Slot.DECIDE, f"prompt {number}")
    assert len(list((tmp_path / "kept").iterdir())) == MOST_STATES


def test_no_engine_to_speak_to_is_a_no(tmp_path: Path) -> None:
    assert not SlotControl(tmp_path / "nobody.sock", "", "key").act(Slot.DECIDE, "save", "x")
