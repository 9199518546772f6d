"""The sentences of `tukang tasks`, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language
from tukang.tools.long import TaskState


class TaskTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    about: str
    about_list: str
    about_show: str
    about_follow: str
    about_cancel: str
    about_retry: str
    about_work: str
    id: str
    opt_session: str
    opt_all: str
    opt_limit: str
    target: str
    nothing: str
    states: Mapping[TaskState, str]
    ending: str
    again_at: str
    attempts: str
    result: str
    cancelled: str
    asked_to_end: str
    retried: str
    not_long: str
    working: str
    stopping: str
    lost: str
    waits: str
    left: str


_ID = TaskTexts(
    about="Pekerjaan yang lama: melihat, mengikuti, membatalkan, mencoba lagi, menjalankan.",
    about_list="Menampilkan tugas yang belum selesai, yang terbaru lebih dulu.",
    about_show="Menampilkan satu tugas, dengan argumen dan hasilnya.",
    about_follow="Mengikuti kemajuan satu tugas sampai berakhir; Ctrl-C hanya berhenti mengikuti.",
    about_cancel="Membatalkan; tugas yang sedang berjalan diberi beberapa detik untuk berhenti.",
    about_retry="Mencoba lagi tugas yang tidak berakhir baik, kalau boleh diulang.",
    about_work="Menjalankan tugas sebuah asisten, juga yang ditinggalkan proses yang mati, sampai dihentikan.",
    id="Nomor tugas; lihat list",
    opt_session="Hanya di sesi ini",
    opt_all="Juga yang sudah berakhir",
    opt_limit="Paling banyak sekian",
    target="Asisten atau modul:nama",
    nothing="Tidak ada tugas di {store}.",
    states={
        "queued": "menunggu",
        "running": "berjalan",
        "done": "selesai",
        "failed": "gagal",
        "cancelled": "dibatalkan",
        "expired": "kedaluwarsa",
        "unknown": "tidak diketahui hasilnya",
    },
    ending="diminta berhenti",
    again_at="dicoba lagi {moment}",
    attempts="percobaan ke-{number}",
    result="hasil",
    cancelled="Tugas {id} dibatalkan.",
    asked_to_end="Tugas {id} diminta berhenti; lihat: tukang tasks follow {id}",
    retried="Tugas {id} dicoba lagi.",
    not_long="{target} tidak punya alat yang lama (@tool(long=True)), jadi tidak ada tugas untuk dijalankan.",
    working="Menjalankan tugas {agent} ({backend}) di {store}. Ctrl-C untuk berhenti.",
    stopping="Berhenti; yang belum selesai diteruskan proses lain.",
    lost="Tidak ada yang menjalankan tugas ini sekarang; ia diteruskan oleh: tukang tasks work {agent}",
    waits="Tugas yang masih berjalan: {count}. Proses ini menunggunya selesai; Ctrl-C meninggalkannya.",
    left="Ditinggalkan. Diteruskan dengan: tukang tasks work {target}",
)

_EN = TaskTexts(
    about="Work that takes long: see it, follow it, cancel it, have it tried again, run it.",
    about_list="Show the tasks that have not ended, the newest first.",
    about_show="Show one task, with its arguments and its result.",
    about_follow="Follow a task's progress up to its end; Ctrl-C only stops following.",
    about_cancel="Cancel it; a task that is running has a few seconds to stop.",
    about_retry="Have a task tried again that did not end well, if it may be repeated.",
    about_work="Run an assistant's tasks, also those left by processes that died, until it is stopped.",
    id="The task's id; see list",
    opt_session="Only in this session",
    opt_all="Those that have ended, too",
    opt_limit="No more than so many",
    target="An assistant, or module:name",
    nothing="There are no tasks in {store}.",
    states={
        "queued": "queued",
        "running": "running",
        "done": "done",
        "failed": "failed",
        "cancelled": "cancelled",
        "expired": "expired",
        "unknown": "outcome unknown",
    },
    ending="asked to end",
    again_at="tried again {moment}",
    attempts="attempt {number}",
    result="result",
    cancelled="Task {id} is cancelled.",
    asked_to_end="Task {id} was asked to end; see: tukang tasks follow {id}",
    retried="Task {id} is tried again.",
    not_long="{target} has no long tool (@tool(long=True)), so there are no tasks to run.",
    working="Running the tasks of {agent} ({backend}) in {store}. Ctrl-C to stop.",
    stopping="Stopping; what has not ended goes on in another process.",
    lost="Nobody runs this task now; it goes on with: tukang tasks work {agent}",
    waits="Tasks still running: {count}. This process waits for them; Ctrl-C leaves them.",
    left="Left. It goes on with: tukang tasks work {target}",
)

TASK_TEXTS: Mapping[Language, TaskTexts] = {"id": _ID, "en": _EN}
