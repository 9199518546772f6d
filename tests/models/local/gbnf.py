"""A small reader of GBNF, to see what a grammar allows without an engine. Sets of end positions; no left recursion."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

Ends = frozenset[int]
Match = Callable[[str, int], Ends]

_LEX = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d*,?\d*\}|[()|?*+]|[a-z][a-z0-9-]*)')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class Gbnf:
    """A grammar that was read; raises on anything llama.cpp would not take."""

    def __init__(self, text: str) -> None:
        self._bodies: dict[str, list[str]] = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            assert re.fullmatch(r"[a-z][a-z0-9-]*", name), f"not a rule: {line!r}"
            assert name not in self._bodies, f"{name} has two bodies"
            self._bodies[name] = _lexed(body)
        self._rules: dict[str, Match] = {}
        for name in self._bodies:
            self._rule(name)

    def allows(self, text: str) -> bool:
        """Whether the whole text is one the grammar can make."""
        return len(text) in self._rules["root"](text, 0)

    def _rule(self, name: str) -> Match:
        if name not in self._rules:
            assert name in self._bodies, f"no rule {name}"
            made: list[Match] = []

            @cache
            def match(text: str, at: int) -> Ends:
                return made[0](text, at)

            self._rules[name] = match
            lexemes = list(self._bodies[name])
            made.append(self._either(lexemes))
            assert not lexemes, f"{name}: left over {lexemes}"
        return self._rules[name]

    def _either(self, lexemes: list[str]) -> Match:
        options = [self._sequence(lexemes)]
        while lexemes and lexemes[0] == "|":
            lexemes.pop(0)
            options.append(self._sequence(lexemes))
        return lambda text, at: frozenset[int]().union(*(option(text, at) for option in options))

    def _sequence(self, lexemes: list[str]) -> Match:
        parts: list[Match] = []
        while lexemes and lexemes[0] not in ("|", ")"):
            part = self._atom(lexemes)
            while lexemes and (lexemes[0] in "?*+" or lexemes[0].startswith("{")):
                part = _repeated(part, lexemes.pop(0))
            parts.append(part)

        def match(text: str, at: int) -> Ends:
            ends = frozenset({at})
            for part in parts:
                ends = frozenset[int]().union(*(part(text, end) for end in ends))
            return ends

        return match

    def _atom(self, lexemes: list[str]) -> Match:
        first = lexemes.pop(0)
        if first == "(":
            inner = self._either(lexemes)
            assert lexemes.pop(0) == ")"
            return inner
        if first.startswith('"'):
            literal = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), first[1:-1])
            return lambda text, at: frozenset({at + len(literal)} if text.startswith(literal, at) else ())
        if first.startswith("["):
            pattern = re.compile(first, re.DOTALL)
            return lambda text, at: frozenset({at + 1} if pattern.match(text, at) else ())
        return self._rule(first)


def _lexed(body: str) -> list[str]:
    lexemes: list[str] = []
    at = 0
    while at < len(body.rstrip()):
        found = _LEX.match(body, at)
        assert found, f"cannot be read: {body[at:]!r}"
        lexemes.append(found[1])
        at = found.end()
    return lexemes


def _repeated(part: Match, sign: str) -> Match:
    bounds = {"?": (0, 1), "*": (0, 10**6), "+": (1, 10**6)}.get(sign)
    if bounds is None:
        least, comma, most = sign[1:-1].partition(",")
        bounds = (int(least or 0), int(most) if most else 10**6 if comma else int(least))

    def match(text: str, at: int) -> Ends:
        found = frozenset({at}) if bounds[0] == 0 else frozenset[int]()
        ends, count = frozenset({at}), 0
        while ends and count < bounds[1]:
            ends = frozenset[int]().union(*(part(text, end) for end in ends))
            count += 1
            if count >= bounds[0]:
                if ends <= found:
                    break
                found |= ends
        return found

    return match
