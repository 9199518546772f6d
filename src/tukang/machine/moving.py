"""A new name for what has one, if nothing has that name yet: in one step where the system can do that, so that a program
which is ended in the middle leaves no file with two names and none with half of its content.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from functools import cache
from typing import Any

_NO_REPLACE = 1


def moved(there: int, old: str, here: int, new: str) -> None:
    """Move a file or a folder.

    Args:
        there, old: the folder it is in, as a descriptor, and its name.
        here, new: those it is to have.

    Raises:
        OSError: something has the new name (`FileExistsError`), or it cannot be moved there.
    """
    rename = _rename()
    if rename is not None:
        if rename(there, os.fsencode(old), here, os.fsencode(new), _NO_REPLACE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # those: not on this file system
            raise OSError(number, os.strerror(number))
    _in_two_steps(there, old, here, new)


@cache
def _rename() -> Any:
    with suppress(AttributeError):  # not the C library of GNU or musl, or an old one
        return ctypes.CDLL(None, use_errno=True).renameat2
    return None


def _in_two_steps(there: int, old: str, here: int, new: str) -> None:
    try:
        os.link(old, new, src_dir_fd=there, dst_dir_fd=here, follow_symlinks=False)
    except PermissionError:  # a folder has one name only; an empty one may be replaced by another
        os.mkdir(new, dir_fd=here)
        try:
            os.rename(old, new, src_dir_fd=there, dst_dir_fd=here)
        except OSError:
            os.rmdir(new, dir_fd=here)
            raise
        return
    try:
        os.unlink(old, dir_fd=there)
    except OSError:
        os.unlink(new, dir_fd=here)
        raise
