"""What holds for every test."""

from __future__ import annotations

import signal

# A shell that starts a job in the background has it ignore Ctrl-C, and every process below inherits that; the tests about
# Ctrl-C need it to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
