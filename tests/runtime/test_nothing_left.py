"""A turn that went well is gone at once: nothing of it waits for the garbage collector, which would have to look for it."""

from __future__ import annotations

import json
import subprocess
import sys


def test_a_turn_leaves_nothing_to_collect() -> None:
    line = [sys.executable, "-m", "tests.runtime.leaving_behind"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    left = json.loads(said)
    assert left.pop("in_a_circle"), "what is left is not seen"
    assert left == {"awaited": [], "followed": [], "in_a_session": [], "whole replies": [], "streaming": []}
