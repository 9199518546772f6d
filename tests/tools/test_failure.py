"""Exceptions in words, without secrets."""

from __future__ import annotations

import pytest

from tukang.tools.failure import LONGEST, without_secrets, words


class Bisu(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot be written")


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ValueError("stok habis"), "ValueError: stok habis"),
        (ValueError(), "ValueError"),
        (KeyError("PRD9"), "KeyError: 'PRD9'"),
        (SystemExit(3), "SystemExit: 3"),
        (Bisu(), "Bisu"),
        (OSError("caf\udce9.txt"), "OSError: caf?.txt"),
        (ExceptionGroup("x", [ExceptionGroup("y", [OSError("putus")])]), "OSError: putus"),
    ],
)
def test_type_and_message(error: BaseException, wanted: str) -> None:
    assert words(error) == wanted


def test_a_group_of_several_keeps_its_own_message() -> None:
    assert words(ExceptionGroup("dua", [ValueError("a"), ValueError("b")])) == "ExceptionGroup: dua (2 sub-exceptions)"


def test_the_cause_and_the_traceback_stay_at_home() -> None:
    error = ValueError("luar")
    error.__cause__ = OSError("dalam")
    assert words(error) == "ValueError: luar"


def test_a_long_message_is_cut() -> None:
    assert len(words(ValueError("x" * 10_000))) < LONGEST + 50
    assert words(ValueError("x" * 10_000)).endswith("… (10000 characters)")


@pytest.mark.parametrize("piece", ["a.", "a-", "a://", "token= ", "eyJ-", "authorization: ", '"', "Bearer "])
def test_a_long_message_takes_no_longer_than_a_short_one(piece: str) -> None:
    assert len(words(ValueError(piece * 1_000_000))) < LONGEST + 100  # hangs where a pattern is tried at every place


def test_a_secret_at_the_end_of_what_is_shown_is_left_out() -> None:
    message = "x" * (LONGEST - 25) + " password=" + "rahasia" * 1000
    assert "rahasia" not in words(ValueError(message))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("connect to postgres://budi:rahasia123@db:5432/toko failed", "rahasia123"),
        ("Authorization: Bearer abcdef1234567890.xyz refused", "abcdef1234567890"),
        ('{"api_key": "k-12345", "q": 1}', "k-12345"),
        ("password=hunter2 user=budi", "hunter2"),
        ("DB_PASSWORD='two words' rest", "two words"),
        ("https://api.example/v1?access_key=zzz999&q=a", "zzz999"),
        ("Incorrect key provided: sk-proj-abcdefghij1234567890", "abcdefghij1234567890"),
        ("AKIAIOSFODNN7EXAMPLE is not authorized", "IOSFODNN7EXAMPLE"),
        ("kata sandi: rahasia123 salah", "rahasia123"),
        ("kata_sandi=rahasia123", "rahasia123"),
        ("Authorization: Token abcdef123 refused", "abcdef123"),
        ("Authorization: abcdef", "abcdef"),
        ("{'Authorization': 'Digest abcdef'}", "abcdef"),
        ("AWS Secret Access Key: wJalrXUtnFEMI", "wJalrXUtnFEMI"),
        ("GET /a?X-Amz-Signature=abcdef0123", "abcdef0123"),
        ("Set-Cookie: session=abcdef; Path=/", "abcdef"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "eyJzdWIiOiIxMjM0In0"),
    ],
)
def test_secrets_are_left_out(text: str, secret: str) -> None:
    got = without_secrets(text)
    assert secret not in got
    assert "[secret]" in got


@pytest.mark.parametrize(
    "text", ["stok PRD001 habis", "https://toko.id/a?b=c", "10:30@gudang", "the token was missing"]
)
def test_ordinary_words_stay(text: str) -> None:
    assert without_secrets(text) == text
