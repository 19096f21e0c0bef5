"""One broker for a test: in a thread of it, or in a process of its own."""

from siena.broker.settings import as_settings
from siena.testing.in_process import ProcessBroker
from siena.testing.in_thread import ThreadBroker


def broker(**settings: object) -> ThreadBroker:
    """A broker for the length of a ``with`` block, at a free port of this machine.

    It runs in a thread of this process, and is there at once.

    Args:
        settings: of :class:`siena.broker.settings.Settings`.
    """
    return ThreadBroker(as_settings(settings))


def process(*options: str) -> ProcessBroker:
    """The same in a process of its own, which can be killed and frozen.

    Args:
        options: of ``siena serve``.
    """
    return ProcessBroker(options)
