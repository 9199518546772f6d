"""Every sentence the command line says, in Indonesian and English. Texts only; which of the two is meant: `language`.

Sentences with `{…}` are filled in with `str.format`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.answer import Stopped
from tukang.assistants.demo import Miss
from tukang.loop.events import Language


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    language: Language
    # help
    about: str
    about_chat: str
    about_run: str
    about_tools: str
    about_doctor: str
    about_demo: str
    epilog: str
    target: str
    question: str
    opt_model: str
    opt_user: str
    opt_single_shot: str
    opt_json: str
    opt_returns: str
    opt_quiet: str
    opt_lang: str
    opt_debug: str
    opt_version: str
    # errors
    error: str
    usage: str
    see_help: str
    crashed: str
    no_question: str
    interrupted: str
    # a turn
    model: str
    preparing: str
    joining: str
    loading: str
    warming: str
    thinking: str
    running: str
    round: str
    reused: str
    repaired: str
    edited: str
    refused: str
    failed: str
    retried: str
    forced: str
    fallback: str
    broke_off: str
    sent_back: str
    attention: str
    unsupported: str
    unchecked: str
    summary: str
    stopped: Mapping[Stopped, str]
    # chat
    welcome: str
    as_user: str
    as_nobody: str
    chat_help: str
    fresh: str
    unknown_command: str
    bye: str
    # tools
    no_tools: str
    required: str
    optional: str
    # doctor
    healthy: str
    unhealthy: str
    key_set: str
    key_unset: str
    from_dotenv: str
    found: str
    not_found: str
    not_installed: str
    installed: str
    ready: str
    not_joined: str
    no_weights: str
    free: str
    free_of: str
    unknown: str
    chosen: str
    writable: str
    unwritable: str
    doctor_rows: Mapping[str, str]
    fix_install_local: str
    fix_memory: str
    fix_disk: str
    fix_data: str
    fix_python: str
    # demo
    demo_scenario: str
    demo_right: str
    demo_wrong: str
    demo_orders: str
    demo_no_orders: str
    demo_stock: str
    demo_database: str
    demo_misses: Mapping[Miss, str]


_ID = Texts(
    language="id",
    about="Menjalankan asisten yang memakai alat, di komputer ini atau lewat penyedia model.",
    about_chat="Mengobrol dengan sebuah asisten.",
    about_run="Menanyakan satu hal, lalu selesai. Jawaban ke stdout, jejak ke stderr.",
    about_tools="Menampilkan alat sebuah asisten seperti yang dilihat model, dan cara masing-masing berjalan.",
    about_doctor="Memeriksa apakah semuanya siap, dan model mana yang akan dipakai.",
    about_demo="Menjalankan tiga skenario toko dengan model lokal dan memeriksa hasilnya.",
    epilog="Kode keluar: 0 terjawab · 1 berhenti di batas atau model gagal · 2 salah pakai atau belum siap · 130 Ctrl-C",
    target="Asisten bawaan ({names}) atau modul:nama, contoh my_module:agent",
    question="Pertanyaan; - atau kosong: dibaca dari stdin",
    opt_model="Model, contoh local atau openai:gpt-4o-mini",
    opt_user="ID pelanggan yang bertanya, contoh USR042 (hanya asisten yang mengenal pelanggan)",
    opt_single_shot="Satu putaran alat saja, lalu jawab",
    opt_json="Satu dokumen JSON di stdout",
    opt_returns="Jawaban berupa data, sebagai JSON: sebuah tipe, misalnya model Pydantic",
    opt_quiet="Tanpa jejak",
    opt_lang="Bahasa: id atau en (juga: TUKANG_LANG)",
    opt_debug="Tampilkan traceback kalau gagal",
    opt_version="Tampilkan versi",
    error="Gagal",
    usage="Salah pakai",
    see_help="Lihat: {command} --help",
    crashed="{error}\nIni kesalahan program; ulangi dengan --debug untuk melihat letaknya.",
    no_question='Tidak ada pertanyaan. Tulis: tukang run {target} "…", atau alirkan lewat stdin.',
    interrupted="Dibatalkan.",
    model="model {name} ({why})",
    preparing="menyiapkan model",
    joining="menggabungkan berkas model (sekali saja)",
    loading="memuat model",
    warming="memanaskan model",
    thinking="model berpikir",
    running="menjalankan {tool}",
    round="putaran {number}",
    reused="dipakai ulang",
    repaired="argumen diperbaiki",
    edited="argumen diubah orang",
    refused="ditolak: {kind}",
    failed="gagal: {kind}",
    retried="dicoba lagi ({attempt})",
    forced="model diminta menjawab sekarang: {reason}",
    fallback="beralih ke model {name}",
    broke_off="permintaan ke model gagal: {message}",
    sent_back="jawaban itu ditarik: {what} tidak ada di hasil alat dan tidak kamu sebut; model diminta memperbaikinya",
    attention="Perhatian",
    unsupported="jawaban ini menyebut yang tidak ada di hasil alat dan tidak kamu sebut: {what}",
    unchecked="jawaban ini tidak diperiksa terhadap hasil alat: {why}",
    summary="{stopped} · {calls} panggilan · {rounds} putaran · {tokens} token · {seconds}",
    stopped={
        "answer": "terjawab",
        "terminal": "terjawab oleh alat",
        "rounds": "batas putaran",
        "seconds": "batas waktu",
        "tokens": "batas token",
        "calls": "batas panggilan",
        "faults": "terlalu banyak panggilan keliru",
        "no_progress": "tidak ada kemajuan",
        "cancelled": "dibatalkan",
        "length": "jawaban terpotong",
        "filtered": "dihentikan penyaring isi",
        "refused": "model menolak",
        "no_data": "data tidak datang",
        "model_error": "model gagal",
        "waiting": "menunggu keputusan",
    },
    welcome="Asisten {name}. /bantuan untuk perintah; Ctrl-C membatalkan jawaban; Ctrl-D keluar.",
    as_user="Pelanggan: {user}.",
    as_nobody="Tanpa pelanggan (pakai --user USR042 supaya bisa memesan).",
    chat_help="/baru mulai percakapan baru · /keluar selesai · panah atas: pertanyaan sebelumnya",
    fresh="Percakapan baru; yang tadi dilupakan.",
    unknown_command="Tidak ada perintah {command}.",
    bye="Sampai jumpa.",
    no_tools="Asisten ini tidak punya alat.",
    required="wajib",
    optional="boleh kosong",
    healthy="Siap.",
    unhealthy="Belum siap: perbaiki yang bertanda ✗.",
    key_set="ada (isinya tidak ditampilkan)",
    key_unset="tidak ada",
    from_dotenv="dari .env",
    found="ditemukan: {path}",
    not_found="tidak ada",
    not_installed="belum dipasang",
    installed="terpasang",
    ready="siap, SHA-256 sudah diperiksa",
    not_joined="terpasang; akan digabungkan dan diperiksa SHA-256-nya saat pertama dipakai",
    no_weights="belum dipasang",
    free="{free} bebas",
    free_of="{free} bebas, perlu {needed}",
    unknown="tidak diketahui",
    chosen="{name} ({why})",
    writable="{path} bisa ditulisi",
    unwritable="{path} tidak bisa ditulisi",
    doctor_rows={
        "python": "Python",
        "tukang": "tukang",
        "cli": "tambahan cli",
        "local": "tambahan local",
        "weights": "berkas model lokal",
        "memory": "memori",
        "disk": "disk",
        "dotenv": ".env",
        "data": "folder data",
        "model": "model terpilih",
    },
    fix_install_local='pip install "tukang[local]", atau isi OPENAI_API_KEY',
    fix_memory="tutup program lain, atau pakai model lewat OPENAI_API_KEY",
    fix_disk="kosongkan disk, atau arahkan TUKANG_CACHE ke disk lain",
    fix_data="arahkan TUKANG_DATA ke folder yang bisa ditulisi",
    fix_python="pakai Python 3.11 atau lebih baru",
    demo_scenario="Skenario {number} dari {count}: {question}",
    demo_right="✓ sesuai",
    demo_wrong="✗ {misses}",
    demo_orders="Pesanan di katalog",
    demo_no_orders="(tidak ada pesanan)",
    demo_stock="Stok sekarang",
    demo_database="Basis data: {path}",
    demo_misses={
        "not_answered": "giliran tidak selesai dengan jawaban",
        "calls": "panggilan alat tidak seperti seharusnya",
        "price": "harga tidak disebut",
        "stock": "stok tidak disebut",
        "order_number": "nomor pesanan tidak disebut",
        "order_missing": "pesanan tidak ada di basis data",
        "order_denied": "jawabannya menyangkal pesanan yang sudah dibuat",
        "stock_not_taken": "stok tidak berkurang",
        "out_of_stock": "tidak dikatakan bahwa stok habis",
        "ordered": "ada pesanan yang seharusnya tidak ada",
    },
)

_EN = Texts(
    language="en",
    about="Runs assistants that use tools, on this machine or through a model provider.",
    about_chat="Talk with an assistant.",
    about_run="Ask one thing and be done. The answer goes to stdout, the trace to stderr.",
    about_tools="Show an assistant's tools as the model sees them, and how each of them may run.",
    about_doctor="Check whether everything is ready, and which model would be used.",
    about_demo="Run the shop's three scenarios with the local model, and check what came of them.",
    epilog="Exit codes: 0 answered · 1 stopped at a limit, or the model failed · 2 wrong usage or not set up · 130 Ctrl-C",
    target="A shipped assistant ({names}) or module:name, such as my_module:agent",
    question="The question; - or nothing: read from stdin",
    opt_model="The model, such as local or openai:gpt-4o-mini",
    opt_user="Id of the customer who asks, such as USR042 (only for assistants that know customers)",
    opt_single_shot="One round of tools, then the answer",
    opt_json="One JSON document on stdout",
    opt_returns="The answer as data, in JSON: a type, such as a Pydantic model",
    opt_quiet="No trace",
    opt_lang="Language: id or en (also: TUKANG_LANG)",
    opt_debug="Show the traceback of a failure",
    opt_version="Show the version",
    error="Error",
    usage="Wrong usage",
    see_help="See: {command} --help",
    crashed="{error}\nThis is a fault of the program; run it again with --debug to see where.",
    no_question='There is no question. Write: tukang run {target} "…", or pipe it in.',
    interrupted="Cancelled.",
    model="model {name} ({why})",
    preparing="preparing the model",
    joining="joining the model's file (once only)",
    loading="loading the model",
    warming="warming the model up",
    thinking="the model is thinking",
    running="running {tool}",
    round="round {number}",
    reused="reused",
    repaired="arguments repaired",
    edited="arguments edited by a person",
    refused="refused: {kind}",
    failed="failed: {kind}",
    retried="trying again ({attempt})",
    forced="the model is asked to answer now: {reason}",
    fallback="falling back to model {name}",
    broke_off="the request to the model failed: {message}",
    sent_back="withdrawn: {what} is in no tool's result and was not said by you; the model is asked to mend that answer",
    attention="Attention",
    unsupported="this answer says what is in no tool's result and was not said by you: {what}",
    unchecked="this answer was not compared with the tools' results: {why}",
    summary="{stopped} · calls: {calls} · rounds: {rounds} · tokens: {tokens} · {seconds}",
    stopped={
        "answer": "answered",
        "terminal": "answered by a tool",
        "rounds": "limit of rounds",
        "seconds": "time limit",
        "tokens": "token limit",
        "calls": "limit of calls",
        "faults": "too many faulty calls",
        "no_progress": "no progress",
        "cancelled": "cancelled",
        "length": "the answer was cut off",
        "filtered": "stopped by the content filter",
        "refused": "the model refused",
        "no_data": "no data came",
        "model_error": "the model failed",
        "waiting": "waiting for a decision",
    },
    welcome="Assistant {name}. /help for commands; Ctrl-C cancels an answer; Ctrl-D leaves.",
    as_user="Customer: {user}.",
    as_nobody="No customer (use --user USR042 to be able to order).",
    chat_help="/new starts a new conversation · /quit leaves · arrow up: earlier questions",
    fresh="A new conversation; what was said before is forgotten.",
    unknown_command="There is no command {command}.",
    bye="Goodbye.",
    no_tools="This assistant has no tools.",
    required="required",
    optional="optional",
    healthy="Ready.",
    unhealthy="Not ready: mend what is marked ✗.",
    key_set="set (not shown)",
    key_unset="not set",
    from_dotenv="from .env",
    found="found: {path}",
    not_found="none",
    not_installed="not installed",
    installed="installed",
    ready="ready, SHA-256 verified",
    not_joined="installed; joined and checked against its SHA-256 on first use",
    no_weights="not installed",
    free="{free} free",
    free_of="{free} free, {needed} needed",
    unknown="unknown",
    chosen="{name} ({why})",
    writable="{path} can be written to",
    unwritable="{path} cannot be written to",
    doctor_rows={
        "python": "Python",
        "tukang": "tukang",
        "cli": "extra cli",
        "local": "extra local",
        "weights": "local model's file",
        "memory": "memory",
        "disk": "disk",
        "dotenv": ".env",
        "data": "data folder",
        "model": "model chosen",
    },
    fix_install_local='pip install "tukang[local]", or set OPENAI_API_KEY',
    fix_memory="close other programs, or use a model through OPENAI_API_KEY",
    fix_disk="make room, or set TUKANG_CACHE to a folder on another disk",
    fix_data="set TUKANG_DATA to a folder that can be written to",
    fix_python="use Python 3.11 or newer",
    demo_scenario="Scenario {number} of {count}: {question}",
    demo_right="✓ as it should be",
    demo_wrong="✗ {misses}",
    demo_orders="Orders in the catalogue",
    demo_no_orders="(no orders)",
    demo_stock="Stock now",
    demo_database="Database: {path}",
    demo_misses={
        "not_answered": "the turn did not end in an answer",
        "calls": "the calls are not what they should be",
        "price": "the price is not said",
        "stock": "the stock is not said",
        "order_number": "the order number is not said",
        "order_missing": "the order is not in the database",
        "order_denied": "the answer denies the order that was made",
        "stock_not_taken": "the stock was not taken",
        "out_of_stock": "it is not said that the stock is empty",
        "ordered": "something was ordered that should not have been",
    },
)

TEXTS: Mapping[Language, Texts] = {"id": _ID, "en": _EN}
