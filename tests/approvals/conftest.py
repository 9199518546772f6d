"""Stores, as the tests of `memory` have them."""

from __future__ import annotations

from tests.memory.conftest import store, url

__all__ = ["store", "url"]
