"""The local model's figures: probes through the product, one agent for each group of tools.

    python -m bench.local FILE [--all-tools] [--only 1,5-9] [--json OUT]

FILE is a Python module with

* `P`: probes, each a mapping with `id`, `kind` (`single`, `none` or `multi`), `prompt`, `accept` (lists of calls, each a
  pair of name and arguments; one list has to be made), `facts` (patterns the answer must match), and optionally `lang`,
  `grp` (the group of tools offered) and `forbid` (tools that must not be called);
* `TOOLS`: schemas in OpenAI's form;  `run_tool(name, arguments)`: a tool's result;
* `GROUPS`, optionally: tools of each group. Without it, or with `--all-tools`, every tool is offered each time.

A turn is right when the calls are, every fact is in the answer, and no identifier in the answer is misquoted: one that
stands neither in the question nor in a result. A `scoring.py` beside FILE, with a function `score(probe, calls, answer)`,
judges calls and facts instead of `bench.probe_scoring`; misquotes are always ours to judge. The exit status is 1 when a
call was invalid.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from bench.probe_scoring import Judged, judge, misquoted
from tukang import Agent, Limits
from tukang.models.local import Loading, LocalModel

PATIENT = Limits(seconds=900.0)
"""Time is a figure here, not a bound: on a busy machine a turn may take minutes and still be right."""

Probe = Mapping[str, Any]
Call = tuple[str, dict[str, Any]]


def load(path: Path) -> ModuleType:
    """A module by its path, importable by nobody else."""
    spec = importlib.util.spec_from_file_location(f"probes_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agents(probes: ModuleType, model: LocalModel, *, all_tools: bool) -> Callable[[Probe], Agent]:
    """The agent for a probe: one for each group, made once."""
    by_name = {schema["function"]["name"]: schema for schema in probes.TOOLS}
    groups: Mapping[str, Sequence[str]] = {} if all_tools else getattr(probes, "GROUPS", {})
    made: dict[str | None, Agent] = {}

    def agent(probe: Probe) -> Agent:
        group = probe.get("grp") if probe.get("grp") in groups else None
        if group not in made:
            names = groups[group] if group is not None else list(by_name)
            made[group] = Agent(
                model,
                tools=[(by_name[name], _caller(probes, name)) for name in names],
                language="id",
                preamble=False,
                limits=PATIENT,
            )
        return made[group]

    return agent


def _caller(probes: ModuleType, name: str) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return probes.run_tool(name, arguments)

    return call


async def run(
    probes: ModuleType, chosen: Sequence[Probe], model: LocalModel, score: Any, *, all_tools: bool
) -> list[Judged]:
    """Every probe in a turn of its own."""
    agent_for = agents(probes, model, all_tools=all_tools)
    judged: list[Judged] = []
    for probe in chosen:
        began = time.perf_counter()
        answer = await agent_for(probe).arun(probe["prompt"])
        ready = time.perf_counter() - began - answer.seconds
        calls: list[Call] = [(step.tool, _arguments(step.arguments)) for step in answer.steps if not step.reused]
        invalid = sum(
            step.fault is not None and step.fault.kind in ("invalid_arguments", "unknown_tool") for step in answer.steps
        )
        known = " ".join([probe["prompt"], *(step.result for step in answer.steps)])
        wrong = misquoted(answer.text, known)
        row = judge(probe, calls, answer.text, score, wrong, invalid, answer.seconds)
        judged.append(row)
        mark = "right" if row.right else "WRONG"
        print(f"{probe['id']:>3} {probe['kind']:<6} {mark}  {answer.seconds:5.1f} s (+{ready:.1f})  {_shown(calls)}  | "
              f"{' '.join(answer.text.split())[:150]}{f'  MISQUOTED {wrong}' if wrong else ''}"
              f"{'' if answer.stopped == 'answer' else f'  [{answer.stopped}]'}", flush=True)  # fmt: skip
    return judged


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _shown(calls: Sequence[Call]) -> str:
    return (
        ", ".join(
            f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in calls
        )
        or "-"
    )


def figures(rows: Sequence[Judged], where: str, seconds: float) -> str:
    """The table that goes into the docs."""

    def share(which: Sequence[Judged], what: Callable[[Judged], bool]) -> str:
        return f"{sum(map(what, which))}/{len(which)}"

    kinds = [
        ("all", list(rows)),
        *((kind, [row for row in rows if row.kind == kind]) for kind in ("single", "none", "multi")),
    ]
    lines = [
        "",
        f"{'':<8}{'right tool':>12}{'whole turn':>12}{'seconds per turn: median':>26}{'longest':>9}",
        *(
            f"{kind:<8}{share(which, lambda row: row.tool):>12}{share(which, lambda row: row.right):>12}"
            f"{_median(which):>26.1f}{max((row.seconds for row in which), default=0):>9.1f}"
            for kind, which in kinds
        ),
        f"invalid calls {sum(row.invalid for row in rows)} · answers with a misquoted identifier "
        f"{sum(bool(row.misquoted) for row in rows)} · calls or facts right but for that "
        f"{sum(row.right_but_for_misquotes and not row.right for row in rows)} · {seconds:.0f} s in all",
        where,
    ]
    return "\n".join(lines)


def _median(rows: Sequence[Judged]) -> float:
    times = sorted(row.seconds for row in rows)
    return times[len(times) // 2] if times else 0.0


def where_and_when() -> str:
    """Machine, date and commit."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=False).stdout.strip()
    processor = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores {processor}{load} · "
        f"{time.strftime('%Y-%m-%d')} · commit {commit or 'unknown'}{' with changes' if dirty else ''}"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _chosen(probes: ModuleType, only: str) -> list[Probe]:
    wanted: set[int] = set()
    for part in filter(None, only.split(",")):
        first, _, last = part.partition("-")
        wanted |= set(range(int(first), int(last or first) + 1))
    return [probe for probe in probes.P if not wanted or probe["id"] in wanted]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.local", description="The local model's figures on a file of probes."
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--all-tools", action="store_true", help="offer every tool each time")
    parser.add_argument("--only", default="", help="ids, such as 1,5-9")
    parser.add_argument("--json", type=Path, help="write each turn here")
    given = parser.parse_args()
    probes = load(given.file)
    beside = given.file.resolve().parent / "scoring.py"
    score = load(beside).score if beside.is_file() else None
    model = LocalModel(progress=_progress)
    began = time.perf_counter()
    rows = asyncio.run(run(probes, _chosen(probes, given.only), model, score, all_tools=given.all_tools))
    print(figures(rows, where_and_when(), time.perf_counter() - began))
    if given.json:
        given.json.write_text(
            json.dumps([row.__dict__ for row in rows], ensure_ascii=False, indent=1), encoding="utf-8"
        )
    return 1 if any(row.invalid for row in rows) else 0


def _progress(loading: Loading) -> None:
    if loading.stage != "joining" or loading.done == loading.total:
        print(f"  {loading.stage} {loading.done}/{loading.total}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
