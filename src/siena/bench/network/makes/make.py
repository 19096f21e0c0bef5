"""A make of network that ``siena bench network`` measures: what each broker is told."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from time import perf_counter, sleep
from typing import ClassVar, NamedTuple

from siena.bench.broker.contenders.contender import Contender
from siena.bench.network.layout import Layout
from siena.errors import SienaError

# How long brokers may take to find each other.
LINK_SECONDS = 60.0
# And how often they are asked.
ASK_SECONDS = 0.02


class Place(NamedTuple):
    """One broker of a layout that is about to be started.

    Attributes:
        called: those of its neighbours that run already.
        ports: where clients find those that run already.
    """

    number: int
    called: tuple[int, ...]
    layout: Layout
    ports: Mapping[int, int]

    @property
    def is_alone(self) -> bool:
        """Whether it is the only broker."""
        return len(self.layout.topology) == 1


class Make(ABC):
    """How a network is made of servers of one kind.

    Attributes:
        name: as the command line has it.
        is_spread: whether the processes of a broker may use all cores.
    """

    name: ClassVar[str]
    is_spread: ClassVar[bool] = False

    def why_not(self, layout: Layout) -> str | None:  # noqa: ARG002 -- most can all
        """Why these servers cannot be laid out so, if they cannot."""
        return None

    @abstractmethod
    def broker(self, place: Place) -> Contender:
        """One broker, as it is started."""

    @abstractmethod
    def client(self, layout: Layout, ports: Mapping[int, int]) -> Contender:
        """How a client talks to the network, once all brokers run."""

    def link(self, layout: Layout, ports: Mapping[int, int]) -> None:  # noqa: B027 -- most are
        """Wait until all brokers are linked, where a subscription does not show it."""


class Deadline:
    """Asks again and again, and gives up after a while."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._end = perf_counter() + LINK_SECONDS

    def pause(self) -> None:
        """Wait a little.

        Raises:
            SienaError: if it has been too long.
        """
        if perf_counter() > self._end:
            raise SienaError(self._what)
        sleep(ASK_SECONDS)
