"""`python -m tukang`: the command line, for when the `tukang` command is not on the path."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from tukang.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # so early that nobody else was there to hear it
        sys.exit(130)
