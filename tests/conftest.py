"""What holds for every test."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from tests.collecting import keep_what_is_compiled, pytest_collection
from tests.moto_server import amazon, amazon_server
from tests.postgres import postgres_server, postgres_url
from tests.sizes import examples

# for every test that wants a real Postgres, or an Amazon that is played
__all__ = ["amazon", "amazon_server", "postgres_server", "postgres_url", "pytest_collection"]

keep_what_is_compiled()

# A shell that starts a job in the background has it ignore Ctrl-C, and every process below inherits that; the tests about
# Ctrl-C need it to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test of properties is about time, on machines that other work shares. CI judges a commit by the same examples each time.
settings.register_profile(
    "unhurried",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="TUKANG_SAME_EXAMPLES" in os.environ,
)
settings.load_profile("unhurried")
