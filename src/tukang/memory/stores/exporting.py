"""Sessions as JSON lines, and back: backups, and the way from one database to the other.

Each line is an object with one key. First the turns of a session, then the session, which makes them whole:

    {"tukang": {"export": 1}}                          the form of the lines; once, at the top
    {"turn": {"id", "agent", "question", "started", "updated", "finished", "stopped",
              "events": [{"version", "kind", "data"}, …], "messages", "waits": […], "outputs": […]}}
    {"session": {"id", "created", "updated", "origin", "turns": [id, …], "kept": [{"name", "upto", "data"}, …]}}

A turn that several sessions share stands once, before the first of them. Events and messages stand as they are stored.
Leases are not exported: whoever held one has no right to the copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tukang.memory.stores.arranging import taken
from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import EventRow, event_of, messages_of, text_of, value_of
from tukang.memory.stores.errors import ImportFormatError, SessionExistsError, StoreError, UnknownSessionError
from tukang.memory.stores.leasing import first_token
from tukang.memory.stores.reading import events_of
from tukang.memory.stores.words import words_of_turn
from tukang.memory.stores.writing import add_events, add_to_history

FORM = 1
"""The form of the lines that is written today."""


class _Event(msgspec.Struct, frozen=True):
    version: int
    kind: str
    data: msgspec.Raw


class _Wait(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: str
    key: str
    asked: msgspec.Raw
    created: float
    expires: float | None = None
    answer: Any = None
    by: str = ""
    answered: float | None = None
    consumed: float | None = None


class _Output(msgspec.Struct, frozen=True):
    handle: str
    page: int
    text: str


class _Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    agent: str
    question: str
    started: float
    updated: float
    events: list[_Event]
    finished: float | None = None
    stopped: str | None = None
    messages: Any = None
    waits: list[_Wait] = []
    outputs: list[_Output] = []


class _Kept(msgspec.Struct, frozen=True):
    name: str
    upto: int
    data: msgspec.Raw


class _Session(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    created: float
    updated: float
    turns: list[str]
    origin: str | None = None
    kept: list[_Kept] = []


class _Head(msgspec.Struct, frozen=True):
    export: int


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    tukang: _Head | None = None
    turn: _Turn | None = None
    session: _Session | None = None


class Whole(msgspec.Struct, frozen=True):
    """A session with those of its turns that stand before it in the lines."""

    session: _Session
    turns: Sequence[_Turn]


HEAD = msgspec.json.encode(_Line(tukang=_Head(FORM))).decode()
"""The first line."""


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ids(db: Database) -> list[str]:
    """All sessions, the oldest first."""
    return [id for (id,) in db.all("SELECT id FROM tukang_sessions ORDER BY created, id")]


def export(db: Database, session: str, known: Collection[str]) -> tuple[list[str], list[str]]:
    """The lines of a session, without the turns that are `known`; and the ids of all its turns.

    Raises:
        UnknownSessionError: there is no such session.
    """
    row = db.one("SELECT key, created, updated, origin FROM tukang_sessions WHERE id = :id", id=session)
    if row is None:
        raise UnknownSessionError(f"there is no session {session!r} in this store")
    key, created, updated, origin = row
    turns = db.all(
        """
        SELECT t.id, t.key FROM tukang_history h JOIN tukang_turns t ON t.key = h.turn
        WHERE h.session = :key ORDER BY h.number
        """,
        key=key,
    )
    lines = [_text(_Line(turn=_turn(db, turn))) for id, turn in turns if id not in known]
    kept = [
        _Kept(name, upto, msgspec.Raw(data.encode()))
        for name, upto, data in db.all(
            "SELECT name, upto, data FROM tukang_kept WHERE session = :key ORDER BY name", key=key
        )
    ]
    whole = _Session(session, created, updated, [id for id, _ in turns], origin, kept)
    return [*lines, _text(_Line(session=whole))], whole.turns


def _turn(db: Database, turn: int) -> _Turn:
    row = db.one(
        """
        SELECT id, agent, question, started, updated, finished, stopped, messages
        FROM tukang_turns WHERE key = :turn
        """,
        turn=turn,
    )
    assert row is not None, "a read transaction sees one moment"
    id, agent, question, started, updated, finished, stopped, messages = row
    waits = db.all(
        """
        SELECT kind, name, asked, created, expires, answer, answerer, answered, consumed
        FROM tukang_waits WHERE turn = :turn ORDER BY created, kind, name
        """,
        turn=turn,
    )
    outputs = db.all("SELECT handle, page, text FROM tukang_outputs WHERE turn = :turn ORDER BY handle", turn=turn)
    return _Turn(
        id=id,
        agent=agent,
        question=question,
        started=started,
        updated=updated,
        finished=finished,
        stopped=stopped,
        messages=value_of(messages),
        events=[_Event(event.version, event.kind, msgspec.Raw(event.data.encode())) for event in events_of(db, turn)],
        waits=[
            _Wait(kind, name, msgspec.Raw(asked.encode()), created, expires, value_of(answer), by, answered, consumed)
            for kind, name, asked, created, expires, answer, by, answered, consumed in waits
        ],
        outputs=[_Output(*output) for output in outputs],
    )


def _text(line: _Line) -> str:
    return msgspec.json.encode(line).decode()


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def sessions_in(lines: Iterable[str]) -> Iterator[Whole]:
    """The sessions in an export, one after the other.

    Raises:
        ImportFormatError: a line is not of this form, or the lines end in the middle of a session.
    """
    turns: list[_Turn] = []
    began = False
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ImportFormatError(f"line {number} is not a line of an export: {error}") from error
        if line.tukang is not None:
            if line.tukang.export > FORM:
                raise ImportFormatError(
                    f"line {number}: the export has the form {line.tukang.export}; this tukang reads up to {FORM}"
                )
            began = True
        elif not began:
            raise ImportFormatError(f"line {number}: an export begins with {HEAD}")
        elif line.turn is not None:
            _check(line.turn, number)
            turns.append(line.turn)
        elif line.session is not None:
            yield Whole(line.session, turns)
            turns = []
        else:
            raise ImportFormatError(f"line {number}: neither a turn nor a session")
    if not began:
        raise ImportFormatError(f"no lines: an export begins with {HEAD}")
    if turns:
        raise ImportFormatError(f"the lines end in the middle of a session: turn {turns[-1].id} belongs to none")


def _check(turn: _Turn, number: int) -> None:
    """Whether the turn can be read later."""
    try:
        read = [event_of(_event_row(event)) for event in turn.events]
        messages = messages_of(_messages(turn))
    except StoreError as error:
        raise ImportFormatError(f"line {number}: turn {turn.id}: {error}") from error
    kinds = [type(event).__name__ for event in read]
    ended = turn.finished is not None
    if kinds[:1] != ["TurnStarted"] or ended is not (kinds[-1] == "TurnFinished") or ended is not bool(messages):
        raise ImportFormatError(f"line {number}: turn {turn.id} is not a whole journal")


def load(db: Database, whole: Whole, *, skip_existing: bool) -> bool:
    """Write a session with its turns; returns whether it did, or left one alone that is there.

    Raises:
        SessionExistsError: it is there, and `skip_existing` is not set.
        ImportFormatError: a turn is missing, or is here and is different.
    """
    db.exclude_forks()
    session = whole.session
    if db.one("SELECT 1 FROM tukang_sessions WHERE id = :id", id=session.id) is not None:
        if skip_existing:
            return False
        raise SessionExistsError(taken(session.id))
    key = db.insert(
        """
        INSERT INTO tukang_sessions (id, created, updated, origin, token)
        VALUES (:id, :created, :updated, :origin, :token)
        RETURNING key
        """,
        id=session.id,
        created=session.created,
        updated=session.updated,
        origin=session.origin,
        token=first_token(db.now()),
    )
    given = {turn.id: turn for turn in whole.turns}
    for id in session.turns:
        turn = given.get(id)
        row = db.one("SELECT key FROM tukang_turns WHERE id = :id", id=id)
        if turn is None and row is None:
            raise ImportFormatError(f"session {session.id!r}: its turn {id} is neither in the lines before it nor here")
        if turn is not None and row is not None and _text(_Line(turn=_turn(db, row[0]))) != _text(_Line(turn=turn)):
            raise ImportFormatError(f"session {session.id!r}: its turn {id} is here already, and is different")
        if row is None:
            assert turn is not None, "one of them is there"
            row = (_write(db, key, turn),)
        add_to_history(db, key, row[0])
    for kept in session.kept:
        db.change(
            "INSERT INTO tukang_kept (session, name, upto, data) VALUES (:key, :name, :upto, :data)",
            key=key,
            name=kept.name,
            upto=kept.upto,
            data=_stored(kept.data),
        )
    return True


def _write(db: Database, session: int, turn: _Turn) -> int:
    messages = _messages(turn)
    key = db.insert(
        """
        INSERT INTO tukang_turns (id, session, agent, question, started, updated, events, finished, stopped, messages)
        VALUES (:id, :session, :agent, :question, :started, :updated, :events, :finished, :stopped, :messages)
        RETURNING key
        """,
        id=turn.id,
        session=session,
        agent=turn.agent,
        question=turn.question,
        started=turn.started,
        updated=turn.updated,
        events=len(turn.events),
        finished=turn.finished,
        stopped=turn.stopped,
        messages=messages,
    )
    add_events(db, key, 0, [_event_row(event) for event in turn.events])
    if turn.finished is not None:
        db.add_words(key, words_of_turn(messages_of(messages)))
    db.many(
        """
        INSERT INTO tukang_waits (kind, name, turn, asked, created, expires, answer, answerer, answered, consumed)
        VALUES (:kind, :key, :turn, :asked, :created, :expires, :answer, :by, :answered, :consumed)
        """,
        [_wait_row(wait, key) for wait in turn.waits],
    )
    db.many(
        "INSERT INTO tukang_outputs (handle, turn, page, whole, text) VALUES (:handle, :turn, :page, :whole, :text)",
        [{**msgspec.structs.asdict(one), "turn": key, "whole": len(one.text)} for one in turn.outputs],
    )
    return key


def _wait_row(wait: _Wait, turn: int) -> dict[str, Any]:
    answer = None if wait.answered is None else text_of(wait.answer)
    return {**msgspec.structs.asdict(wait), "turn": turn, "asked": _stored(wait.asked), "answer": answer}


def _event_row(event: _Event) -> EventRow:
    return EventRow(event.version, event.kind, bytes(event.data).decode())


def _messages(turn: _Turn) -> str | None:
    return None if turn.messages is None else text_of(turn.messages)


def _stored(data: msgspec.Raw) -> str:
    return bytes(data).decode()
