"""Brokers and networks for tests: real ones, on free ports of this machine.

>>> import siena, siena.testing
>>> with siena.testing.broker() as broker, siena.connect(broker.url) as client:
...     subscription = client.subscribe("level > 3").settled()
...     client.publish(what="alarm", level=5)
...     print(subscription.get(timeout_s=5))
level = 5 and what = alarm

From the ground up: ``running`` → ``in_thread``, ``in_process`` →
``network``; one broker is started here.  ``chaos`` hurts real brokers, and judges what
became of their promises.
"""

from siena.broker.settings import as_settings
from siena.testing.in_process import ProcessBroker
from siena.testing.in_thread import ThreadBroker
from siena.testing.network import RunningNetwork, network
from siena.testing.running import RunningBroker

__all__ = ["RunningBroker", "RunningNetwork", "broker", "network", "process"]


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
