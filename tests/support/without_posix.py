"""``siena`` without what Windows lacks: the command, where that is hidden from it.

    python tests/support/without_posix.py serve

It hides what the standard library has on other systems only, and uvloop.  What Windows
does otherwise, such as files and paths, is not shown by it.
"""

import asyncio
import ctypes
import os
import signal
import socket
import sys
from typing import Never

MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "uvloop")
FUNCTIONS = ("fchmod", "pread", "pwrite", "sched_getaffinity", "sysconf", "writev")
SIGNALS = ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGCHLD")


def no_library(*_: object) -> Never:
    """Windows has no library of all that the process has loaded."""
    raise TypeError("LoadLibrary() argument 1 must be str, not None")


def no_signals(*_: object) -> Never:
    """Nor do its loops hear signals."""
    raise NotImplementedError


def hide() -> None:
    """From now on this process is without."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, FUNCTIONS), (signal, SIGNALS)):
        for name in names:
            delattr(module, name)
    del socket.SO_REUSEPORT
    ctypes.CDLL = no_library  # type: ignore[misc, assignment]
    setattr(asyncio.SelectorEventLoop, "add_signal_handler", no_signals)  # noqa: B010


if __name__ == "__main__":
    hide()
    from siena.cli.main import main

    main()
