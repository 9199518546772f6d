"""Long-running work: a call makes a task and returns its id; the work is done outside the turn, and outlives the process.

The truth about a task is its row in the session's store (`tukang.memory.stores.task_values`). A **backend** carries its id to
where it is run; a **runner** runs it there, under a lease and a fencing token; `deciding` says what follows what.
"""
