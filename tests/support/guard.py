"""A guard that keeps a test inside this process, if it is asked to.

What opens a connection, starts a process or imports Spark raises an event that Python's
auditing sees, wherever it comes from; while the guard is on, it refuses the event.  An
audit hook cannot be taken away again, so that there is one, with a switch.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

REFUSED = {
    *("socket.bind", "socket.connect", "socket.sendto"),
    *("subprocess.Popen", "os.exec", "os.fork", "os.posix_spawn", "os.system"),
}
_is_on = False


class NotAUnitTestError(BaseException):
    """A test needs more than this process: it belongs to ``tests/integration``.

    No ``Exception``, so that nothing takes it for an error of the network.
    """


@contextmanager
def only_this_process() -> Iterator[None]:
    """Refuse connections, processes and Spark within the block."""
    global _is_on  # noqa: PLW0603 -- the one switch of the one hook
    _is_on = True
    try:
        yield
    finally:
        _is_on = False


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if _is_on and (
        event in REFUSED
        or (event == "import" and str(arguments[0]).split(".")[0] == "pyspark")
    ):
        raise NotAUnitTestError(event)


sys.addaudithook(_refuse)
