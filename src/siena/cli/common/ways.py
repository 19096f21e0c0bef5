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

    ``is_complete`` says whether all of its filters were asked.  Where none matches,
    ``nearest`` is the filter with the fewest constraints that fail, of those that were
    compared here: maybe not all.
    """

    broker: str
    came_from: str | None
    clients: list[tuple[str, str]] = field(default_factory=list)
    brokers: list[tuple[str, str]] = field(default_factory=list)
    is_complete: bool = True
    error: str = ""
    nearest: Nearest | None = None
    compared: int = 0
    has_compared_all: bool = True

    def form(self) -> Form:
        """As JSON, for scripts."""
        return {
            "broker": self.broker,
            "came_from": self.came_from,
            "clients": dict(self.clients),
            "brokers": dict(self.brokers),
            "complete": self.is_complete,
            "compared": self.compared,
            "compared_all": self.has_compared_all,
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

    Of what was asked, ``compared`` were shown.  ``wants`` are those behind it who would
    have taken it: then a route is missing.
    """

    source: str
    target: str
    asked: int
    compared: int
    nearest: Nearest | None
    wants: list[tuple[str, str]]

    def form(self) -> Form:
        """As JSON, for pages."""
        nearest = asdict(self.nearest) if self.nearest else None
        return {
            "from": self.source,
            "to": self.target,
            "asked": self.asked,
            "compared": self.compared,
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
    # Of which it may have shown a part.
    count = max(len(asked), link.get("interests", 0))
    return Missing(broker.name, name, count, len(asked), nearest, wants)


def _step(broker: Found, came_from: str | None, n: Notification) -> Step:
    table = broker.tables.get("filters", {"shown": [], "complete": True})
    step = Step(broker.name, came_from, error=broker.error)
    step.compared, step.has_compared_all = len(table["shown"]), table["complete"]
    wanted: dict[str, str] = {}
    nearest: Nearest | None = None
    for entry in table["shown"]:
        missed = _missed(entry["text"], n)
        if missed is None:
            step.has_compared_all = False
        elif not missed:
            wanted |= {
                who: entry["text"] for who in entry["holders"] if who not in wanted
            }
        elif nearest is None or len(missed) < len(nearest.missed):
            nearest = Nearest(entry["text"], entry["holders"][0], missed)
    step.is_complete = step.has_compared_all
    if broker.wanting is not None:  # of all filters, however many are shown
        step.is_complete = broker.wanting["complete"]
        wanted = {entry["who"]: entry["text"] for entry in broker.wanting["wanting"]}
    _deliver(step, wanted, broker.links)
    if not step.clients and not step.brokers:
        step.nearest = nearest
    return step


def _deliver(step: Step, wanted: dict[str, str], links: list[Form]) -> None:
    """To whom it goes from a broker: never back, and always to its master."""
    masters = [link["name"] for link in links if link["side"] == "master"]
    to = wanted | {_BROKER + name: TO_MASTER for name in masters}
    if step.came_from is not None:
        to.pop(_BROKER + step.came_from, None)
    for each in sorted(to.items()):
        (step.brokers if each[0].startswith(_BROKER) else step.clients).append(each)


def _missed(text: str, n: Notification) -> list[Reason] | None:
    """The constraints that fail; ``None`` if the text is too long to be shown whole."""
    try:
        wanted = parse_filter(text)
    except SienaError:
        return None
    return [reason for reason in explain_matches(wanted, n) if not reason.holds]
