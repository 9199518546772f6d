"""An answer from documents by one search and one request: next to the loop, where a question is known to be a look-up.

It is an agent without tools whose user's message holds the passages; so limits, retries, fallbacks, usage and the
check of what the answer says are those of every turn. What it cannot do is search again with other words: for that
there is the tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tukang.agent import Agent
from tukang.answer import Answer
from tukang.grounding.policy import Grounded
from tukang.knowledge.knowledge import Knowledge
from tukang.knowledge.tool import citation, without_citations
from tukang.knowledge.values import Hit, Where
from tukang.loop.events import Language
from tukang.loop.limits import Limits
from tukang.models.base import Model, Settings

_TOLD: Mapping[Language, tuple[str, str, str, str]] = {
    "id": (
        "Jawab hanya dari potongan dokumen di bawah. Kutip setiap potongan yang dipakai persis seperti tertulis di depannya. "
        "Bila jawabannya tidak ada di sana, katakan bahwa dokumen tidak memuatnya.",
        "Potongan dokumen:",
        "Pertanyaan:",
        "(tidak ada potongan yang cocok)",
    ),
    "en": (
        "Answer only from the passages below. Cite each passage you use exactly as it is written before it. "
        "If the answer is not there, say that the documents do not have it.",
        "Passages:",
        "Question:",
        "(no passage fits)",
    ),
}


class Cited(msgspec.Struct, frozen=True):
    """An answer, and what it was made from.

    Args:
        text: the answer.
        hits: the passages that the model was given.
        answer: the whole turn: usage, model, what is unsupported in it.
    """

    text: str
    hits: tuple[Hit, ...]
    answer: Answer

    def __str__(self) -> str:
        return self.text


async def answer(
    knowledge: Knowledge,
    question: str,
    *,
    model: str | Model | Sequence[str | Model] | None = None,
    limit: int = 5,
    where: Where | None = None,
    instructions: str = "",
    language: Language = "id",
    settings: Settings | None = None,
    seconds: float | None = None,
) -> Cited:
    """Answer a question: one search, one request.

    Args:
        knowledge: where to search.
        question: as the user put it.
        model: who answers; as for an agent.
        limit: how many passages the model is given.
        where: only documents of which this is known; see `Knowledge.search`.
        instructions: more for the system text.
        language: of the sentences around the passages.
        settings: how the model samples.
        seconds: how long it may take.

    Raises:
        StoreError, ModelError: the search failed. A request that fails is told in the answer, as in any turn.
    """
    rule, passages, asked, nothing = _TOLD[language]
    hits = await knowledge.asearch(question, limit, where=where)
    shown = (
        "\n\n".join(f"{citation(hit)}\n{without_citations(hit.heading)}\n{without_citations(hit.text)}" for hit in hits)
        or nothing
    )
    agent = Agent(
        model,
        "\n\n".join(filter(None, (instructions, rule))),
        limits=Limits() if seconds is None else Limits(seconds=seconds),
        settings=settings,
        language=language,
        name="knowledge",
        grounded=Grounded(correct=False),
    )
    done = await agent.arun(f"{passages}\n\n{shown}\n\n{asked} {question}")
    return Cited(done.text, tuple(hits), done)
