"""Deciding about calls that need permission, beyond a function in the same process.

| module | what it is |
|---|---|
| `standing` | permissions that somebody gave for a whole session, within bounds |
| `channels` | telling people elsewhere, and taking their decision: an interface, and a signed webhook |
| `elsewhere` | what waits in a store, and deciding about it from any process |

What may be decided, and what it means for a turn, stands in `tukang.runtime.people`.
"""
