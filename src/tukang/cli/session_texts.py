"""The sentences of `tukang sessions`, and of a chat that is kept, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class SessionTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    about: str
    about_list: str
    about_show: str
    about_fork: str
    about_rename: str
    about_export: str
    about_import: str
    about_delete: str
    about_resume: str
    opt_store: str
    opt_session: str
    opt_prefix: str
    opt_limit: str
    opt_last: str
    opt_upto: str
    opt_output: str
    opt_skip: str
    opt_yes: str
    opt_agent: str
    opt_wait: str
    session: str
    some_session: str
    new: str
    file: str
    nothing: str
    running: str
    waiting: str
    left: str
    turns: str
    waits_for: str
    forked: str
    renamed: str
    deleted: str
    shared: str
    exported: str
    sure: str
    must_be_sure: str
    no_file: str
    resuming: str
    nothing_left: str
    which_agent: str
    needs_session: str
    chat_kept: str
    chat_left: str
    chat_waits: str
    chat_help: str
    no_fresh: str


_ID = SessionTexts(
    about="Sesi yang disimpan: melihat, menyalin, memindahkan, menghapus, melanjutkan.",
    about_list="Menampilkan sesi, yang terakhir dipakai lebih dulu.",
    about_show="Menampilkan percakapan sebuah sesi.",
    about_fork="Membuat sesi baru dari giliran sesi lain.",
    about_rename="Mengganti nama sesi.",
    about_export="Menulis sesi (atau semuanya) sebagai JSONL ke stdout.",
    about_import="Membaca sesi dari JSONL.",
    about_delete="Menghapus sesi untuk selamanya.",
    about_resume="Melanjutkan giliran yang terputus di tengah jalan.",
    opt_store="Tempat penyimpanan: sqlite:///berkas.db atau postgresql://… (juga: TUKANG_STORE)",
    opt_session="Simpan percakapan dengan nama ini, dan lanjutkan kalau sudah ada",
    opt_prefix="Hanya yang namanya diawali ini",
    opt_limit="Paling banyak sekian",
    opt_last="Hanya sekian giliran terakhir",
    opt_upto="Sampai giliran ke sekian; tanpa: semua yang selesai",
    opt_output="Berkas tujuan; tanpa: stdout",
    opt_skip="Lewati sesi yang sudah ada",
    opt_yes="Jangan bertanya",
    opt_agent="Asisten atau modul:nama yang menjalankan giliran itu; tanpa: yang memulainya",
    opt_wait="Tunggu sampai ada yang memutuskan, lalu lanjutkan",
    session="Nama sesi",
    some_session="Nama sesi; tanpa: semua",
    new="Nama yang baru",
    file="Berkas JSONL; - : stdin",
    nothing="Tidak ada sesi di {store}.",
    running="berjalan di {holder}",
    waiting="menunggu keputusan",
    left="terputus",
    turns="{count} giliran",
    waits_for="menunggu keputusan: {what}",
    forked="{new}: {count} giliran dari {session}",
    renamed="{session} sekarang bernama {new}",
    deleted="{session} dihapus: {count} giliran",
    shared="{count} giliran tetap ada di {session}",
    exported="{path}: {count} baris",
    sure="Hapus {session} ({count} giliran) untuk selamanya? [y/t] ",
    must_be_sure="Menghapus tidak bisa dibatalkan. Ulangi dengan --yes.",
    no_file="{path} tidak bisa dibuka: {reason}",
    resuming="melanjutkan {session}, giliran {turn} ({agent})",
    nothing_left="Tidak ada giliran yang bisa dilanjutkan.",
    which_agent="{session}: tidak diketahui agen mana yang memulai giliran ini ({agent}). Sebutkan: --agent modul:nama.",
    needs_session="--store hanya bersama --session NAMA.",
    chat_kept="Sesi {session}: {count} giliran. Terakhir: {question}",
    chat_left="Ada giliran yang terputus. /lanjut meneruskannya; pertanyaan baru mengakhirinya.",
    chat_waits="Ada giliran yang menunggu keputusan. /lanjut meneruskannya; pertanyaan baru mengakhirinya.",
    chat_help="/lanjut meneruskan giliran yang terputus · /keluar selesai · panah atas: pertanyaan sebelumnya",
    no_fresh="Percakapan ini disimpan dengan nama {session}. Untuk yang baru, mulai lagi dengan --session lain.",
)

_EN = SessionTexts(
    about="Sessions that are kept: look at them, copy, move, delete, go on with them.",
    about_list="List sessions, the last used first.",
    about_show="Show a session's conversation.",
    about_fork="Make a new session of another one's turns.",
    about_rename="Call a session by another name.",
    about_export="Write a session (or all of them) as JSONL to stdout.",
    about_import="Read sessions from JSONL.",
    about_delete="Delete a session for good.",
    about_resume="Go on with turns that were left in the middle.",
    opt_store="Where it is kept: sqlite:///file.db or postgresql://… (also: TUKANG_STORE)",
    opt_session="Keep the conversation under this name, and go on with it if it is there",
    opt_prefix="Only those whose names begin like this",
    opt_limit="So many at most",
    opt_last="Only the last so many turns",
    opt_upto="Up to this turn; left out: all that have finished",
    opt_output="The file to write; left out: stdout",
    opt_skip="Leave sessions alone that are there already",
    opt_yes="Do not ask",
    opt_agent="The assistant or module:name that runs the turn; left out: the one that began it",
    opt_wait="Stay until somebody has decided, then go on",
    session="The session's name",
    some_session="The session's name; left out: all of them",
    new="The new name",
    file="A JSONL file; - for stdin",
    nothing="There are no sessions in {store}.",
    running="running on {holder}",
    waiting="waiting for a decision",
    left="left in the middle",
    turns="turns: {count}",
    waits_for="waiting for a decision: {what}",
    forked="{new}: {count} turns of {session}",
    renamed="{session} is called {new} now",
    deleted="{session} is deleted: {count} turns",
    shared="{count} turns are still in {session}",
    exported="{path}: {count} lines",
    sure="Delete {session} ({count} turns) for good? [y/n] ",
    must_be_sure="A deletion cannot be undone. Say it again with --yes.",
    no_file="{path} cannot be opened: {reason}",
    resuming="going on with {session}, turn {turn} ({agent})",
    nothing_left="There is no turn to go on with.",
    which_agent="{session}: it is not known which agent began this turn ({agent}). Name it with --agent module:name.",
    needs_session="--store goes with --session NAME.",
    chat_kept="Session {session}: {count} turns. The last: {question}",
    chat_left="A turn was left in the middle. /resume goes on with it; a new question ends it.",
    chat_waits="A turn is waiting for a decision. /resume goes on with it; a new question ends it.",
    chat_help="/resume goes on with a turn that was left · /quit leaves · arrow up: earlier questions",
    no_fresh="This conversation is kept under the name {session}. For a new one, start again with another --session.",
)

SESSION_TEXTS: Mapping[Language, SessionTexts] = {"id": _ID, "en": _EN}
