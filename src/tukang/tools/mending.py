"""Mends the notation of JSON that a model wrote, where only one reading is possible. Pure, and never inventive.

Mended, because no content depends on it:
* wrapping: a code fence, the tags of a chat template, an escaping too many, empty `{}` before the real object;
* quotes: single or curly ones, and keys without any, where the next character proves that the string has ended;
* Python's `True`, `False`, `None`; a comma before a closer; `\\n` spelled out and control characters between tokens; raw
  control characters in strings, where they are content; backslashes that are no JSON escape and can only stand for
  themselves;
* closers at the very end that are in the wrong order or too many, once every one that is needed is there.

Refused, because content is missing, doubled, or could be read in two ways: text that stops in the middle, quotes inside
quotes, two objects, words without quotes, expressions, prose around the object, comments, missing commas or colons. A
refusal costs a round; a guess would run a call that nobody asked for.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tukang.tools.json_text import DEEPEST, Unreadable, decode, members, too_deep

_SPACES = (
    *range(0x20 + 1),
    0x7F,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200D + 1),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
)
_UNSEEN = "".join(map(chr, (*_SPACES, 0x2060, 0xFEFF)))
"""Spaces of all kinds, control characters, and what has no width: outside strings they carry no content."""

_SPACE = re.compile(rf"(?:[{re.escape(_UNSEEN)}]|\\[nrt])*+")
_FENCE = re.compile(r"```[\w-]*+")
_TAG_BEFORE = re.compile(r"(?:(?:<[A-Za-z_][\w:.-]*+>|<\|[^<>|]{1,40}\|>)\s*+)++")
_TAG_AFTER = re.compile(r"</[A-Za-z_][\w:.-]{0,60}+>|<\|[^<>|]{1,40}\|>")
_STRINGS = {
    '"': re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL),
    "“": re.compile(r"“((?:[^“”\\]++|\\.)*+)”", re.DOTALL),
    "‘": re.compile(r"‘((?:[^‘’\\]++|\\.)*+)’", re.DOTALL),
}
_BARE_KEY = re.compile(r"[^\W\d][\w$-]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?(?![\w.+-])", re.ASCII)
_WORD = re.compile(r"[A-Za-z]++(?![\w.(])")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)|\"", re.DOTALL)
_TWO_READINGS = re.compile(r"[\dabeEvxuUN'`\n“”‘’]")
"""Escapes that some language gives a meaning JSON does not: `\\x41`, `\\'`, `\\033`. Dropping or keeping: a guess."""

_CONTROL = re.compile(r"[\x00-\x1f]")

_BACKSLASH_HINT = "In JSON a backslash inside a string is written as two."


def mend(text: str) -> Any:
    """Read an object or array whose notation is broken.

    Raises:
        Unreadable: something other than notation is broken; the message says what, and where.
    """
    bare = _unwrap(text.strip(_UNSEEN))
    for candidate in (bare, _unescaped(bare)):
        try:
            value = decode(candidate) if candidate is not None else None
        except Unreadable:
            raise
        except ValueError:
            continue
        if isinstance(value, (dict, list)):
            return value  # pyright: ignore[reportUnknownVariableType]
    return _Reader(bare).read()


def _unwrap(text: str) -> str:
    """Without the tags and the fence around it. One side of a fence will do: a stop sequence may have taken the other."""
    text = _without_tags(text)
    opening = _FENCE.match(text)
    start, end = opening.end() if opening else 0, len(text)
    if text.endswith("```") and end >= start + 3:
        end -= 3
    return text if end - start == len(text) else _without_tags(text[start:end].strip(_UNSEEN))


def _without_tags(text: str) -> str:
    if before := _TAG_BEFORE.match(text):
        text = text[before.end() :]
    end = len(text)
    while text.endswith(">", 0, end) and _TAG_AFTER.fullmatch(text, start := max(0, text.rfind("<", 0, end)), end):
        end = start
        while end and text[end - 1] in _UNSEEN:
            end -= 1
    return text[:end]


def _unescaped(text: str) -> str | None:
    """`{\\"a\\": 1}` as `{"a": 1}`: the inside of a string, sent without its quotes."""
    if not re.match(r'\{\s*\\"', text):
        return None
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return None


class _Reader:
    """Reads one text from left to right. It goes on only where the grammar leaves exactly one way to go."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[str] = []  # the closers still owed
        self._awaits = False  # an opener or a comma was just read: a value or a closer has to follow
        self._ended = False  # the closers at the end were settled together

    def read(self) -> Any:
        if self._peek() not in ("{", "["):
            raise self._refusal("it does not begin with '{'") if self._text else Unreadable("there is nothing in it")
        value = self._value()
        while value == {} and self._peek() == "{":  # a placeholder, sent before the real object
            value = self._value()
        rest = self._text[self._at :]
        if not set(_SPACE.sub("", rest)) <= {"}", "]"}:
            raise self._refusal("there is more after the object" if self._peek() != "{" else "two objects run together")
        return value

    def _peek(self) -> str:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _refusal(self, reason: str, hint: str | None = None) -> Unreadable:
        if self._at >= len(self._text):
            return Unreadable("it stops in the middle", "Send the whole object again; make it shorter if it is long.")
        near = " ".join(self._text[max(0, self._at - 20) : self._at + 20].split())
        return Unreadable(f"{reason}, at character {self._at + 1}, near: {near}", hint)

    def _value(self) -> Any:
        first = self._peek()
        if first == "{":
            return self._object()
        if first == "[":
            return self._array()
        if first in _STRINGS:
            return self._string()
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            return decode(number[0])
        word = _WORD.match(self._text, self._at)
        if word and word[0] in _WORDS:
            self._at = word.end()
            return _WORDS[word[0]]
        raise self._refusal("a value is missing, or it is a text without quotes")

    def _object(self) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        self._begin("}")
        while not self._closes():
            key = self._key()
            if self._peek() != ":":
                raise self._refusal("':' is missing after a key")
            self._at += 1
            pairs.append((key, self._value()))
            self._comma()
        return members(pairs)

    def _array(self) -> list[Any]:
        items: list[Any] = []
        self._begin("]")
        while not self._closes():
            items.append(self._value())
            self._comma()
        return items

    def _key(self) -> str:
        if self._peek() in _STRINGS:
            start = self._at
            key = self._string()
            if _CONTROL.search(self._text, start, self._at):  # a part of the name, or a stray? both have been meant
                self._at = start
                raise self._refusal("a key holds a line break or another control character")
            return key
        bare = _BARE_KEY.match(self._text, self._at)
        if not bare or bare[0] in _WORDS:  # Python's `{None: 1}` is no text, and JavaScript's is
            raise self._refusal("a key is missing, or it is not a string")
        self._at = bare.end()
        return bare[0]

    def _begin(self, closer: str) -> None:
        if len(self._open) == DEEPEST:
            raise too_deep()
        self._open.append(closer)
        self._awaits = True
        self._at += 1

    def _comma(self) -> None:
        """After a member: a comma, or the container ends."""
        self._awaits = False
        if self._ended or (found := self._peek()) in ("}", "]"):
            return
        if found != ",":
            raise self._refusal("',' is missing, or a quote inside a string is not escaped")
        self._awaits = True
        self._at += 1

    def _closes(self) -> bool:
        """Whether the innermost container ends here."""
        if self._ended:
            return True
        found = self._peek()
        if found == self._open[-1]:
            self._open.pop()
            self._at += 1
            return True
        if found in ("}", "]"):
            self._settle()
            return True
        return False

    def _settle(self) -> None:
        """The closer here is the wrong one: fine if only closers follow, and with them every container is closed."""
        if self._awaits:
            raise self._refusal("something is missing before a bracket")
        closers = _SPACE.sub("", self._text[self._at :])
        swapped = sorted(closers) == sorted(self._open)
        if not swapped and not self._all_closed_by(closers):
            raise self._refusal("the brackets do not match")
        self._ended = True
        self._at = len(self._text)
        self._open.clear()

    def _all_closed_by(self, closers: str) -> bool:
        """Whether these closers end every container, when one may also end those inside it that lack theirs."""
        owed = list(self._open)
        for closer in closers:
            if closer not in "}]" or (owed and closer not in owed):
                return False
            while owed and owed.pop() != closer:
                pass
        return not owed

    def _string(self) -> str:
        quote = self._text[self._at]
        found = _STRINGS[quote].match(self._text, self._at)
        if not found:
            self._at = len(self._text)
            raise self._refusal("a string does not end")
        body = self._escaped(found[1], quote)
        self._at = found.end()
        return json.loads(f'"{body}"', strict=False)

    def _escaped(self, body: str, quote: str) -> str:
        """The inside of a string as JSON would have it, raw control characters aside."""
        if "\\" not in body:
            return body.replace('"', '\\"')
        escapes = _ESCAPE.findall(body)
        kept = [escape for escape in escapes if escape and not (escape[0] in '"\\/bfnrt' or len(escape) == 5)]
        kept = [escape for escape in kept if escape != quote]
        if kept and (any(map(_TWO_READINGS.match, kept)) or any(_means(escape) for escape in escapes)):
            raise self._refusal("a backslash in a string can be read in two ways", _BACKSLASH_HINT)
        return _ESCAPE.sub(lambda match: _rewritten(match, quote), body)


def _means(escape: str) -> bool:
    """Whether JSON gives a meaning to this escape beyond the character itself."""
    return escape[:1] != "" and (escape[0] in "\\bfnrt" or len(escape) == 5)


def _rewritten(escape: re.Match[str], quote: str) -> str:
    if escape[1] is None:  # pyright: ignore[reportUnnecessaryComparison]
        return '\\"'
    if escape[1] == quote and quote != '"':
        return quote
    if escape[1][0] in '"\\/bfnrt' or len(escape[1]) == 5:
        return escape[0]
    return "\\" + escape[0]
