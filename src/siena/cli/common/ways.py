"""The ways of a notification through a network, by the tables of its brokers."""

from dataclasses import asdict, dataclass, field

from siena.algebra.explanation import Reason, explain_matches
from siena.cli.common.observing import Form
from siena.cli.common.surveying import Found
from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.model import Notification

_BROKER = "broker "
# Why a broker that is above another gets what that has.
TO_MASTER = "it is the master"


@dataclass(frozen=True, slots=True)
class Nearest:
    """A filter that selects almost what was published: what it missed."""

    text: str
    who: str
    missed: list[Reason]


@dataclass(slots=True)
class Step:
    """What happens at one broker; each of who gets it, and the filter why.

    Where no client does, ``nearest`` is the filter with the fewest constraints that
    fail.
    """

    broker: str
    came_from: str | None
    clients: list[tuple[str, str]] = field(default_factory=list)
    brokers: list[tuple[str, str]] = field(default_factory=list)
    is_complete: bool = True
    error: str = ""
    nearest: Nearest | None = None

    def form(self) -> Form:
        """As JSON, for scripts."""
        return {
            "broker": self.broker,
            "came_from": self.came_from,
            "clients": dict(self.clients),
            "brokers": dict(self.brokers),
            "complete": self.is_complete,
            **({"error": self.error} if self.error else {}),
            **({"nearest": asdict(self.nearest)} if self.nearest else {}),
        }


def ways(found: dict[str, Found], n: Notification) -> list[Step]:
    """Where a notification comes that is published at the first broker.

    >>> table = {"shown": [{"text": "x > 3", "holders": ["broker b", "client 1/1"]}]}
    >>> a = Found("a", tables={"filters": {**table, "complete": True}})
    >>> none = {"filters": {"shown": [], "complete": True}}
    >>> steps = ways({"a": a, "b": Found("b", tables=none)}, Notification(x=4))
    >>> [(step.broker, step.came_from, step.clients) for step in steps]
    [('a', None, [('client 1/1', 'x > 3')]), ('b', 'a', [])]
    """
    if not found:
        return []
    queue: list[tuple[str, str | None]] = [(next(iter(found)), None)]
    steps: list[Step] = []
    seen = {queue[0][0]}
    for name, came_from in queue:  # it grows
        broker = found.get(name, Found(name, error="it was not looked at"))
        step = _step(broker, came_from, n)
        steps.append(step)
        for who, _ in step.brokers:
            other = who.removeprefix(_BROKER)
            if other not in seen:
                seen.add(other)
                queue.append((other, name))
    return steps


@dataclass(frozen=True, slots=True)
class Missing:
    """A link that a notification does not take: what was asked there, and by whom not.

    ``wants`` are those behind it who would have taken it: then a route is missing.
    """

    source: str
    target: str
    asked: int
    nearest: Nearest | None
    wants: list[tuple[str, str]]

    def form(self) -> Form:
        """As JSON, for pages."""
        nearest = asdict(self.nearest) if self.nearest else None
        return {
            "from": self.source,
            "to": self.target,
            "asked": self.asked,
            "nearest": nearest,
            "wants": dict(self.wants),
        }


def missing_routes(
    found: dict[str, Found], steps: list[Step], n: Notification
) -> list[Missing]:
    """The links that lead on from where it comes, and that it does not take.

    >>> asked = {"text": "x > 3", "holders": ["broker b"]}
    >>> table = {"shown": [asked], "complete": True}
    >>> link = {"name": "b", "side": "peer"}
    >>> a = Found("a", links=[link], tables={"filters": table})
    >>> n = Notification(x=2)
    >>> missing_routes({"a": a}, ways({"a": a}, n), n)[0].nearest.missed[0].because
    'x = 2'
    """
    reached = {step.broker for step in steps}
    routes = []
    for step in steps:
        broker = found.get(step.broker, Found(step.broker))
        routes += [
            _missing(broker, found.get(link["name"]), link, n)
            for link in broker.links
            if link["name"] not in reached
        ]
    return routes


def _missing(
    broker: Found, other: Found | None, link: Form, n: Notification
) -> Missing:
    name = link["name"]
    asked = [
        entry
        for entry in broker.tables.get("filters", {}).get("shown", [])
        if _BROKER + name in entry["holders"]
    ]
    nearest: Nearest | None = None
    for entry in asked:
        missed = _missed(entry["text"], n)
        if missed and (nearest is None or len(missed) < len(nearest.missed)):
            nearest = Nearest(entry["text"], _BROKER + name, missed)
    wants = [] if other is None else _step(other, broker.name, n).clients
    return Missing(broker.name, name, len(asked), nearest, wants)


def _step(broker: Found, came_from: str | None, n: Notification) -> Step:
    step = Step(broker.name, came_from, error=broker.error)
    table = broker.tables.get("filters", {"shown": [], "complete": True})
    step.is_complete = table["complete"]
    clients: dict[str, str] = {}
    brokers: dict[str, str] = {}
    nearest: Nearest | None = None
    for link in broker.links:
        if link["side"] == "master" and link["name"] != came_from:
            brokers[_BROKER + link["name"]] = TO_MASTER
    for entry in table["shown"]:
        missed = _missed(entry["text"], n)
        if missed is None:
            step.is_complete = False
            continue
        if missed:
            if nearest is None or len(missed) < len(nearest.missed):
                nearest = Nearest(entry["text"], entry["holders"][0], missed)
            continue
        for who in entry["holders"]:
            is_broker = who.startswith(_BROKER)
            if is_broker and who.removeprefix(_BROKER) == came_from:
                continue
            (brokers if is_broker else clients).setdefault(who, entry["text"])
    step.clients, step.brokers = sorted(clients.items()), sorted(brokers.items())
    if not clients and not brokers:
        step.nearest = nearest
    return step


def _missed(text: str, n: Notification) -> list[Reason] | None:
    """The constraints that fail; ``None`` if the text is too long to be shown whole."""
    try:
        wanted = parse_filter(text)
    except SienaError:
        return None
    return [reason for reason in explain_matches(wanted, n) if not reason.holds]
