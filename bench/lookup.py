"""What a question about a document costs: through the loop, with the look-up made before the model is asked, and by
one search.

    python -m bench.lookup

A model that is played asks for the search (where it is asked), and answers. Counted are the requests to the model and
the bytes of their bodies as OpenAI's chat protocol has them: about four bytes are a token, and each request is a
wait. The documents are twelve made-up policies of five sections; the embedder is the one that ships.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tukang import Agent
from tukang.knowledge import Knowledge
from tukang.models.openai_chat_dialect import dialect_for
from tukang.models.openai_chat_encode import encode_request
from tukang.models.scripted import Scripted, call

QUESTION = "Berapa lama cuti melahirkan untuk karyawan tetap?"
ANSWER = "Tiga bulan [sumber: cuti.md]."
TOPICS = (
    *("cuti", "lembur", "perjalanan dinas", "penggantian biaya", "rekrutmen", "penilaian kinerja"),
    *("keamanan informasi", "pengadaan", "aset kantor", "kerja jarak jauh", "kesehatan", "pelatihan"),
)
SECTION = "Bagian {number} tentang {topic}: pengajuan lewat atasan langsung, paling lambat {number} hari sebelumnya. "


def main() -> None:
    """Count, and print."""
    with tempfile.TemporaryDirectory() as folder:
        knowledge = Knowledge(f"sqlite:///{Path(folder, 'bench.db')}")
        for topic in TOPICS:
            parts = [
                f"## {topic} {number}\n\n{SECTION.format(number=number, topic=topic) * 4}" for number in range(1, 6)
            ]
            knowledge.add_text(f"{topic}.md", f"# {topic}\n\n" + "\n\n".join(parts))
        knowledge.add_text(
            "cuti.md", "# cuti\n\n## cuti melahirkan\n\nCuti melahirkan karyawan tetap lamanya tiga bulan."
        )
        looped = Scripted([call("cari_dokumen", kueri=QUESTION), ANSWER])
        Agent(looped, "Kamu asisten kebijakan.", tools=[knowledge.tool()]).run(QUESTION)
        routed = Scripted([ANSWER])
        Agent(routed, "Kamu asisten kebijakan.", tools=[knowledge.tool()], route="auto").run(QUESTION)
        once = Scripted([ANSWER])
        knowledge.answer(QUESTION, model=once, instructions="Kamu asisten kebijakan.")
        for name, model in (("the loop", looped), ("route='auto'", routed), ("knowledge.answer", once)):
            print(f"{name:<17} requests {len(model.requests)}   bytes sent {sum(map(_size, model.requests)):>6,}")


def _size(request: object) -> int:
    return len(encode_request("gpt-4o-mini", request, dialect_for("api.openai.com", "gpt-4o-mini"), False))  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
