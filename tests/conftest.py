"""What holds for every test."""

from __future__ import annotations

import signal

from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]  # for every test that wants a real Postgres

# A shell that starts a job in the background has it ignore Ctrl-C, and every process below inherits that; the tests about
# Ctrl-C need it to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
