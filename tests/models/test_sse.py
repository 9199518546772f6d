"""Server-sent events come out the same wherever their bytes were cut."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tukang.models.sse import EventDecoder


def decoded(chunks: Sequence[bytes]) -> list[tuple[str, bytes]]:
    decoder = EventDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [(event.name, event.data) for event in [*events, *decoder.end()]]


def test_an_event_is_delivered_as_soon_as_its_blank_line_is_there() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert [event.data for event in decoder.feed(b"\ndata: b")] == [b"a"]


def test_line_ends_of_all_three_kinds() -> None:
    assert decoded([b"data: a\r\n\r\ndata: b\r\rdata: c\n\n"]) == [("", b"a"), ("", b"b"), ("", b"c")]


def test_a_carriage_return_and_its_line_feed_in_two_chunks_are_one_line_end() -> None:
    assert decoded([b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]) == [("", b"a\nb")]
    assert [event.data for event in EventDecoder().feed(b"data: a\r\r")] == [b"a"]


def test_comments_ids_retries_and_unknown_fields_are_read_over() -> None:
    assert decoded([b": ping\n\nid: 7\nretry: 10\nother\ndata: a\n: still here\n\n:\n\n"]) == [("", b"a")]


def test_several_data_lines_are_one_event() -> None:
    assert decoded([b"data: {\ndata:  1\ndata\ndata:}\n\n"]) == [("", b"{\n 1\n\n}")]


def test_the_name_belongs_to_one_event_only() -> None:
    assert decoded([b"event: error\ndata: a\n\ndata: b\n\nevent: lost\n\ndata: c\n\n"]) == [
        ("error", b"a"),
        ("", b"b"),
        ("", b"c"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert decoded([b"\xef", b"\xbb\xbfdata: a\n\n"]) == [("", b"a")]


def test_the_end_delivers_what_lacks_its_blank_line() -> None:
    assert decoded([b"data: a\n\ndata: [DONE]"]) == [("", b"a"), ("", b"[DONE]")]
    assert decoded([b"data: a\n"]) == [("", b"a")]
    assert decoded([b""]) == []


_FIELDS = st.lists(
    st.sampled_from(
        ["data: é", "data: harga Rp 1.200.000 ✓ 𝄞", "data:", "event: error", ": ping", "id: 1", "", "", "x"]
    )
)


@given(_FIELDS, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_cuts_change_nothing(lines: list[str], line_end: str, data: st.DataObject) -> None:
    body = "".join(line + line_end for line in lines).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    chunks = [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]
    whole = decoded([body])
    assert decoded(chunks) == whole
    assert decoded([body[place : place + 1] for place in range(len(body))]) == whole


@given(_FIELDS)
def test_the_short_way_reads_as_the_specification_says(lines: list[str]) -> None:
    """Against the specification's own procedure, line by line."""
    expected: list[bytes] = []
    data: list[bytes] = []
    for line in [*lines, ""]:
        if line == "":
            if data:
                expected.append(b"\n".join(data))
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" ").encode())
    body = "".join(line + "\n" for line in lines).encode()
    assert [text for _, text in decoded([body])] == expected
