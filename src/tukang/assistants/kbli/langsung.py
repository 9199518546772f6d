"""Whether a question asks for the code of one activity and for nothing else: then no model need ask for the search."""

from __future__ import annotations

import asyncio
import re

from tukang.assistants.kbli.cari import Pencari, dicari
from tukang.assistants.kbli.kata import tercakup
from tukang.knowledge.fitting import is_direct
from tukang.retrieval.words import STOP
from tukang.tools.lookup import Fit, LookUp

EDISI = 2025
"""The edition that is searched where none is named."""

_ASKED = """
    kode kbli nomor klasifikasi lapangan usaha bisnis jenis yang cocok tepat sesuai benar pas buat bagi nih ya dong
    code number business activity right suitable
"""
_ASKING = frozenset(_ASKED.split())
"""Words of the way of asking: none of them is an activity."""

_OTHERWISE = """
    dan serta sekaligus juga plus atau sama beda bedanya perbedaan banding dibanding vs edisi lama baru audit periksa cek
    arti artinya maksud isi semua daftar and or also difference versus edition mean means check list
"""
_MORE = frozenset(_OTHERWISE.split())
"""Words of several activities, or of another wish than a code for one."""

_MOST = 6
"""Words of an activity that is named in a question, not told."""

_HALF = 0.5
"""How much of the activity the best code has to cover: with less, other words should be tried, and the model knows some."""


def pencarian(pencari: Pencari) -> LookUp:
    """The search for a code, as what may be done before the model is asked."""

    async def fit(question: str) -> Fit:
        activity = kegiatan(question)
        if activity is None:
            return "open"
        found = await asyncio.to_thread(pencari.cari, question, EDISI, 1)
        return "direct" if found and tercakup(activity, dicari(found[0][0])) >= _HALF else "open"

    async def prepare() -> None:
        await asyncio.to_thread(pencari.cari, "?", EDISI, 1)

    return LookUp("deskripsi", fit, prepare)


def kegiatan(question: str) -> str | None:
    """The one activity that a question asks the code of; None where it asks for something else, or for more."""
    words = re.findall(r"[\w-]+", question.casefold())
    if not {"kode", "kbli", "code"}.intersection(words) or not is_direct(question):
        return None
    if _MORE.intersection(words) or re.search(r"[\d,;&/+]", question):
        return None
    left = [word for word in words if word not in STOP and word not in _ASKING]
    return " ".join(left) if 0 < len(left) <= _MOST else None
