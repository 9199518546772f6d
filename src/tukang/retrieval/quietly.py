"""Products of matrices on one thread. For those of a search more threads are no faster, and each goes on spinning for a while
afterwards: beside other work on the machine that costs more than the search.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
from contextlib import AbstractContextManager
from typing import Any


def quietly() -> AbstractContextManager[Any]:
    """As long as the block, one thread; as many as there are where `threadpoolctl` is not installed."""
    controller = _controller()
    return contextlib.nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> Any:
    if importlib.util.find_spec("threadpoolctl") is None:
        return None
    importlib.import_module("numpy")  # its libraries have to be there to be found
    return importlib.import_module("threadpoolctl").ThreadpoolController()
