"""Where sessions are kept: one protocol (`base`), SQLite in core, Postgres as an extra.

`tukang.memory.stores.addresses.store_at(url)` gives the store behind an address.
"""
