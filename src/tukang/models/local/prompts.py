"""The two prompts of the local model, as text. No decision is made here.

Each prompt begins with a fixed part (rules and worked examples) that the engine reads once and keeps; then comes what
belongs to the agent (tools, instructions), which stays the same for all its turns; then the conversation. So the
longest common beginning is reused, from step to step and from turn to turn.

The rules are in Indonesian, since the users are; the examples are in both languages, and of domains that no assistant of
the house has, so that nothing is copied out of them. ChatML is how Qwen marks who speaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.grounding.figures import tokens
from tukang.models.local.grammar import compact
from tukang.models.local.grounding import names_something
from tukang.models.local.view import Exchange, View
from tukang.models.local.wording import Language, language_heard
from tukang.tools.contract import Contract

OPENING = '{"sisa":'
"""The beginning of every decision. It stands in the prompt already, so that it costs no generated tokens. It ends where a
token of the model ends: before the blank."""

NOTHING = ' "-"}'
"""How a decision goes on when no call is needed: answer now."""

END = "<|im_end|>"

_DECIDE_RULES = (
    "Anda memilih SATU langkah berikutnya bagi sebuah asisten yang punya alat. Tulis JSON: "
    '"sisa" = bagian permintaan yang masih harus dikerjakan dengan alat; "name" = satu alat; "arguments" = isinya. '
    "Nilai diambil dari permintaan, yang diketahui, atau hasil; jangan mengarang. "
    "Bila semua yang diminta sudah ada di hasil, tidak ada alat yang cocok, cukup dijawab langsung, syaratnya tidak "
    'terpenuhi, atau ada data yang belum disebut pengguna: "sisa" = "-".'
)

_EXAMPLE_TOOLS = (
    "- cari_buku(judul: string): Cari kode buku dari judulnya.\n"
    "- cek_buku(kode: string): Cek sewa dan jumlah buku yang tersedia.\n"
    "- pinjam_buku(kode: string, anggota: string, hari: integer): Catat peminjaman buku.\n"
    "- cari_aturan(topik: string, bagian: sirkulasi|keanggotaan): Cari aturan perpustakaan.\n"
    "- jam_di(kota: string): Jam sekarang di sebuah kota.\n"
    "- luas(panjang: number, lebar: number): Luas persegi panjang.\n"
    "- kurang(a: number, b: number): Subtract b from a.\n"
    "- tulis_catatan(kepada: string, isi: string): Leave a note for a person."
)


class _Example(msgspec.Struct, frozen=True):
    request: str
    need: str = "-"
    name: str = ""
    arguments: Mapping[str, Any] = {}
    results: tuple[str, ...] = ()
    known: str = ""


_FOUND = 'cari_buku({"judul": "Bumi Manusia"}) = {"kode": "BK-17"}'
_GONE = 'cek_buku({"kode": "BK-30"}) = {"kode": "BK-30", "judul": "Pulang", "sewa": 5000, "tersedia": 0}'
_THERE = 'cek_buku({"kode": "BK-41"}) = {"kode": "BK-41", "judul": "Saman", "sewa": 3000, "tersedia": 4}'
_LENT = 'pinjam_buku({"kode": "BK-41", "anggota": "AG-5", "hari": 2}) = {"nomor": "PJ-882", "status": "tercatat"}'
_OSLO = 'jam_di({"kota": "Oslo"}) = {"jam": "09:40"}'
_AREA = 'luas({"panjang": 20, "lebar": 6}) = {"hasil": 120}'
_BORROW = "Cari kode buku Bumi Manusia lalu pinjamkan untuk saya 7 hari."
_MAYBE = "Cek BK-30, lalu pinjam 3 hari jika tersedia. Anggota AG-9."
_CHECK = "Check the rent of BK-41, then lend it for 2 days if there is one, member AG-8."
_COMPARE = "Compare the time in Oslo and Lima."
_BOTH = "Berapa sewa BK-41 dan BK-30?"
_WISH = "Berapa sewa buku BK-41? Kalau masih ada, tolong pinjamkan 2 hari untuk saya."
_SUM = "(20 x 6) - 45 = ?"

_EXAMPLES = (
    _Example("Halo, selamat malam!"),
    _Example("Berapa sewa buku BK-30?", "sewa BK-30", "cek_buku", {"kode": "BK-30"}),
    _Example("Berapa sewa buku BK-30?", results=(_GONE,)),
    _Example("Who wrote Hamlet?"),
    _Example("Apakah di Oslo masih pagi?", "jam di Oslo", "jam_di", {"kota": "Oslo"}),
    _Example(
        "Berapa denda terlambat? Lihat aturan sirkulasi.",
        "denda terlambat di aturan sirkulasi",
        "cari_aturan",
        {"topik": "denda terlambat", "bagian": "sirkulasi"},
    ),
    _Example("Apa itu ensiklopedia? Jelaskan singkat."),
    _Example(_COMPARE, "time in Oslo and Lima", "jam_di", {"kota": "Oslo"}),
    _Example(_COMPARE, "time in Lima", "jam_di", {"kota": "Lima"}, (_OSLO,)),
    _Example("Saya ingin pinjam buku."),
    _Example(
        "Buatkan peminjaman BK-22 selama 5 hari untuk anggota AG-3.",
        "pinjam BK-22 untuk AG-3, 5 hari",
        "pinjam_buku",
        {"kode": "BK-22", "anggota": "AG-3", "hari": 5},
    ),
    _Example(
        _BORROW, "kode Bumi Manusia, lalu pinjam 7 hari", "cari_buku", {"judul": "Bumi Manusia"}, (), "anggota: AG-5"
    ),
    _Example(
        _BORROW,
        "pinjam BK-17 untuk AG-5, 7 hari",
        "pinjam_buku",
        {"kode": "BK-17", "anggota": "AG-5", "hari": 7},
        (_FOUND,),
        "anggota: AG-5",
    ),
    _Example(_MAYBE, "cek BK-30, lalu pinjam 3 hari jika tersedia", "cek_buku", {"kode": "BK-30"}),
    _Example(_MAYBE, results=(_GONE,)),
    _Example(_BOTH, "sewa BK-30", "cek_buku", {"kode": "BK-30"}, (_THERE,)),
    _Example("Kapan Indonesia merdeka?"),
    _Example(_WISH, "sewa BK-41, lalu pinjam 2 hari jika ada", "cek_buku", {"kode": "BK-41"}, (), "anggota: AG-5"),
    _Example(_SUM, "20 x 6, lalu kurangi 45", "luas", {"panjang": 20, "lebar": 6}),
    _Example(_SUM, "120 - 45", "kurang", {"a": 120, "b": 45}, (_AREA,)),
    _Example("Translate 'terima kasih' into English."),
    _Example(_CHECK, "rent of BK-41, then lend it for 2 days", "cek_buku", {"kode": "BK-41"}),
    _Example(_CHECK, "lend BK-41 to AG-8", "pinjam_buku", {"kode": "BK-41", "anggota": "AG-8", "hari": 2}, (_THERE,)),
    _Example("What can you do for me?"),
    _Example(
        "Tell Rina the meeting moves to 4 pm, please.",
        "tell Rina the meeting moves",
        "tulis_catatan",
        {"kepada": "Rina", "isi": "The meeting moves to 4 pm."},
    ),
)


def decide_opening() -> str:
    """The fixed beginning of every decision."""
    text = _said("system", _DECIDE_RULES)
    for place, example in enumerate(_EXAMPLES):
        tools = f"Alat:\n{_EXAMPLE_TOOLS}\n" if place == 0 else ""
        known = f"Diketahui: {example.known}\n" if example.known else ""
        text += _said("user", f"{tools}{known}{_task(example.request, example.results)}")
        text += _said("assistant", decision(example.need, example.name, example.arguments))
    return text


def decide_for(view: View, tools: Sequence[Contract]) -> str:
    """What belongs to the agent: its tools, and the facts it was given.

    Of the instructions only the lines that hold a fact (an identifier: who the caller is) are shown. Rules about tools, shown
    here, make a model of this size call the tools they speak of; they shape the answer, where they do no harm.
    """
    parts = ["Alat:", *map(signature, tools)]
    facts = [line.strip("- ") for line in view.instructions.splitlines() if any(map(names_something, tokens(line)))]
    if facts:
        parts.append(f"Diketahui: {'; '.join(facts)}")
    return f"{decide_opening()}<|im_start|>user\n" + plain("\n".join(parts) + "\n")


def decide_prompt(view: View, tools: Sequence[Contract], remark: str = "") -> str:
    """The whole decision prompt, up to where the model writes.

    Args:
        view: the conversation.
        tools: what may be called.
        remark: what was wrong with the first try.
    """
    before = "".join(f"{line}\n" for line in _earlier_lines(view.earlier))
    task = _task(view.request, [step.line for step in view.steps])
    remark = f"\nPerhatian: {remark}" if remark else ""
    return f"{decide_for(view, tools)}{plain(before + task + remark)}{END}\n<|im_start|>assistant\n{OPENING}"


def decision(need: str, name: str, arguments: Mapping[str, Any]) -> str:
    """A decision as the model writes it, and as it reads its results."""
    if not name:
        return OPENING + NOTHING
    return compact({"sisa": need, "name": name, "arguments": arguments})


def signature(tool: Contract) -> str:
    """A tool on one line: name, parameters with their types, description."""
    properties = cast("Mapping[str, Any]", tool.parameters.get("properties") or {})
    needed = cast("Sequence[str]", tool.parameters.get("required") or ())
    shown = [f"{name}{'' if name in needed else '?'}: {_kind(schema)}" for name, schema in properties.items()]
    return f"- {tool.name}({', '.join(shown)}): {' '.join(tool.description.split())[:400]}"


def _kind(schema: object, depth: int = 0) -> str:
    """A schema in a word or two. What the grammar enforces need not be spelled out."""
    if not isinstance(schema, Mapping) or depth > 2:
        return "any"
    schema = cast("Mapping[str, Any]", schema)
    if values := schema.get("enum"):
        return "|".join(map(str, cast("Sequence[object]", values)[:20]))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return "|".join(dict.fromkeys(_kind(option, depth + 1) for option in cast("Sequence[object]", options)))
    match kind := schema.get("type", "any"):
        case "array":
            return f"{_kind(schema.get('items'), depth + 1)}[]"
        case "object" if schema.get("properties"):
            members = cast("Mapping[str, Any]", schema["properties"]).items()
            return "{" + ", ".join(f"{name}: {_kind(member, depth + 1)}" for name, member in members) + "}"
        case list():
            return "|".join(map(str, cast("Sequence[object]", kind)))
        case _:
            return str(kind)


def _task(request: str, results: Sequence[str]) -> str:
    done = "\n".join(results) if results else "-"
    return f"Permintaan: {request}\nHasil: {done}"


def _earlier_lines(earlier: Sequence[Exchange]) -> list[str]:
    if not earlier:
        return []
    lines = ["Percakapan sebelumnya:"]
    for exchange in earlier:
        lines += [f"Pengguna: {exchange.request}", f"Asisten: {exchange.answer}"]
    return lines


# ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────────────

_IN_LANGUAGE: Mapping[Language, str] = {"id": "Jawab dalam bahasa Indonesia.", "en": "Answer in English."}
_LONGEST_ABILITY = 120
_MOST_ABILITIES = 12

_ANSWER_RULES = (
    "Anda asisten yang ramah. Jawab singkat, satu atau dua kalimat, dalam bahasa yang dipakai pengguna. "
    "Bila ada Data: jawab dari Data, sebutkan semua fakta, angka, dan kode yang diminta persis seperti tertulis, "
    "dan jangan menambah fakta lain. Bila Data berisi kesalahan, katakan apa yang tidak bisa dilakukan. "
    "Bila ada yang Kurang, tanyakan itu. Tanpa Data belum ada yang dikerjakan: jangan mengaku sudah mengerjakan sesuatu."
)

_ANSWER_EXAMPLES = (
    ("Berapa sewa buku BK-41?", (_THERE,), "", "Sewa buku BK-41 (Saman) adalah Rp 3.000, tersedia 4 eksemplar."),
    (
        "What time is it in Oslo and Lima?",
        (_OSLO, 'jam_di({"kota": "Lima"}) = {"jam": "02:40"}'),
        "",
        "It is 09:40 in Oslo and 02:40 in Lima, so Oslo is ahead.",
    ),
    (_MAYBE, (_GONE,), "", "Buku BK-30 (Pulang) sedang habis, tersedia 0, jadi belum saya pinjamkan untuk AG-9."),
    (
        _CHECK,
        (
            _THERE,
            'pinjam_buku({"kode": "BK-41", "anggota": "AG-8", "hari": 2}) = {"nomor": "PJ-881", "status": "tercatat"}',
        ),
        "",
        "BK-41 (Saman) costs Rp 3.000 and was available, so I lent it to AG-8 for 2 days, number PJ-881.",
    ),
    (
        _WISH,
        (_THERE, _LENT),
        "",
        "Sewa buku BK-41 (Saman) adalah Rp 3.000, tersedia 4, jadi sudah saya pinjamkan 2 hari, nomor PJ-882.",
    ),
    (
        "Cari aturan denda terlambat di bagian sirkulasi.",
        (
            'cari_aturan({"topik": "denda terlambat", "bagian": "sirkulasi"}) = '
            '{"hasil": [{"bagian": "sirkulasi", "isi": "Denda terlambat Rp 1.000 per hari."}]}',
        ),
        "",
        "Menurut aturan sirkulasi, denda terlambat adalah Rp 1.000 per hari.",
    ),
    ("Saya ingin pinjam buku.", (), "kode", "Tentu! Buku apa yang ingin Anda pinjam? Mohon sebutkan kodenya."),
    ("Good morning!", (), "", "Good morning! How can I help you?"),
)


def answer_opening() -> str:
    """The fixed beginning of every answer."""
    text = _said("system", _ANSWER_RULES)
    for request, results, missing, answer in _ANSWER_EXAMPLES:
        text += _said("user", _question(request, results, missing)) + _said("assistant", answer)
    return text


def answer_for(view: View, tools: Sequence[Contract]) -> str:
    """What belongs to the agent: its instructions, and what its tools are good for."""
    lines = [view.instructions] if view.instructions else []
    if tools:
        lines.append("Yang bisa dibantu:")
        lines += [f"- {' '.join(tool.description.split())[:_LONGEST_ABILITY]}" for tool in tools[:_MOST_ABILITIES]]
    return answer_opening() + (_said("system", "\n".join(lines)) if lines else "")


def answer_prompt(view: View, tools: Sequence[Contract] = (), missing: str = "", note: str = "") -> str:
    """The whole answer prompt, up to where the model writes.

    Args:
        view: the conversation.
        tools: what the agent has, callable now or not.
        missing: what the user has not said yet and a tool needs.
        note: a sentence for this answer only.
    """
    text = answer_for(view, tools)
    for exchange in view.earlier:
        text += _said("user", _question(exchange.request, exchange.known)) + _said("assistant", exchange.answer)
    question = _question(view.request, [step.line for step in view.steps], missing)
    heard = language_heard(view.request)
    asides = [aside for aside in (note, _IN_LANGUAGE[heard] if heard else "") if aside]
    question += f"\n\n({' '.join(asides)})" if asides else ""
    return text + _said("user", question) + "<|im_start|>assistant\n"


def _question(request: str, results: Sequence[str], missing: str = "") -> str:
    data = "\n\nData:\n" + "\n".join(results) if results else ""
    return f"{request}{data}" + (f"\n\nKurang: {missing}" if missing else "")


# ── marks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def plain(text: str) -> str:
    """Text that cannot pose as a chat mark: the engine reads `<|im_end|>` as one token wherever it stands."""
    return text.replace("<|", "<\u200b|")


def _said(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{plain(text)}{END}\n"
