"""What looks like a secret in a text."""

from __future__ import annotations

import time

import pytest

from tukang.secrets import Remover, secrets_in


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("sk-ant-api03-abcdefghijklmnop", "[secret]"),
        ("key ghp_abcdefghijklmnopqrstuvwxyz0123 done", "key [secret] done"),
        ("Authorization: Bearer abcdefgh.ijkl", "Authorization: [secret]"),
        ("Authorization: Basic YnVkaTpyYWhhc2lh", "Authorization: [secret]"),
        ("sent Basic YnVkaTpyYWhhc2lh", "sent Basic [secret]"),
        ("redis://:rahasia@host/0", "redis://[secret]@host/0"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MD", "aws_secret_access_key = [secret]"),
        ("AccountKey=YWJjZGVm==;x", "AccountKey=[secret];x"),
        ("postgresql://budi:rahasia@host/db", "postgresql://[secret]@host/db"),
        ('{"password": "hun\\"ter2", "n": 1}', '{"password": "[secret]", "n": 1}'),
        ("password=hunter2&x=1", "password=[secret]&x=1"),
        ("AKIAIOSFODNN7EXAMPLE", "[secret]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter", "[secret]\nafter"),
    ],
)
def test_secrets_are_taken_out(text: str, clean: str) -> None:
    assert Remover().text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "Berapa harga SSD Samsung PRD002?",
        "https://toko.example/a?b=c#d",
        "Lihat http://user@host/ dan a@b.example",
        "secretary, tokens: 5, keyboard = 3",
        "the password is required",
        "Basic Membership, Basic authentication",
        "next_token=abcdef12, cookie: chocolate",
        '{"total_tokens": 12345, "key": "PRD002"}',
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert Remover().text(text) == text


def test_arguments_stay_json_and_stay_as_they_are_without_a_secret() -> None:
    remover = Remover(['a"b\nc'])
    assert remover.arguments('{ "x" : 1.00, "y":"é" }') == '{ "x" : 1.00, "y":"é" }'
    assert remover.arguments('{"x":"1 a\\"b\\nc 2","api_key":"z"}') == '{"x":"1 [secret] 2","api_key":"[secret]"}'
    assert remover.arguments('{"x":"a\\"b\\nc') == '{"x":"[secret]'


def test_values_of_variables_with_telling_names() -> None:
    named = {
        "OPENAI_API_KEY": "12345678",
        "tokens": "abcdefgh",
        "PATH": "/usr/bin:/bin",
        "A_TOKEN_URL": "https://x.example",
    }
    assert secrets_in(named) == {"12345678", "abcdefgh"}


def test_a_hostile_text_takes_no_longer_than_its_length() -> None:
    """Half a megabyte each, in far less than a second; a pattern that tries again and again would take minutes."""
    begun = time.process_time()
    for piece in ("key-", "password", "://a:b", "secret:", "-----BEGIN PRIVATE KEY-----", "eyJabcdefgh.", "sk-a_"):
        Remover().text(piece * (500_000 // len(piece)))
    assert time.process_time() - begun < 10
