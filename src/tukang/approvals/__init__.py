"""Deciding about calls that need permission, beyond a function in the same process.

| module | what it is |
|---|---|
| `standing` | permissions that somebody gave for a whole session, within bounds |
| `channels` | telling people elsewhere, and taking their decision: an interface, and a signed webhook |
| `step_functions` | a channel that asks through a state machine of AWS Step Functions, which waits with a task token |
| `task_token` | the other end of such a token: a person's decision, or an agent that is a step itself |
| `states` | the requests to Step Functions |
| `elsewhere` | what waits in a store, and deciding about it from any process |

What may be decided, and what it means for a turn, stands in `tukang.runtime.people`.
"""
