"""Takes secrets out of a model's events before they are written to a recording. What a secret is stands in `secrets`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from tukang import secrets
from tukang.models.base import ArgumentsDelta, ModelEvent, PartCompleted, ReplyEnded, TextDelta, ThinkingDelta


class Remover(secrets.Remover):
    """Removes secrets, also from events."""

    def events(self, events: Sequence[ModelEvent]) -> Iterator[ModelEvent]:
        """Events without secrets, also where a secret came in pieces: then the pieces stand as one at the first's place."""
        pieces: dict[tuple[type, int], list[int]] = {}
        for place, event in enumerate(events):
            if isinstance(event, (TextDelta, ThinkingDelta, ArgumentsDelta)):
                key = event.key if isinstance(event, ArgumentsDelta) else 0
                pieces.setdefault((type(event), key), []).append(place)
        mended: dict[int, str | None] = {}
        for places in pieces.values():
            for run in _runs(places, events):
                whole = "".join(cast("TextDelta", events[place]).text for place in run)
                if (clean := self.text(whole)) != whole:
                    mended.update(dict.fromkeys(run[1:]))
                    mended[run[0]] = clean
        for place, event in enumerate(events):
            if place not in mended:
                yield self._event(event)
            elif (text := mended[place]) is not None:
                yield msgspec.structs.replace(cast("TextDelta", event), text=text)

    def _event(self, event: ModelEvent) -> ModelEvent:
        if isinstance(event, PartCompleted):
            plain = msgspec.to_builtins(event, builtin_types=(bytes,))
            return msgspec.convert(self.value(plain), PartCompleted)
        if isinstance(event, ReplyEnded) and event.refusal:
            return msgspec.structs.replace(event, refusal=self.text(event.refusal))
        return event


def _runs(places: Sequence[int], events: Sequence[ModelEvent]) -> Iterator[list[int]]:
    """Pieces that make one text: a call's arguments however they are mixed, words until something else comes between."""
    if isinstance(events[places[0]], ArgumentsDelta):
        yield list(places)
        return
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    yield run
