"""Plain conversation, without tools: what remains of an assistant when only the memory of the session is left."""

from __future__ import annotations

from tukang.agent import Agent
from tukang.models.base import Model, Settings


def agent(model: str | Model | None = None) -> Agent:
    """The assistant. `model` is as for `Agent`."""
    return Agent(
        model,
        "Kamu teman bicara yang ramah. Jawab singkat, dalam bahasa pengguna. "
        "Ingat apa yang dikatakan pengguna sebelumnya, dan katakan terus terang kalau kamu tidak tahu.",
        settings=Settings(temperature=0.3, max_tokens=1024),
        name="obrolan",
        language="id",
    )
