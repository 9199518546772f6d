"""What the model's provider runs, for people: in `tukang tools`, and in the trace of a turn. In both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.loop.events import Language
from tukang.tools.hosted import Hosted


class _Sentences(msgspec.Struct, frozen=True, kw_only=True):
    mark: str
    runs: str
    asks: str
    free: str
    needs: str
    outside: str
    inside: str
    effects: Mapping[str, str]


SENTENCES: Mapping[Language, _Sentences] = {
    "id": _Sentences(
        mark="dijalankan penyedia",
        runs="dijalankan penyedia model, tidak pernah di sini; apa yang dikirim bergantung pada penyedianya",
        asks="penyedia bertanya sebelum setiap panggilan, dan izinnya diputuskan di sini",
        free="penyedia memanggilnya tanpa bertanya",
        needs="hanya ditawarkan kepada pemanggil yang punya izin ini",
        outside="hasilnya datang dari luar dan tidak dianggap keinginan siapa pun",
        inside="hasilnya dipercaya seperti hasil alat sendiri",
        effects={
            "read": "tidak mengubah apa pun: permintaan yang gagal boleh diulang",
            "idempotent": "boleh terjadi dua kali: permintaan yang gagal boleh diulang",
            "write": "mengubah sesuatu: permintaan yang putus di tengah tidak diulang",
            "unknown": "tidak disebutkan, jadi dianggap mengubah sesuatu: permintaan yang putus di tengah tidak diulang",
        },
    ),
    "en": _Sentences(
        mark="run by the provider",
        runs="run by the model's provider, never here; what is sent depends on the provider",
        asks="the provider asks before each call, and that is decided here",
        free="the provider calls it without asking",
        needs="offered only to callers who were granted this",
        outside="its results come from outside, and count as nobody's wish",
        inside="its results are trusted like those of a tool of your own",
        effects={
            "read": "changes nothing: a request that failed may be repeated",
            "idempotent": "may happen twice: a request that failed may be repeated",
            "write": "changes something: a request that broke off is not repeated",
            "unknown": "not said, so it counts as changing something: a request that broke off is not repeated",
        },
    ),
}


def reasons(tool: Hosted, language: Language) -> list[tuple[str, Any, str]]:
    """Name, value and reason of each part of its policy."""
    said, policy = SENTENCES[language], tool.policy
    found: list[tuple[str, Any, str]] = [
        ("effect", policy.effect, said.effects[policy.effect]),
        ("approval", policy.approving, said.asks if tool.asks else said.free),
        ("untrusted", policy.untrusted, said.outside if policy.untrusted else said.inside),
    ]
    return found + ([("needs", ", ".join(policy.needs), said.needs)] if policy.needs else [])


def as_data(tool: Hosted, language: Language) -> dict[str, Any]:
    """For `--json`: no token and no header is in it."""
    policy = {name: {"value": value, "why": why} for name, value, why in reasons(tool, language)}
    return {**tool.shown, "run_by": "provider", "policy": policy}


def as_text(tool: Hosted, language: Language) -> str:
    """For reading."""
    said = SENTENCES[language]
    lines = [f"{tool.name}  [{tool.kind}, {said.mark}]", f"  {said.runs}"]
    for name, value in tool.shown["options"].items():
        lines.append(f"    {name}: {msgspec.json.encode(value).decode()}")
    lines += [f"  · {name} = {value}: {why}" for name, value, why in reasons(tool, language)]
    return "\n".join(lines)
