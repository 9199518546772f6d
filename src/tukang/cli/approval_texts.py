"""The sentences about permission, in both languages: at the prompt, in the trace, and of `tukang approvals`. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class ApprovalTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language. `keys` says which letters stand for which choice at the prompt."""

    keys: Mapping[str, str]
    # the prompt
    asks: str
    effects: Mapping[str, str]
    choices: str
    later: str
    which: str
    reason: str
    edit_how: str
    edit_none: str
    edit_sure: str
    always_how: str
    always_given: str
    no_number: str
    # the trace
    approved: str
    refused: str
    expired: str
    edited: str
    # options
    opt_approve: str
    no_tool: str
    hint: str
    # the commands
    about: str
    about_list: str
    about_show: str
    about_approve: str
    about_edit: str
    about_refuse: str
    key: str
    opt_all: str
    opt_session: str
    opt_reason: str
    opt_by: str
    opt_set: str
    nothing: str
    until: str
    decided: Mapping[str, str]
    used: str
    goes_on: str
    about_collect: str
    machine: str
    opt_withdraw: str
    undecided: str
    withdrawn: str
    no_change: str
    no_pair: str
    not_kept: str
    demo: str
    # tools why
    tools_words: str
    tools_why: str
    opt_as: str
    opt_scope: str
    opt_with: str
    opt_untrusted: str


_ID = ApprovalTexts(
    keys={
        **dict.fromkeys(("y", "ya", "setuju"), "approve"),
        **dict.fromkeys(("u", "ubah"), "edit"),
        **dict.fromkeys(("t", "tidak", "tolak"), "refuse"),
        **dict.fromkeys(("s", "selalu"), "always"),
        **dict.fromkeys(("n", "nanti"), "later"),
    },
    asks="{tool} minta izin",
    effects={
        "read": "hanya membaca",
        "write": "mengubah sesuatu, tidak diulang",
        "idempotent": "mengubah sesuatu, boleh diulang dengan kunci yang sama",
        "unknown": "akibatnya tidak dinyatakan",
    },
    choices="[y] setuju · [u] ubah · [t] tolak · [s] selalu di sesi ini, dalam batas",
    later=" · [n] nanti",
    which="Pilih salah satu",
    reason="Alasan (boleh kosong)",
    edit_how="Argumen baru, satu per satu. Enter: tetap.",
    edit_none="Tidak ada yang berubah.",
    edit_sure="Jalankan dengan ini? [y/t]",
    always_how="Batas untuk setiap argumen. Enter: hanya nilai ini; * : apa saja; angka setelah <= : paling banyak sekian.",
    always_given="Selalu di sesi ini: {what}",
    no_number="{text} bukan angka.",
    approved="✓ disetujui{by}{why}",
    refused="✗ ditolak{by}{why}",
    expired="✗ tidak diputuskan pada waktunya, jadi ditolak",
    edited="✎ diubah{by}{why}",
    opt_approve="Setujui panggilan alat ini tanpa bertanya; boleh diulang untuk alat lain",
    no_tool="{option} {name}: {target} tidak punya alat itu{near}. Yang ada: {known}.",
    hint="Tidak ada yang bisa ditanya di sini. Setujui sebelumnya dengan: {options}",
    about="Panggilan yang menunggu keputusan: melihat, menyetujui, mengubah, menolak.",
    about_list="Menampilkan yang menunggu keputusan, yang paling lama lebih dulu.",
    about_show="Menampilkan satu, dengan argumennya.",
    about_approve="Menyetujui tepat panggilan ini.",
    about_edit="Menyetujui dengan argumen lain.",
    about_refuse="Menolak; model membaca alasannya.",
    key="Kuncinya, atau awalnya; lihat list",
    opt_all="Juga yang sudah diputuskan atau kedaluwarsa",
    opt_session="Hanya di sesi ini",
    opt_reason="Alasannya",
    opt_by="Siapa yang memutuskan; tanpa: pengguna sistem ini",
    opt_set="Argumen baru: nama=nilai (JSON, atau teks); boleh diulang",
    nothing="Tidak ada yang menunggu keputusan di {store}.",
    until="sampai {moment}",
    decided={
        "approve": "disetujui",
        "refuse": "ditolak",
        "edit": "diubah",
        "open": "menunggu",
        "expired": "kedaluwarsa",
    },
    used="sudah dipakai",
    goes_on="{what}: {key}. Giliran itu berlanjut dengan: tukang sessions resume {session}",
    about_collect="Mengambil keputusan dari state machine AWS Step Functions yang bertanya kepada orang.",
    machine="ARN state machine itu",
    opt_withdraw="Hentikan juga pertanyaan tentang yang sudah diputuskan di tempat lain",
    undecided="Belum ada keputusan baru dari {machine}.",
    withdrawn="tidak ditanyakan lagi: {key}",
    no_change="Tidak ada argumen baru: sebutkan --set nama=nilai.",
    no_pair="--set {text}: harus nama=nilai.",
    not_kept="--set {name}: panggilan ini tidak punya argumen itu{near}. Yang ada: {known}.",
    demo="Demo ini menyetujui setiap pesanan sendiri (seperti --approve buat_pesanan).",
    tools_words="Asisten atau modul:nama; atau: why, lalu sebuah alat, untuk melihat apa jadinya panggilannya dan mengapa; "
    "atau: iam, lalu asisten, untuk kebijakan IAM yang dibutuhkannya di AWS",
    tools_why="Tulis: tukang tools ASISTEN, atau tukang tools why [ASISTEN] ALAT --as PEMANGGIL",
    opt_as="Untuk why: pemanggilnya",
    opt_scope="Untuk why: izin yang dimiliki pemanggil; boleh diulang",
    opt_with="Untuk why: sebuah argumen, nama=nilai; boleh diulang",
    opt_untrusted="Untuk why: sesudah membaca hal dari luar",
)

_EN = ApprovalTexts(
    keys={
        **dict.fromkeys(("y", "yes", "approve"), "approve"),
        **dict.fromkeys(("e", "edit"), "edit"),
        **dict.fromkeys(("n", "no", "refuse"), "refuse"),
        **dict.fromkeys(("a", "always"), "always"),
        **dict.fromkeys(("l", "later"), "later"),
    },
    asks="{tool} asks for permission",
    effects={
        "read": "only reads",
        "write": "changes something, is not repeated",
        "idempotent": "changes something, may be repeated with the same key",
        "unknown": "its effect is not declared",
    },
    choices="[y] approve · [e] edit · [n] refuse · [a] always in this session, within bounds",
    later=" · [l] later",
    which="Choose one",
    reason="Reason (may be empty)",
    edit_how="New arguments, one by one. Enter keeps one.",
    edit_none="Nothing was changed.",
    edit_sure="Run it with these? [y/n]",
    always_how="A bound for each argument. Enter: this value only; *: anything; a number behind <=: at most so much.",
    always_given="Always in this session: {what}",
    no_number="{text} is no number.",
    approved="✓ approved{by}{why}",
    refused="✗ refused{by}{why}",
    expired="✗ nobody decided in time, so it is refused",
    edited="✎ edited{by}{why}",
    opt_approve="Approve calls of this tool without asking; may be said again for other tools",
    no_tool="{option} {name}: {target} has no such tool{near}. There are: {known}.",
    hint="There is nobody to ask here. Approve beforehand with: {options}",
    about="Calls that wait for a decision: look at them, approve, edit, refuse.",
    about_list="List what waits for a decision, the oldest first.",
    about_show="Show one, with its arguments.",
    about_approve="Approve exactly this call.",
    about_edit="Approve it with other arguments.",
    about_refuse="Refuse it; the model reads the reason.",
    key="Its key, or the beginning of it; see list",
    opt_all="Also what was decided or has expired",
    opt_session="Only in this session",
    opt_reason="The reason",
    opt_by="Who decides; left out: this system's user",
    opt_set="A new argument: name=value (JSON, or text); may be said again",
    nothing="Nothing waits for a decision in {store}.",
    until="until {moment}",
    decided={"approve": "approved", "refuse": "refused", "edit": "edited", "open": "waiting", "expired": "expired"},
    used="used",
    goes_on="{what}: {key}. The turn goes on with: tukang sessions resume {session}",
    about_collect="Take decisions from a state machine of AWS Step Functions that asks people.",
    machine="The ARN of that state machine",
    opt_withdraw="Also stop asking about what was decided elsewhere",
    undecided="There is no new decision from {machine}.",
    withdrawn="asked about no longer: {key}",
    no_change="There are no new arguments: say --set name=value.",
    no_pair="--set {text}: it has to be name=value.",
    not_kept="--set {name}: the call has no such argument{near}. There are: {known}.",
    demo="This demonstration approves every order itself (as --approve buat_pesanan does).",
    tools_words="An assistant or module:name; or: why, and a tool, to see what becomes of a call of it, and why; or: iam, "
    "and an assistant, for the IAM policy that it needs on AWS",
    tools_why="Write: tukang tools ASSISTANT, or tukang tools why [ASSISTANT] TOOL --as PRINCIPAL",
    opt_as="For why: the caller",
    opt_scope="For why: a scope that the caller was granted; may be said again",
    opt_with="For why: an argument, name=value; may be said again",
    opt_untrusted="For why: after something from outside was read",
)

APPROVAL_TEXTS: Mapping[Language, ApprovalTexts] = {"id": _ID, "en": _EN}
