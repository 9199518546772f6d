"""A server that speaks every provider's protocol from a script, so that any agent can be tried and tested with no key.

    from tukang.mock import MockServer, in_thread
    from tukang.models.scripted import Says

    with in_thread(MockServer([Says("Halo!")])) as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="any")

It is the other side of `tukang.models`: it shares the neutral vocabulary and the form of the script with the adapters, and
not a line that writes or reads a provider's wire. `tukang mock` runs it from the command line.
"""

from __future__ import annotations

from tukang.mock.script import Script
from tukang.mock.server import MockServer, Received
from tukang.mock.threaded import in_thread

__all__ = ["MockServer", "Received", "Script", "in_thread"]
