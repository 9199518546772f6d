"""What a shell may see and take, as a command line of bubblewrap's. Pure, but for a look at how this system is laid out.

Inside there are the programs of `/usr`, one directory that may be written, a `/tmp` of its own, and nothing else of the
host: no home, no `/etc`, no environment, no other process, no network unless it is asked for. Everything in it dies with the
program that started it.

Where the program runs as root, root's own files of the kernel's are covered as well: without its powers root is still who
owns `/proc/sys`, and may write there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

NOBODY = "1000"
"""Who one is inside, whoever one is outside."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates")
_NOT_TO_WRITE = ("bus", "fs", "irq", "sys", "sysrq-trigger")
_NOT_TO_READ = (
    *("acpi", "allocinfo", "asound", "driver", "dynamic_debug", "kcore", "key-users", "keys", "kmsg", "kpagecgroup"),
    *("kpagecount", "kpageflags", "latency_stats", "mtrr", "pagetypeinfo", "sched_debug", "scsi", "slabinfo"),
    *("timer_list", "vmallocinfo"),
)


class Bounds(msgspec.Struct, frozen=True):
    """What a shell and all it starts may take together.

    Args:
        seconds: for one command; then the whole shell is ended, with everything it started.
        processes: that run at the same time.
        memory: megabytes.
        files: megabytes of one file, and of all in `/tmp`.
        output: characters of a command's output that are kept, half of them from its beginning and half from its end.
        idle: seconds after which a shell that nobody uses is ended.
        shells: that are kept at the same time, one for each session; the one that was not used for longest is ended.
    """

    seconds: float = 60
    processes: int = 64
    memory: int = 1024
    files: int = 256
    output: int = 400_000
    idle: float = 900
    shells: int = 8

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)!r}")


def command_line(
    bwrap: str,
    directory: Path,
    shown: str,
    bounds: Bounds,
    *,
    read_only: Iterable[Path] = (),
    network: bool = False,
    info: int | None = None,
) -> list[str]:
    """Bubblewrap with all its options; the program to run comes behind.

    Args:
        bwrap: where it is.
        directory: what may be written.
        shown: what that is called inside.
        bounds: of these, what a file system can hold to.
        read_only: more of the host that may be read, at the same places.
        network: whether the host's network is there.
        info: a descriptor that is told the process.
    """
    line = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    line += ["--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox", "--cap-drop", "ALL", "--clearenv"]
    if network:
        line.append("--share-net")
    if info is not None:
        line += ["--info-fd", str(info)]
    line += ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        place = Path("/", name)
        if place.is_symlink():
            line += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            line += ["--ro-bind", str(place), str(place)]
    for place in (*_ETC, *(_NETWORK if network else ())):
        line += ["--ro-bind-try", place, place]
    line += _kernel()
    line += ["--size", str(bounds.files << 20), "--tmpfs", "/tmp"]
    for place in map(str, read_only):  # behind /tmp, for it may be in there
        line += ["--ro-bind", place, place]
    line += ["--bind", str(directory), shown, "--chdir", shown, "--remount-ro", "/"]
    for name, value in {"PATH": _PATH, "HOME": "/tmp", "USER": "user", "LANG": "C.UTF-8", "TERM": "dumb"}.items():
        line += ["--setenv", name, value]
    return line


def _kernel() -> list[str]:
    """`/proc` and `/dev`, with what in them is the whole machine's covered."""
    line = ["--proc", "/proc"]
    for name in _NOT_TO_WRITE:
        place = f"/proc/{name}"
        if os.path.exists(place):
            line += ["--ro-bind", place, place]
    for name in _NOT_TO_READ:
        place = f"/proc/{name}"
        if os.path.isdir(place):
            line += ["--tmpfs", place, "--remount-ro", place]
        elif os.path.exists(place):
            line += ["--ro-bind", "/dev/null", place]
    return [*line, "--dev", "/dev", "--size", str(16 << 20), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
