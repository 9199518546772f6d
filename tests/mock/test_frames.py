"""Frames are read by those who read the real ones: botocore for Amazon's."""

from __future__ import annotations

import json

from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st

from tukang.mock.frames import aws_event, aws_exception, line, sse


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.text(), st.text()), min_size=1, max_size=3), st.integers(1, 40))
def test_amazons_frames_are_read_in_whatever_pieces_they_come(bodies: list[dict[str, str]], size: int) -> None:
    data = b"".join(aws_event("contentBlockDelta", body).data for body in bodies)
    buffer = EventStreamBuffer()
    heard = []
    for start in range(0, len(data), size):
        buffer.add_data(data[start : start + size])
        heard += list(buffer)
    assert [json.loads(message.payload) for message in heard] == bodies
    assert {message.headers[":event-type"] for message in heard} == {"contentBlockDelta"}
    assert {message.headers[":message-type"] for message in heard} == {"event"}


def test_an_exception_in_amazons_frames_is_known_as_one() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(aws_exception("throttlingException", {"message": "pelan"}).data)
    read = next(iter(buffer)).to_response_dict()
    assert read["status_code"] == 400
    assert read["headers"][":exception-type"] == "throttlingException"
    assert json.loads(read["body"]) == {"message": "pelan"}


def test_events_and_lines_keep_line_breaks_inside_their_json() -> None:
    assert sse({"a": "1\n2"}, "x", delta=True).data == b'event: x\ndata: {"a":"1\\n2"}\n\n'
    assert sse({}).data == b"data: {}\n\n"
    assert line({"a": "1\n2"}).data == b'{"a":"1\\n2"}\n'
