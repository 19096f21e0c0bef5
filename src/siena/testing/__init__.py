"""Brokers and networks for tests: real ones, on free ports of this machine.

>>> import siena, siena.testing
>>> with siena.testing.broker() as broker, siena.connect(broker.url) as client:
...     subscription = client.subscribe("level > 3").settled()
...     client.publish(what="alarm", level=5)
...     print(subscription.get(timeout_s=5))
level = 5 and what = alarm

From the ground up: ``running`` → ``in_thread``, ``in_process`` → ``starting``,
``network``.
"""

from siena.testing.network import RunningNetwork, network
from siena.testing.running import RunningBroker
from siena.testing.starting import broker, process

__all__ = ["RunningBroker", "RunningNetwork", "broker", "network", "process"]
