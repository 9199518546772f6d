"""Parse and mend: what is certain is mended, valid JSON is not touched, everything else is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.arguments import difference, read, rows
from tests.tools.test_json_text import TEXT, VALUES
from tukang.tools.arguments import Parsed, parse
from tukang.tools.json_text import Unreadable

SHARED = Path(os.environ.get("TUKANG_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "arguments"

OBJECTS = st.dictionaries(TEXT, VALUES, max_size=5)
WORDS = st.text("abcxyzé", min_size=1, max_size=8)
PLAIN = st.recursive(
    st.integers(0, 99999) | WORDS | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
PLAIN_OBJECTS = st.dictionaries(WORDS, PLAIN, min_size=1, max_size=4)


@pytest.mark.parametrize("name", ["seen_in_the_wild.jsonl", "library_tests.jsonl"])
def test_the_collected_strings_are_read_as_they_should_be(name: str) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    differences = {row["raw"]: found for row in rows(path) if (found := difference(row))}
    assert differences == {}


@pytest.mark.parametrize("text", [None, "", "  \n\t", "null", " null "])
def test_blank_and_null_mean_no_arguments(text: str | None) -> None:
    assert parse(text) == Parsed({}, repaired=False)


@pytest.mark.parametrize("text", ['"null"', "[]", "42", "true", '"Bandung"', "[1]", '[{"a": 1}]'])
def test_valid_json_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="a JSON object is needed, not "):
        parse(text)


MENDED: list[tuple[str, str, Any]] = [
    ("trailing comma", '{"a": 1,}', {"a": 1}),
    ("trailing comma in an array", '{"a": [1, 2, ],}', {"a": [1, 2]}),
    ("single quotes", "{'kota': 'Bandung'}", {"kota": "Bandung"}),
    ("a double quote in single ones", "{'a': 'say \"hi\"'}", {"a": 'say "hi"'}),
    ("an escaped single quote", r"{'a': 'it\'s'}", {"a": "it's"}),
    ("curly quotes", "{“kota”: “Solo”}", {"kota": "Solo"}),
    ("single curly quotes", "{‘kota’: ‘Solo’}", {"kota": "Solo"}),
    ("keys without quotes", '{kota: "Bandung", jumlah_unit: 2}', {"kota": "Bandung", "jumlah_unit": 2}),
    ("Python's words", "{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
    ("a fence", '```json\n{"a": 1}\n```', {"a": 1}),
    ("a fence around broken notation", "```\n{'a': 1,}\n```", {"a": 1}),
    ("only the beginning of a fence", '```json\n{"a": 1}', {"a": 1}),
    ("only the end of a fence", '{"a": 1}\n```', {"a": 1}),
    ("a fence in a string, broken around it", "{'a': '```'}", {"a": "```"}),
    ("a closing tag", '{"a": 1}</tool_call>', {"a": 1}),
    ("a fence inside tags", '<tool_call>\n```json\n{"a": 1}\n```\n</tool_call>', {"a": 1}),
    ("tags of a chat template", '<tool_call>{"a": 1}</tool_call><|im_end|>', {"a": 1}),
    ("one brace too many", '{"a": {"b": 1}}}', {"a": {"b": 1}}),
    ("a bracket too many", '{"a": 1}]', {"a": 1}),
    ("closers in the wrong order", '{"a": {"b": [1, 2}]}', {"a": {"b": [1, 2]}}),
    ("a closer left out before the last", '{"a": [{"b": 1}, {"b": 2}}', {"a": [{"b": 1}, {"b": 2}]}),
    ("a raw line break", '{"a": "one\ntwo"}', {"a": "one\ntwo"}),
    ("a raw tab and a NUL", '{"a": "x\ty\x00z"}', {"a": "x\ty\x00z"}),
    ("a regular expression", r'{"a": "^\d{3}\.\w+$"}', {"a": r"^\d{3}\.\w+$"}),
    ("a regular expression with a quote", r'{"a": "\d\""}', {"a": r"\d" + '"'}),
    ("an escape character and a NUL between tokens", '\x00{"a":\x1b 1}\x00', {"a": 1}),
    ("a space without width", '\u200b{"a":\u200b 1}\u2060', {"a": 1}),
    ("a soft tag after spaces nobody sees", '{"a": 1}\u200b</tool_call>', {"a": 1}),
    ("the same key twice, the same value", "{'a': [1], 'a': [1]}", {"a": [1]}),
    ("encoded twice", '"{\\"a\\": 1}"', {"a": 1}),
    ("encoded twice, without its quotes", r"{\"a\": \"b\"}", {"a": "b"}),
    ("encoded twice, and broken inside", "\"{'a': 1}\"", {"a": 1}),
    ("encoded twice, nothing inside", '""', {}),
    ("a placeholder first", '{}{"a": 1}', {"a": 1}),
    ("two placeholders first", '{} {}\n{"a": 1}', {"a": 1}),
    ("spelled-out line breaks", '{"a":\\n[1,\\n 2]\\n}', {"a": [1, 2]}),
    ("a byte-order mark", '\ufeff{"a": 1}', {"a": 1}),
    ("no-break spaces", '{\u00a0"a":\u00a01}', {"a": 1}),
    ("big integers", "{'n': 123456789012345678901234567890}", {"n": 123456789012345678901234567890}),
]


@pytest.mark.parametrize(("text", "value"), [(text, value) for _, text, value in MENDED], ids=[it[0] for it in MENDED])
def test_notation_is_mended(text: str, value: Any) -> None:
    assert parse(text) == Parsed(value, repaired=True)


REFUSED: list[tuple[str, str]] = [
    ("cut in a string", '{"a": "b'),
    ("cut in a key", '{"a": 1, "b'),
    ("cut after a key", '{"a": 1, "b":'),
    ("cut after a comma", '{"a": 1,'),
    ("cut before the last brace", '{"a": [1, 2]'),
    ("cut in a number", '{"a": 2.'),
    ("cut in an array, single quotes", "{'a': ['x', 'y'"),
    ("cut inside, closed outside", '{"a": {"b": [1}'),
    ("an array with nothing in it, closed by a brace", '{"a": [}'),
    ("a comma, then the wrong closer", '{"a": [1, }'),
    ("a comma, then what cannot be seen and the wrong closer", '{"a": [1,\x00}'),
    ("a comma, then a spelled-out line break and the wrong closer", '{"a": [1,\\n}'),
    ("nothing but a spelled-out line break in an array", '{"a": [\\n}'),
    ("a wrong closer, then more", '{"a": [1, 2}, "b": [3]}'),
    ("a closer that was never opened", '{"a": 1]}'),
    ("quotes in quotes", '{"a": "say "hi" now"}'),
    ("an apostrophe in single quotes", "{'a': 'it's'}"),
    ("an apostrophe in single curly quotes", "{‘a’: ‘it’s’}"),
    ("cut in a string, before a fence", '{"a": "b```'),
    ("a fence, and cut", '```json\n{"a": 1'),
    ("half a pair of curly quotes", '{"a": “b"}'),
    ("two objects", '{"a": 1}{"b": 2}'),
    ("the same object twice", '{"a": 1}{"a": 1}'),
    ("an empty object after", '{"a": 1}{}'),
    ("two objects in lines", '{"a": 1}\n{"b": 2}'),
    ("prose before", 'Here it is: {"a": 1}'),
    ("prose after", '{"a": 1} is what I want'),
    ("a call", 'cek(a="b")'),
    ("source code", "def f():\n    return {'a': 1}"),
    ("an expression", '{"a": 1 + 1}'),
    ("a fraction", '{"a": 1/3}'),
    ("a string put together", '{"a": "x" + "y"}'),
    ("strings side by side", '{"a": ["x" "y"]}'),
    ("a word without quotes", '{"a": Bandung}'),
    ("a variable", '{"a": user.id}'),
    ("a call as a value", '{"a": date("2024")}'),
    ("undefined", '{"a": undefined}'),
    ("not a number", "{'a': NaN}"),
    ("infinite", "{'a': Infinity}"),
    ("a leading zero", '{"a": 007}'),
    ("thousands", '{"a": 1,000}'),
    ("an ellipsis", '{"a": [1, 2, ...]}'),
    ("a comment", '{"a": 1 /* one */}'),
    ("a missing comma", '{"a": 1 "b": 2}'),
    ("a missing colon", '{"a" 1}'),
    ("a missing value", '{"a": }'),
    ("two commas", '{"a": [1,,2]}'),
    ("a set", "{'a', 'b'}"),
    ("a number as key", "{1: 2}"),
    ("a key twice", "{'a': 1, 'a': 2}"),
    ("a path: is \\n a line break?", r'{"a": "C:\new\docs"}'),
    ("an escape of Python's", r"{'a': '\x41\d'}"),
    ("an escaped apostrophe", r'{"a": "it\'s"}'),
    ("a line break in a key", '{"kota\n": "Solo"}'),
    ("a tab in a key, single quotes", "{'kota\t': 'Solo'}"),
    ("a word of Python as key", "{None: 1}"),
    ("a word of JavaScript as key", "{true: 1}"),
    ("a key twice, a number and a boolean", "{'a': 1, 'a': True}"),
    ("valid, a key twice, a number and a boolean", '{"a": [1], "a": [true]}'),
    ("HTML entities", "{&quot;a&quot;: 1}"),
    ("a hexadecimal number", '{"a": 0x1F}'),
    ("a plus sign", '{"a": +1}'),
    ("a number that ends in a point", '{"a": 1.}'),
    ("digits of another script", '{"a": ١٢}'),
    ("a regular expression of JavaScript", '{"a": /x/}'),
    ("a template of JavaScript", '{"a": `x`}'),
    ("Python's long strings", "{'a': '''x'''}"),
    ("Python's bytes", "{'a': b'x'}"),
    ("a tuple", "{'a': (1, 2)}"),
    ("a line comment", '{"a": 1} // satu'),
    ("a comment of Python", "{'a': 1}  # satu"),
    ("a semicolon", '{"a": 1};'),
    ("fenced twice", '```json\n{"a": 1}\n```\n```json\n{"b": 1}\n```'),
    ("encoded twice, cut off", '"{\\"a\\": \\"b"'),
    ("encoded twice, an array", '"[1]"'),
    ("encoded three times", json.dumps(json.dumps(json.dumps({"a": 1})))),
    ("nested too deeply, valid", json.dumps({"a": json.loads("[" * 100 + "]" * 100)})),
    ("nested too deeply, in a fence", '```\n{"a": ' + "[" * 100 + "]" * 100 + "}\n```"),
    ("nested far too deeply, valid", '{"a":' * 50_000 + "1" + "}" * 50_000),
    ("a lone backslash at the end", '{"a": "x\\'),
    ("an assignment", "a=b"),
    ("tags as arguments", "<parameter=kota>Bandung</parameter>"),
    ("only a fence", "```json\n```"),
    ("only a brace", "{"),
    ("nested without end", "{'a':" * 5000),
    ("nested too deeply, closed", '{"a":' * 150 + "1" + "}" * 150),
]


@pytest.mark.parametrize("text", [text for _, text in REFUSED], ids=[it[0] for it in REFUSED])
def test_what_is_not_certain_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text)


def test_a_refusal_says_what_and_where() -> None:
    with pytest.raises(Unreadable, match=r"a text without quotes, at character 7, near: \{\"a\": Bandung\}"):
        parse('{"a": Bandung}')


def test_a_refusal_of_cut_off_text_asks_for_all_of_it() -> None:
    with pytest.raises(Unreadable, match="stops in the middle") as refusal:
        parse('{"perintah": ["npm install", "npm test"')
    assert refusal.value.hint
    assert "whole object" in refusal.value.hint


MEGABYTE = 2**20
ENDLESS = {
    "spaces": "{" + " " * MEGABYTE + "x",
    "fence": "```" + " " * MEGABYTE,
    "tags": "<a>" * MEGABYTE,
    "closing tags": "</a>" * MEGABYTE,
    "a tag that does not end": "x" * MEGABYTE + "<" + "a" * MEGABYTE + ">",
    "backslashes": "{'" + "\\\\" * MEGABYTE,
    "a string that does not end": '{"a": "' + "x" * 10 * MEGABYTE,
    "digits": '{"a": ' + "9" * 10 * MEGABYTE + "}",
    "braces": "{" * 10 * MEGABYTE,
    "brackets": '{"a": ' + "[" * MEGABYTE + "]" * MEGABYTE + "}",
    "a key twice": f'{{"{"k" * MEGABYTE}": 1, "{"k" * MEGABYTE}": 2}}',
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_refusal_takes_no_longer_than_the_text(text: str) -> None:
    with pytest.raises(Unreadable) as refusal:  # hangs for minutes where a pattern backtracks
        parse(text)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("quote", ['"', "'"])
def test_ten_megabytes_are_read(quote: str) -> None:
    assert parse(f"{{{quote}a{quote}: {quote}{'é' * 10 * MEGABYTE}{quote}}}").arguments == {"a": "é" * 10 * MEGABYTE}


def test_a_hundred_levels_are_read() -> None:
    value = {"a": json.loads("[" * 99 + "1" + "]" * 99), "b": [1]}
    assert parse(json.dumps(value)) == Parsed(value)
    assert parse(repr(value)) == Parsed(value, repaired=True)


@given(OBJECTS)
def test_valid_objects_are_never_touched(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        assert parse(text) == Parsed(value, repaired=False)


@given(PLAIN_OBJECTS, st.data())
def test_cut_off_text_is_never_read(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    assert isinstance(read(text[: data.draw(st.integers(1, len(text) - 1))]), Unreadable)


@given(PLAIN_OBJECTS, st.data())
def test_cut_off_text_in_python_notation_is_never_read(value: dict[str, Any], data: st.DataObject) -> None:
    text = repr(value)
    assert isinstance(read(text[: data.draw(st.integers(1, len(text) - 1))]), Unreadable)


@given(PLAIN_OBJECTS, PLAIN_OBJECTS, st.sampled_from(["", " ", "\n", ",", ";"]))
def test_two_objects_are_never_one(first: dict[str, Any], second: dict[str, Any], between: str) -> None:
    assert isinstance(read(json.dumps(first) + between + json.dumps(second)), Unreadable)


@given(PLAIN_OBJECTS)
def test_python_notation_is_read_back(value: dict[str, Any]) -> None:
    assert parse(repr(value)).arguments == value


def scraps(value: Any) -> list[str]:
    """Every string and number in a value, keys too."""
    if isinstance(value, dict):
        return [it for pair in value.items() for side in pair for it in scraps(side)]
    if isinstance(value, list):
        return [it for item in value for it in scraps(item)]
    return [str(value)] if isinstance(value, (str, int)) and not isinstance(value, bool) else []


DAMAGE = st.tuples(st.integers(0, 99), st.integers(0, 4), st.text("{}[],:'\" \n`xe17", max_size=3))


@given(PLAIN_OBJECTS, st.booleans(), st.lists(DAMAGE, min_size=1, max_size=3))
def test_whatever_is_done_to_a_text_nothing_is_invented(
    value: dict[str, Any], python: bool, damage: list[tuple[int, int, str]]
) -> None:
    text = repr(value) if python else json.dumps(value, ensure_ascii=False)
    for start, width, put in damage:
        text = text[:start] + put + text[start + width :]
    got = read(text)
    assert isinstance(got, Unreadable) or all(scrap in text for scrap in scraps(got.arguments))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(read(text), (Parsed, Unreadable))
