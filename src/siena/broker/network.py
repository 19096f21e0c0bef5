"""A network of brokers that one file describes, all in this process.

Each broker listens at an address of its own and is linked to others over real
connections, as if it were elsewhere.
"""

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from siena.broker.access.certificates import Certificates
from siena.broker.access.settings import Access, Name, Strict, Tls
from siena.broker.broker import Broker
from siena.broker.settings import (
    Limits,
    LinkSettings,
    Routing,
    Settings,
    Side,
    Weight,
    read_toml,
)
from siena.broker.settings_errors import explained
from siena.errors import InvalidTopologyError, SienaError

Architecture = Literal["hierarchical", "acyclic", "general", "hybrid"]
# What brokers take each other for; in a hybrid network each link says so itself.
_SIDES: dict[Architecture, Side] = {
    "hierarchical": "master",
    "acyclic": "peer",
    "general": "mesh",
}
# More than anybody runs in one process.
BROKERS_MAX = 1_000
# How long all links together may take to come up.
LINKED_SECONDS_MAX = 30.0


class NetworkBroker(Strict, frozen=True):
    """One broker."""

    name: Name
    listen: str = "127.0.0.1:0"
    http: str | None = None


class NetworkLink(Strict, frozen=True):
    """A link: the first calls the second, and takes it for ``role``."""

    caller: str = field(name="from")
    called: str = field(name="to")
    weight: Weight = 1.0
    role: Side | None = None


class NetworkSettings(Strict, frozen=True):
    """Brokers and links; in a hierarchy links go from each broker to its master."""

    brokers: Annotated[
        tuple[NetworkBroker, ...], Meta(min_length=1, max_length=BROKERS_MAX)
    ]
    links: tuple[NetworkLink, ...] = ()
    architecture: Architecture = "acyclic"
    routing: Routing = field(default_factory=Routing)
    limits: Limits = field(default_factory=Limits)
    insecure_listen: bool = False
    # Of all of them; in [tls], {name} stands for the name of each.
    tls: Tls | None = None
    access: Access | None = None

    def at(self, folder: Path) -> "NetworkSettings":
        """With the files of ``[tls]`` and ``[access]`` that lie in a folder."""
        return msgspec.structs.replace(
            self,
            tls=self.tls and self.tls.at(folder),
            access=self.access and self.access.at(folder),
        )

    def side(self, link: NetworkLink) -> Side:
        """What its caller takes the other for."""
        side = _SIDES.get(self.architecture, link.role)
        if side is None or link.role not in {None, side}:
            has = "no" if link.role is None else "another"
            raise InvalidTopologyError(
                f"the link from {link.caller} to {link.called} has {has} role",
                hint="role is master, peer or mesh, and only for hybrid networks",
            )
        return side

    def check(self) -> None:
        """Refuse what is no network of its architecture.

        Raises:
            InvalidTopologyError: with what is wrong.
        """
        names = [broker.name for broker in self.brokers]
        for name in names:
            if names.count(name) > 1:
                raise InvalidTopologyError(f"two brokers are called {name}")
        for link in self.links:
            for end in (link.caller, link.called):
                if end not in names:
                    raise InvalidTopologyError(f"there is no broker {end}")
        masters = [link.caller for link in self.links if self.side(link) == "master"]
        for name in masters:
            if masters.count(name) > 1:
                raise InvalidTopologyError(f"broker {name} has two masters")
        if masters and self.routing.forwarding == "advertisement":
            raise InvalidTopologyError("a hierarchy does not forward advertisements")
        self._check_cycles(names)

    def _check_cycles(self, names: Iterable[str]) -> None:
        """With each mesh taken for one broker, there must be no cycle."""
        leader = {name: name for name in names}

        def find(name: str) -> str:
            while leader[name] != name:
                name = leader[name]
            return name

        for link in sorted(self.links, key=lambda link: self.side(link) != "mesh"):
            one, other = find(link.caller), find(link.called)
            is_cycle = one == other and self.side(link) != "mesh"
            if is_cycle or link.caller == link.called:
                raise InvalidTopologyError(
                    f"the link from {link.caller} to {link.called} closes a cycle",
                    hint='architecture = "general" allows cycles',
                )
            leader[one] = other


def read_network(path: Path) -> NetworkSettings:
    """The network that a file describes.

    Raises:
        SienaError: with the place, if it describes none.
    """
    try:
        settings = msgspec.convert(read_toml(path), NetworkSettings)
        settings.check()
    except msgspec.ValidationError as error:
        raise explained(error, NetworkSettings).about(str(path)) from None
    except InvalidTopologyError as error:
        raise error.about(str(path)) from None
    return settings.at(path.parent)


def serving_http(settings: NetworkSettings, where: str) -> NetworkSettings:
    """The same network, with HTTP at its first broker."""
    first, *others = settings.brokers
    brokers = (msgspec.structs.replace(first, http=where), *others)
    return msgspec.structs.replace(settings, brokers=brokers)


class Network:
    """The brokers of a network, by name.

    Ownership: as for one broker, the caller that starts it drains it.
    """

    def __init__(self, settings: NetworkSettings) -> None:
        settings.check()
        self.settings = settings
        self.brokers: dict[str, Broker] = {}

    async def start(self) -> None:
        """Start all brokers, and wait until all links are up.

        Raises:
            SienaError: if one cannot listen, or the links do not come up.
        """
        async with AsyncExitStack() as stack:
            for each in self.settings.brokers:
                broker = Broker(self._settings(each))
                await broker.start()
                stack.push_async_callback(broker.drain)
                self.brokers[each.name] = broker
            for name, broker in self.brokers.items():
                broker.links.call(self._links(name))
            await self._linked()
            stack.pop_all()

    async def drain(self) -> None:
        """End all brokers."""
        async with asyncio.TaskGroup() as tasks:
            for broker in self.brokers.values():
                tasks.create_task(broker.drain())

    def reload(self, settings: NetworkSettings) -> list[str]:
        """Let all brokers take over who may come; the names of what they cannot.

        Raises:
            SienaError: if something is wrong with it, and then nothing has changed.
        """
        new = msgspec.structs.replace(
            self.settings, tls=settings.tls, access=settings.access
        )
        for broker in self.brokers.values():  # all of them can, or none does
            broker.access.prepare(new.access)
            Certificates(new.tls and new.tls.of(broker.name))
        self.settings = new
        for each in new.brokers:
            mine = msgspec.structs.replace(
                self._settings(each), links=self._links(each.name)
            )
            self.brokers[each.name].reload(mine)
        names = settings.__struct_fields__
        return [n for n in names if getattr(settings, n) != getattr(new, n)]

    def _settings(self, broker: NetworkBroker) -> Settings:
        return Settings(
            name=broker.name,
            listen=(broker.listen,),
            http=broker.http,
            accept_peers=any(
                link.called == broker.name for link in self.settings.links
            ),
            insecure_listen=self.settings.insecure_listen,
            routing=self.settings.routing,
            limits=self.settings.limits,
            tls=self.settings.tls,
            access=self.settings.access,
        )

    def _links(self, name: str) -> tuple[LinkSettings, ...]:
        return tuple(
            LinkSettings(
                url=self.brokers[link.called].addresses[0].url,
                side=self.settings.side(link),
                weight=link.weight,
            )
            for link in self.settings.links
            if link.caller == name
        )

    async def _linked(self) -> None:
        wanted = 2 * len(self.settings.links)
        try:
            async with asyncio.timeout(LINKED_SECONDS_MAX):
                while sum(len(b.state.links) for b in self.brokers.values()) < wanted:  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise SienaError("not all links of the network came up") from None
