"""A process that has tasks made, one in each session, says their ids, and stays: `python -m tests.tasks.asker "read 1" …`."""

from __future__ import annotations

import os
import re
import sys
import time

from tests.tasks.shop import made


def main(wishes: list[str]) -> None:
    agent = made()
    for wish in wishes:
        answer = agent.session(wish, store=os.environ["TASKS_STORE"], lease=1.0).run(wish)
        found = re.search(r"t[0-9a-f]{11}", answer.text)
        print(found[0] if found else answer.text, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1:])
