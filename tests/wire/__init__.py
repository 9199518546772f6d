"""Recorded traffic of real providers, and what must be read from it."""
