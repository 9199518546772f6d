"""One turn as the user sees it: the trace of rounds and calls, and the text as it comes. Shows; decides nothing.

The turn's state is a fold over its events, so this file folds them too, and reads off the state what there is to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from tukang.answer import Answer, Step, served_step, step_of
from tukang.cli.approval_texts import APPROVAL_TEXTS
from tukang.cli.indonesian import told
from tukang.cli.knowledge_texts import KNOWLEDGE_TEXTS
from tukang.cli.screen import Screen, one_line
from tukang.cli.served import SENTENCES
from tukang.cli.texts import Texts
from tukang.loop import events
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.models.base import TextDelta
from tukang.runtime.routing import ROUTE, SPARED
from tukang.runtime.signals import Progress, Served, Signal
from tukang.tools.outcome import HARMLESS

_LONGEST_RESULT = 400
_LONGEST_ARGUMENT = 120


class View:
    """Follows one turn: `see` each event and signal, then `finish` with the answer.

    Args:
        screen: where to show it.
        texts: in which language.
        models: the names of the agent's models, the first choice first.
        known: how many of the turn's first events were shown before.
    """

    def __init__(self, screen: Screen, texts: Texts, models: Sequence[str] = (), known: int = 0) -> None:
        self._known = known
        self._screen = screen
        self._texts = texts
        self._models = models
        self._model = 0
        self._state: State | None = None
        self._said = ""
        self._ran = 0  # how much of what the provider ran has been shown

    def see(self, item: events.Event | Signal) -> None:
        """Show what there is to show of it."""
        if isinstance(item, Signal):
            if isinstance(item.delta, TextDelta) and self._screen.streams:
                self._said += item.delta.text
                self._screen.say(item.delta.text)
            elif isinstance(item.delta, Progress):
                self._progress(item.delta)
            elif isinstance(item.delta, Served):
                self._served(item.delta.tool, item.delta.arguments, item.delta.result, item.delta.fault)
            return
        self._state = state = evolve(self._state, item)
        if self._known > 0:
            self._known -= 1
            self._ran = len(state.served)
            return
        match item:
            case events.ModelAsked():
                self._asked(item)
            case events.ModelInterrupted(error=error) if error is not None:
                self._screen.note(
                    ("  ! ", "yellow"),
                    (self._texts.broke_off.format(message=told(error.message, self._texts.language)), "yellow"),
                )
            case events.ModelReplied():
                self._replied(state, item.model or "")
            case events.AnswerSentBack(unsupported=names):
                self._said = ""  # what was streamed is void; another answer follows
                self._screen.end_line()
                self._screen.note((self._texts.sent_back.format(what=_listed(names)), "yellow"))
            case events.CallStarted(call=call):
                name = next((known.name for known in state.calls if known.id == call), call)
                self._screen.busy(self._texts.running.format(tool=name) + " …")
            case events.CallApproved() | events.CallRefused() | events.CallEdited():
                self._decided(item)
            case events.CallFinished(call=call) | events.CallSettled(call=call) | events.CallChecked(call=call):
                self._call(state, call)
            case _:
                pass

    def finish(self, answer: Answer) -> None:
        """Complete the answer on stdout, and sum the turn up."""
        self._screen.still()
        if answer.text.startswith(self._said):
            self._screen.say(answer.text[len(self._said) :])
        else:
            self._screen.end_line()
            self._screen.say(answer.text)
        self._screen.end_line()
        self.sum_up(answer)

    def sum_up(self, answer: Answer) -> None:
        """One line about the whole turn, and how to mend what went wrong with the model."""
        texts = self._texts
        good = answer.stopped in ("answer", "terminal")
        said = texts.summary.format(
            stopped=texts.stopped[answer.stopped],
            calls=len(answer.steps),
            rounds=answer.rounds,
            tokens=answer.usage.total,
            seconds=duration(answer.seconds),
        )
        self._screen.note((said, "dim" if good else "yellow"))
        if answer.unsupported:
            self._screen.warning(texts.attention, texts.unsupported.format(what=_listed(answer.unsupported)))
        elif answer.unchecked is not None and answer.stopped != "cancelled":
            self._screen.warning(texts.attention, texts.unchecked.format(why=answer.unchecked))
        for one in answer.waiting:
            self._screen.note(f"  {one.tool}({arguments(one.arguments)})", (f"  {one.call_id}", "dim"))
        if answer.stopped == "model_error" and answer.error is not None:
            error = answer.error
            said = f"{error.message} {error.hint}" if error.hint else error.message
            self._screen.error(texts.error, told(said, texts.language))

    def _replied(self, state: State, model: str) -> None:
        """A whole reply: what the provider ran in it and was not shown as it came, that it asks for calls of ours, and what
        was decided before the model was asked."""
        words = KNOWLEDGE_TEXTS[self._texts.language]
        for one in state.served[self._ran :]:
            step = served_step(one)
            self._served(step.tool, step.arguments, step.result, step.fault is not None)
        if state.calls:
            self._said = ""  # it was said on the way to the answer, and is not part of it
            said = f"  {words.looked_up}" if model == ROUTE else ""
            self._screen.note((self._texts.round.format(number=state.round), "bold cyan"), (said, "dim"))
        elif model.endswith(SPARED):
            self._screen.end_line()
            self._screen.note((f"  {words.spared}", "dim"))

    def _served(self, tool: str, given: str, result: str, fault: bool) -> None:
        self._ran += 1
        mark = SENTENCES[self._texts.language].mark
        self._screen.note("  ", (tool, "bold"), f"({arguments(given)})", (f"  [{mark}]", "cyan"))
        style = "red" if fault else "green"
        self._screen.note(("    → ", style), (one_line(result, _LONGEST_RESULT), "dim"))

    def _decided(self, event: events.CallApproved | events.CallRefused | events.CallEdited) -> None:
        said = APPROVAL_TEXTS[self._texts.language]
        by = f" ({one_line(event.by, _LONGEST_ARGUMENT)})" if event.by else ""
        why = f": {one_line(event.reason, _LONGEST_RESULT)}" if event.reason else ""
        match event:
            case events.CallApproved():
                text, style = said.approved, "green"
            case events.CallEdited():
                text, style = said.edited, "yellow"
            case events.CallRefused():
                text, style = said.expired if event.expired else said.refused, "red"
        self._screen.note(("    " + text.format(by=by, why=why), style))
        if isinstance(event, events.CallRefused) and self._state is not None:
            self._call(self._state, event.call)

    def _progress(self, progress: Progress) -> None:
        percent = "" if progress.percent is None else f" {progress.percent:.0f}%"
        message = one_line(progress.message, _LONGEST_ARGUMENT)
        self._screen.busy(f"{self._texts.running.format(tool=progress.tool)}{percent} {message}".rstrip() + " …")

    def _asked(self, event: events.ModelAsked) -> None:
        texts = self._texts
        if event.attempt > 1:
            self._screen.note(("  ", ""), (texts.retried.format(attempt=event.attempt), "yellow"))
        if event.model != self._model and event.model < len(self._models):
            self._screen.note((texts.fallback.format(name=self._models[event.model]), "yellow"))
        self._model = event.model
        if event.forced is not None:
            self._screen.note((texts.forced.format(reason=texts.stopped[event.forced]), "yellow"))
        self._screen.busy(texts.thinking + " …")

    def _call(self, state: State, call_id: str) -> None:
        call = next((call for call in state.calls if call.id == call_id and call.done), None)
        if call is None:  # a check that went well, or a result that came too late to count
            return
        step = step_of(call)
        self._screen.note("  ", (step.tool, "bold"), f"({arguments(step.arguments)})", *self._marks(step))
        style = "red" if step.fault else "green"
        self._screen.note(("    → ", style), (one_line(step.result, _LONGEST_RESULT), "dim"))

    def _marks(self, step: Step) -> list[tuple[str, str]]:
        texts = self._texts
        marks: list[tuple[str, str]] = []
        if step.seconds is not None:
            marks.append((duration(step.seconds), "dim"))
        if step.reused:
            marks.append((f"[{texts.reused}]", "cyan"))
        if step.repaired:
            marks.append((f"[{texts.repaired}]", "yellow"))
        if step.edited:
            marks.append((f"[{texts.edited}]", "yellow"))
        if step.fault is not None:
            sentence = texts.refused if step.fault.kind in HARMLESS else texts.failed
            marks.append((f"[{sentence.format(kind=step.fault.kind)}]", "red"))
        return [("  " + text, style) for text, style in marks]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(one_line(name, _LONGEST_ARGUMENT) for name in names)


def duration(seconds: float) -> str:
    """`3 ms`, `1.4 s`."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


def arguments(text: str) -> str:
    """Arguments as one would write a call: `product_id="PRD002", quantity=1`; as they are when they are not an object."""
    try:
        value = cast("object", msgspec.json.decode(text))
    except msgspec.DecodeError:
        value = None
    if not isinstance(value, dict):
        return one_line(text, _LONGEST_RESULT)
    members = cast("dict[str, Any]", value)
    return ", ".join(
        f"{name}={one_line(msgspec.json.encode(member).decode(), _LONGEST_ARGUMENT)}"
        for name, member in members.items()
    )
