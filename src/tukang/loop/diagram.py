"""The state diagram of a call, as Mermaid text, made from the table the fold uses: `python -m tukang.loop.diagram`."""

from __future__ import annotations

from tukang.loop.state import CALL_MOVES


def diagram() -> str:
    """How a call moves. Moves between the same two places share an arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (before, event), after in CALL_MOVES.items():
        arrows.setdefault((before, after), []).append(event)
    lines = [f"    {before} --> {after}: {' / '.join(names)}" for (before, after), names in arrows.items()]
    return "\n".join(["stateDiagram-v2", "    [*] --> asked: ModelReplied", *lines, "    done --> [*]: RoundEnded"])


if __name__ == "__main__":
    print(diagram())
