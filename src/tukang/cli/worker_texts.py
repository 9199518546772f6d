"""The sentences of `tukang worker`, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class WorkerTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    about: str
    about_status: str
    about_retry: str
    opt_agent: str
    opt_store: str
    opt_slots: str
    opt_takeover: str
    opt_tries: str
    opt_grace: str
    opt_name: str
    opt_limit: str
    turn: str
    no_agent: str
    no_store: str
    serving: str
    stopping: str
    stopped: str
    counts: str
    no_workers: str
    worker: str
    heard: str
    silent: str
    queued: str
    running: str
    waiting: str
    failed: str
    by: str
    nobody: str
    due: str
    faults: str
    unserved: str
    again: str
    not_failed: str


_ID = WorkerTexts(
    about="Menjalankan giliran dari antrean di Postgres, di sebanyak mungkin mesin; lihat: status, retry.",
    about_status="Menampilkan pekerja, dan giliran yang antre, berjalan, menunggu, atau gagal untuk seterusnya.",
    about_retry="Mencoba lagi giliran yang gagal untuk seterusnya.",
    opt_agent="Asisten atau modul:nama yang dijalankan; boleh beberapa kali",
    opt_store="postgresql://… (juga: TUKANG_STORE)",
    opt_slots="Banyaknya giliran sekaligus",
    opt_takeover="Detik sampai giliran dari pekerja yang mati diteruskan pekerja lain",
    opt_tries="Banyaknya percobaan yang boleh gagal sebelum giliran gagal untuk seterusnya",
    opt_grace="Detik untuk selesai atau menyerahkan giliran ketika dihentikan",
    opt_name="Nama pekerja; tanpa: mesin:pid",
    opt_limit="Paling banyak sekian giliran dari setiap keadaan",
    turn="Id giliran",
    no_agent="Agen mana yang dijalankan? Sebutkan: --agent modul:nama.",
    no_store="Sebutkan simpanan: --store postgresql://… atau TUKANG_STORE.",
    serving="pekerja {name}: {agents} · {slots} sekaligus · {store}",
    stopping="berhenti: giliran diselesaikan atau diserahkan dalam {grace:g} detik; sekali lagi: sekarang juga",
    stopped="pekerja {name} berhenti",
    counts="{store}: antre {queued} · berjalan {running} · menunggu {waiting} · gagal {failed}",
    no_workers="Tidak ada pekerja.",
    worker="Pekerja",
    heard="terdengar {seconds} yang lalu",
    silent="diam selama {seconds}",
    queued="Antre",
    running="Berjalan",
    waiting="Menunggu keputusan",
    failed="Gagal untuk seterusnya",
    by="di {worker}, terdengar {seconds} yang lalu",
    nobody="pekerjanya dianggap mati",
    due="dicoba lagi pukul {at}",
    faults="gagal {count}×: {why}",
    unserved="Tidak ada pekerja yang menjalankan: {agents}",
    again="{turn} masuk antrean lagi",
    not_failed="{turn}: tidak ada giliran dengan id itu yang gagal untuk seterusnya.",
)

_EN = WorkerTexts(
    about="Run turns from the queue in Postgres, on as many machines as there are; see: status, retry.",
    about_status="Show workers, and the turns that are queued, running, waiting, or failed for good.",
    about_retry="Try a turn again that failed for good.",
    opt_agent="The assistant or module:name to run; may be given several times",
    opt_store="postgresql://… (also: TUKANG_STORE)",
    opt_slots="How many turns at a time",
    opt_takeover="Seconds within which the turns of a worker that died go on elsewhere",
    opt_tries="How many tries may end badly before a turn has failed for good",
    opt_grace="Seconds to finish turns or hand them over when stopped",
    opt_name="What the worker is called; left out: host:pid",
    opt_limit="So many turns of each state at most",
    turn="The turn's id",
    no_agent="Which agent is to be run? Name it with --agent module:name.",
    no_store="Name the store with --store postgresql://… or TUKANG_STORE.",
    serving="worker {name}: {agents} · {slots} at a time · {store}",
    stopping="stopping: turns finish or are handed over within {grace:g} seconds; once more: at once",
    stopped="worker {name} has stopped",
    counts="{store}: queued {queued} · running {running} · waiting {waiting} · failed {failed}",
    no_workers="There are no workers.",
    worker="Workers",
    heard="heard {seconds} ago",
    silent="silent for {seconds}",
    queued="Queued",
    running="Running",
    waiting="Waiting for a decision",
    failed="Failed for good",
    by="on {worker}, heard {seconds} ago",
    nobody="its worker was given up",
    due="tried again at {at}",
    faults="failed {count}×: {why}",
    unserved="No worker runs: {agents}",
    again="{turn} is queued again",
    not_failed="{turn}: no turn of that id has failed for good.",
)

WORKER_TEXTS: Mapping[Language, WorkerTexts] = {"id": _ID, "en": _EN}
