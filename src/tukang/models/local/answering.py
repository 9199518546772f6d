"""The second of the two steps: the answer in words, which never quotes a figure or an identifier that is not known.

Words stream as they come, but a word is held back until it is complete and every token in it was checked. So nothing is
shown and then taken back:

* With results of tools, the text is generated within a grammar in which figures and identifiers can only be known ones
  (the question's, the conversation's, the results'), however grouped. Numbers of a list (`1.`) are free.
* Without results, figures are free: plain questions are about years and bananas ("sisa 3"). Only invented identifiers are
  stopped, see `grounding.looks_invented`.
* A token that fails all the same is put right when there is exactly one known identifier it can be. Otherwise the answer is
  begun anew from what was shown, within the grammar; and if even that fails, the results themselves are shown.
* An apology waits until it is complete. One that only refuses, although every tool brought a result, gives way to them.
* A request that is only said again becomes a question for its details.
* A result of which the answer tells nothing follows it in plain words.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import msgspec

from tukang.grounding.figures import is_identifier, tokens
from tukang.models.base import Settings
from tukang.models.local.engine import Completed, Engine, Job, Slot
from tukang.models.local.grammar import quoted
from tukang.models.local.grounding import Sources, content_words, looks_invented, written
from tukang.models.local.prompts import END, answer_prompt
from tukang.models.local.view import Step, View
from tukang.models.local.wording import ask_for_details, results_in_words, values_of
from tukang.tools.contract import Contract

LONGEST_ANSWER = 320
"""Tokens, where the developer set no other limit."""

_MOST_RESTARTS = 2
_WORD = re.compile(r"\s*\S+\s+(?=\S)")
_FIRST_WORDS = 2
_MOST_SAME = 4
"""Times a word may follow itself."""
_LEAST_ECHO = 3
"""Words of a request: "Halo!" may be answered by the same word."""
_APOLOGY = re.compile(r"\s*(?:maaf|mohon maaf|sorry|i'm sorry|i am sorry|i apologi[sz]e)\b", re.IGNORECASE)
_CANNOT = re.compile(r"\b(?:tidak|belum|tak) (?:bisa|dapat)|\bcan(?:'t|not)|\bunable|\bdon't have", re.IGNORECASE)
_LEAST_DIGITS = 3
"""Of a number that is given out (`ORD1001`), not a product's name (`DDR5`)."""
_LIST_MARK = re.compile(r"[1-9][.)]")


def figures_grammar(known: Iterable[str], *, any_number: bool = False) -> str:
    """GBNF for free text whose figures and identifiers are among `known`.

    Args:
        known: every way to write them.
        any_number: whether plain numbers are free, and only identifiers are held to `known`.
    """
    words = sorted(known)
    figure = _tree(words) if words else ""
    if any_number:
        figure = " | ".join(part for part in ("[0-9]{1,15}", figure) if part)
    rules = [
        "root ::= mark text | text",
        'text ::= "" | on | word after-word' + (' | "Rp"? figure after-figure' if figure else ""),
        'on ::= gap text | "\\n" mark text',
        'after-word ::= "" | on',
        # A separator between two figures would make a third one: 1.5 of 1 and 5.
        'after-figure ::= "" | space text | "\\n" mark text | point after-point | [A-Za-z%°] after-word',
        'after-point ::= "" | on | word after-word',
        "word ::= [A-Za-z_]{1,40}",
        "gap ::= [^A-Za-z0-9_]",
        "space ::= [^A-Za-z0-9_.,:/-]",
        "point ::= [.,:/-]",
        'mark ::= [1-9] [.)] " "',
    ]
    return "\n".join([*rules, f"figure ::= {figure}"] if figure else rules)


def _tree(words: list[str]) -> str:
    """Alternatives with their common beginnings shared, so that the sampler follows few of them at once."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:1], []).append(word[1:])
    options: list[str] = []
    for first, rests in groups.items():
        if not first:
            options.append('""')
        elif len(rests) == 1:
            options.append(quoted(first + rests[0]))
        else:
            options.append(f"{quoted(first)} ({_tree(rests)})")
    return " | ".join(options)


async def answer(
    engine: Engine,
    view: View,
    sources: Sources,
    settings: Settings,
    *,
    tools: Sequence[Contract] = (),
    missing: str = "",
    note: str = "",
) -> AsyncIterator[str | Completed]:
    """Stream the answer, word by word; last one `Completed` with the tokens of all requests.

    Args:
        engine: completes the prompt.
        view: the conversation.
        sources: what figures and identifiers have to come from.
        settings: temperature, top_p, max_tokens, stop, seed and the engine's own fields.
        tools: what the agent has.
        missing: what has to be asked.
        note: a sentence for this answer only.
    """
    view = msgspec.structs.replace(view, steps=view.settled)
    words = _spoken(engine, view, sources, settings, answer_prompt(view, tools, missing, note))
    brought = [step for step in view.steps if '"error"' not in step.result]
    if not brought:
        async for item in _unechoed(words, view.request):
            yield item
        return
    held: str | None = ""
    said = ""
    async for item in words:
        if isinstance(item, Completed):
            if held:
                said = held = results_in_words(view.steps, view.request) if _shirks(held, view) else held
                yield held
            if untold := [step for step in brought if _leaves_out(said, step, view)]:
                yield "\n" + results_in_words(untold, view.request)
        else:
            if held is not None:
                held += item
                if _APOLOGY.match(held) or len(held.split()) < _FIRST_WORDS:
                    continue
                item, held = held, None
            said += item
        yield item


async def _unechoed(words: AsyncIterator[str | Completed], request: str) -> AsyncIterator[str | Completed]:
    """The words, but for an answer that only says the request again: that becomes a question for what is missing."""
    whole = request.strip().lower()
    held: str | None = "" if len(whole.split()) >= _LEAST_ECHO else None
    async for item in words:
        if isinstance(item, Completed):
            if held:
                yield ask_for_details(request) if held.strip().lower() == whole else held
        elif held is not None:
            held += item
            if whole.startswith(held.strip().lower()):
                continue
            item, held = held, None
        yield item


async def _spoken(
    engine: Engine, view: View, sources: Sources, settings: Settings, prompt: str
) -> AsyncIterator[str | Completed]:
    """The checked words of an answer, begun anew where a token failed; last one `Completed`."""
    left = settings.max_tokens or LONGEST_ANSWER
    shown, grammar, usage = "", _grammar(view, sources, strict=bool(view.steps)), Completed("stop")
    for restart in range(_MOST_RESTARTS + 1):
        checked = _Checked(_check(view, sources), sources.torn, line_start=not shown or shown.endswith("\n"))
        job = _job(prompt + shown, left, grammar, settings)
        async for word in checked.words(engine, job):
            shown += word
            yield word
        usage = _sum(usage, checked.done)
        left -= checked.done.output
        if checked.refused is None or left <= 0:
            yield usage
            return
        if nearest := sources.nearest(checked.refused) or sources.torn(checked.refused):
            correction = checked.held.partition(checked.refused)[0] + nearest
            shown += correction
            yield correction
        grammar = _grammar(view, sources, strict=True) if restart == 0 else grammar
    yield f"{shown and chr(10)}{results_in_words(view.steps, view.request)}"
    yield usage


def _shirks(text: str, view: View) -> bool:
    """Whether an apology says that something cannot be done and tells nothing of results that are there."""
    apology = bool(_APOLOGY.match(text) and _CANNOT.search(text))
    return apology and all('"error"' not in step.result and _leaves_out(text, step, view) for step in view.steps)


def _leaves_out(text: str, step: Step, view: View) -> bool:
    """Whether a result holds something new, beyond the question and the call itself, and a text has none of it.

    Where a result brings a number of its own, such as an order's, that is what is new. A result that a later call was made
    from was on the way, and need not be told.
    """
    asked = content_words(view.request, step.arguments)
    new = content_words(values_of(step.result)) - asked
    later = view.steps[view.steps.index(step) + 1 :]
    if new & content_words(*(other.arguments for other in later)):
        return False
    if given_out := {word for word in new if is_identifier(word) and sum(map(str.isdigit, word)) >= _LEAST_DIGITS}:
        new = given_out
    return bool(new) and not new & content_words(text)


def _check(view: View, sources: Sources) -> Callable[[str], bool]:
    if view.steps:
        return sources.knows
    return lambda token: not looks_invented(token, sources)


def _grammar(view: View, sources: Sources, *, strict: bool) -> str | None:
    return figures_grammar(written(sources.tokens), any_number=not view.steps) if strict else None


def _job(prompt: str, max_tokens: int, grammar: str | None, settings: Settings) -> Job:
    return Job(
        Slot.ANSWER,
        prompt,
        max_tokens,
        grammar,
        (END, *settings.stop),
        settings.temperature or 0.0,
        settings.top_p,
        settings.seed,
        settings.extra,
    )


def _sum(first: Completed, second: Completed) -> Completed:
    return Completed(
        second.finish, first.input + second.input, first.output + second.output, first.cached + second.cached
    )


class _Checked:
    """One completion, let through word by word. After it, `refused` is the token that stopped it, `held` its word."""

    def __init__(self, allowed: Callable[[str], bool], torn: Callable[[str], str | None], *, line_start: bool) -> None:
        self._allowed = allowed
        self._torn = torn
        self._line_start = line_start
        self._last, self._same = "", 0
        self.held = ""
        self.refused: str | None = None
        self.done = Completed("stop")

    async def words(self, engine: Engine, job: Job) -> AsyncIterator[str]:
        count = 0
        stream = engine.complete(job)
        try:
            async for item in stream:
                if isinstance(item, Completed):
                    self.done = item
                    break
                count += 1
                self.held += item.text
                while (end := _word_end(self.held)) is not None:
                    word, rest = self.held[:end], self.held[end:]
                    self._same = self._same + 1 if word == self._last else 0
                    self._last = word
                    if self._same >= _MOST_SAME:  # it goes round in circles
                        self.held, self.done = "", Completed("stop", output=count)
                        return
                    if self._refuses(word):
                        self.done = Completed("stop", output=count)
                        return
                    self.held = rest
                    yield word
            if self.held and not self._refuses(self.held):
                word, self.held = self.held, ""
                yield word
        finally:
            await stream.aclose()

    def _refuses(self, word: str) -> bool:
        marks_list = self._line_start and bool(_LIST_MARK.fullmatch(word.strip()))
        self._line_start = "\n" in word
        if self._torn(word) is not None:
            self.refused = word.strip()
        else:
            self.refused = None if marks_list else next((one for one in tokens(word) if not self._allowed(one)), None)
        return self.refused is not None


def _word_end(text: str) -> int | None:
    """The place after the first word and the blanks behind it; None while the word may still grow."""
    match = _WORD.match(text)
    return match.end() if match else None
