"""How a tool may run, value by value, and why each value is what it is: for `tukang tools`, in both languages.

It explains; what a policy does is decided by the loop and the runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.loop.events import Language
from tukang.tools import read_more
from tukang.tools.isolation import cannot_be_stopped
from tukang.tools.noticing import looks_like
from tukang.tools.tool import Tool
from tukang.tools.toolbox import Toolbox


class Reason(msgspec.Struct, frozen=True):
    """One value of a tool's effective policy.

    Args:
        name: as in `@tool`.
        value: what holds; None for no bound.
        declared: whether its author said it.
        why: in a sentence.
    """

    name: str
    value: Any
    declared: bool
    why: str


def reasons(tool: Tool, toolbox: Toolbox, language: Language) -> list[Reason]:
    """The effective policy of a tool in that toolbox."""
    policy, said, texts = tool.policy, tool.said, TEXTS[language]
    reads = policy.effect == "read"
    isolation = policy.isolation or ("async" if tool.signature.is_async else "thread")
    bound = "max_output" if policy.max_output is not None else "max_output none"
    if policy.terminal and "max_output" not in said:
        bound = "max_output terminal"
    found = [
        ("effect", policy.effect, f"effect {policy.effect}"),
        ("approval", policy.approving, f"approval {policy.approving}"),
        ("needs", ", ".join(policy.needs) or None, "needs" if policy.needs else "needs none"),
        ("timeout", policy.timeout, "timeout" if policy.timeout is not None else "timeout none"),
        ("isolation", isolation, f"isolation {isolation}"),
        ("parallel", policy.parallel if reads else 1, _parallel(tool)),
        ("repeatable", policy.repeatable, f"repeatable {policy.repeatable}"),
        ("terminal", policy.terminal, f"terminal {policy.terminal}"),
        ("max_output", policy.max_output, f"{bound} cut" if toolbox.reads_on and policy.max_output else bound),
        ("cache", policy.cache, "cache" if policy.cache is not None else "cache none"),
    ]
    if policy.reads_when:
        values = " | ".join(f"{name} = {', '.join(values)}" for name, values in policy.reads_when.items())
        found.insert(1, ("reads_when", values, "reads_when"))
    if policy.untrusted:
        found.append(("untrusted", True, "untrusted"))
    if policy.isolation == "process":
        found.insert(5, ("memory", policy.memory, "memory" if policy.memory is not None else "memory none"))
    return [
        Reason(name, value, name in said, f"{texts['declared' if name in said else 'default']}; {texts[key]}")
        for name, value, key in found
    ]


def notes(tool: Tool, toolbox: Toolbox, language: Language) -> list[str]:
    """What else is worth knowing about it."""
    texts = TEXTS[language]
    lines: list[str] = []
    if tool.name == read_more.NAME and toolbox.reads_on:
        lines.append(texts["built in"])
    if tool.policy.timeout is not None and cannot_be_stopped(tool.policy, tool.signature):
        lines.append(texts["goes on"].format(seconds=tool.policy.timeout))
    if alike := toolbox.alike(tool.name):
        lines.append(texts["alike"].format(names=", ".join(alike)))
    kind = looks_like(tool.name, tool.contract.description)
    if kind is not None and "repeatable" not in tool.said and not tool.policy.terminal and tool.policy.cache is None:
        lines.append(texts["looks"].format(kind=texts[kind]))
    return lines


def _parallel(tool: Tool) -> str:
    if tool.policy.effect != "read":
        return "parallel alone"
    return "parallel none" if tool.policy.parallel is None else "parallel"


_EN: Mapping[str, str] = {
    "declared": "declared",
    "default": "nothing was declared",
    "effect read": "runs beside other reads, and may be run again",
    "effect write": "runs alone, in the order asked, and never twice",
    "effect idempotent": "runs alone, and may be repeated with the same key",
    "effect unknown": "runs alone, and is never repeated",
    "approval ask": "somebody has to permit each call, with exactly its arguments",
    "approval never": "nobody is asked",
    "approval function": "a function of its author's says which calls somebody has to permit",
    "needs": "what a caller must have been granted; to others it is not offered",
    "needs none": "every caller may use it",
    "untrusted": "its results come from outside: the model is told, and a rule may ask before what is written after them",
    "timeout": "seconds one call may take",
    "timeout none": "a call may take what is left of the turn",
    "isolation async": "an async function, on the event loop",
    "isolation thread": "a plain function; a thread cannot be stopped when its time is up",
    "isolation process": "in a worker process, which is killed when its time is up",
    "memory": "megabytes a call may take in its process",
    "memory none": "no bound on the memory of its process",
    "parallel": "calls of this tool at the same time, at most",
    "parallel none": "as many at the same time as the turn allows",
    "parallel alone": "what is not a read runs alone",
    "reads_when": "with these arguments a call is a read: it asks nobody, and runs beside other reads",
    "repeatable False": "an equal call in the same turn gets the earlier result",
    "repeatable True": "every call runs, also an equal one",
    "terminal False": "the model goes on with the result",
    "terminal True": "its result is the answer of the turn",
    "max_output": "characters the model gets at most, about ten thousand tokens unless declared; the rest is left out",
    "max_output cut": "characters the model gets at once; it reads on with read_more",
    "max_output none": "the model gets all of it",
    "max_output terminal": "the result is the answer, so nothing of it is left out",
    "cache": "seconds an equal call of a later turn gets the result, until something is written",
    "cache none": "results are not kept for later turns",
    "built in": "built in: here because a tool declares max_output",
    "goes on": 'after {seconds:g} seconds it is left behind in its thread, and goes on; isolation="process" would end it',
    "alike": "the same function stands behind {names}",
    "looks": "it looks like {kind}: say repeatable=True if every call must run, or repeatable=False",
    "clock": "a clock",
    "die": "a die",
    "poll": "a poll",
}

_ID: Mapping[str, str] = {
    "declared": "dinyatakan",
    "default": "tidak dinyatakan",
    "effect read": "berjalan bersama pembacaan lain, dan boleh diulang",
    "effect write": "berjalan sendiri, menurut urutan, dan tidak pernah dua kali",
    "effect idempotent": "berjalan sendiri, dan boleh diulang dengan kunci yang sama",
    "effect unknown": "berjalan sendiri, dan tidak pernah diulang",
    "approval ask": "setiap panggilan harus disetujui seseorang, tepat dengan argumennya",
    "approval never": "tidak ada yang ditanya",
    "approval function": "fungsi pembuatnya menentukan panggilan mana yang harus disetujui seseorang",
    "needs": "izin yang harus dimiliki pemanggil; kepada yang lain tidak ditawarkan",
    "needs none": "setiap pemanggil boleh memakainya",
    "untrusted": "hasilnya dari luar: model diberi tahu, dan aturan dapat bertanya sebelum ada yang ditulis sesudahnya",
    "timeout": "detik paling lama untuk satu panggilan",
    "timeout none": "satu panggilan boleh memakai sisa waktu giliran",
    "isolation async": "fungsi async, pada event loop",
    "isolation thread": "fungsi biasa; thread tidak dapat dihentikan ketika waktunya habis",
    "isolation process": "di proses pekerja, yang dimatikan ketika waktunya habis",
    "memory": "megabita yang boleh dipakai satu panggilan di prosesnya",
    "memory none": "memori prosesnya tidak dibatasi",
    "parallel": "panggilan alat ini pada saat yang sama, paling banyak",
    "parallel none": "sebanyak yang diizinkan giliran pada saat yang sama",
    "parallel alone": "yang bukan pembacaan berjalan sendiri",
    "reads_when": "dengan argumen ini panggilan hanya membaca: tanpa izin, dan bersama pembacaan lain",
    "repeatable False": "panggilan yang sama dalam satu giliran mendapat hasil sebelumnya",
    "repeatable True": "setiap panggilan dijalankan, juga yang sama",
    "terminal False": "model melanjutkan dengan hasilnya",
    "terminal True": "hasilnya adalah jawaban giliran",
    "max_output": "karakter paling banyak untuk model, sekitar sepuluh ribu token kalau tidak dinyatakan; sisanya dibuang",
    "max_output cut": "karakter untuk model sekali baca; selanjutnya dengan read_more",
    "max_output none": "model mendapat semuanya",
    "max_output terminal": "hasilnya adalah jawaban, jadi tidak dipotong",
    "cache": "detik panggilan yang sama pada giliran berikutnya mendapat hasil ini, sampai ada yang ditulis",
    "cache none": "hasil tidak disimpan untuk giliran berikutnya",
    "built in": "bawaan: ada karena sebuah alat menyatakan max_output",
    "goes on": 'setelah {seconds:g} detik ditinggal di thread-nya, dan tetap berjalan; isolation="process" mengakhirinya',
    "alike": "fungsi yang sama ada di balik {names}",
    "looks": "tampak seperti {kind}: tulis repeatable=True kalau setiap panggilan harus jalan, atau repeatable=False",
    "clock": "jam",
    "die": "dadu",
    "poll": "pemeriksaan berkala",
}

TEXTS: Mapping[Language, Mapping[str, str]] = {"en": _EN, "id": _ID}
