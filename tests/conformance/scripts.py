"""Scripts for networks, played by routers that are joined by wires.

``conformance/README.md`` describes the form.  A script is the case of the kit, and this
is the only place where its words become requests and its expectations comparisons.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from conformance.kit import (
    Case,
    case_of,
    parse_advertisement,
    parse_interest,
    parse_notification,
)
from routing.wires import Wires
from siena.messages import (
    Flush,
    Found,
    LinkState,
    Message,
    Notify,
    Quenched,
    Side,
    Unquenched,
)
from siena.routing.options import Options

AREAS = ("hierarchical", "acyclic", "general", "advertising", "delegation")
"""The files that hold scripts."""

SIDES = {"hierarchical": Side.MASTER, "acyclic": Side.PEER, "general": Side.MESH}

# What a script calls a message, and how its text is read.  Other messages set up links
# and discover trees: another implementation may do that in its own way.
READERS: dict[str, Callable[[str], object]] = {
    "subscribe": parse_interest,
    "unsubscribe": parse_interest,
    "advertise": parse_advertisement,
    "unadvertise": parse_advertisement,
}

Said = tuple[object, ...]


def replay(area: str, name: str, *, declarative: bool = False) -> None:
    """Play one script of the kit, in all of its variants."""
    for case in variants(area, name):
        play(case, declarative=declarative)


def variants(area: str, name: str) -> list[Case]:
    """A script, and what its ``variants`` make of it, without references to others."""
    case = whole(area, name)
    return [case, *({**case, **changes} for changes in case.get("variants", ()))]


def whole(area: str, name: str) -> Case:
    """A script that begins where another ends, with the steps of the other before."""
    case = case_of(area, name)
    if "after" not in case:
        return case
    before = whole(area, case["after"])
    return {**before, **case, "steps": before["steps"] + case["steps"]}


def play(case: Case, *, declarative: bool = False) -> None:
    """Take the steps of a script one after the other, and compare after each."""
    stage = _Stage(case, declarative=declarative)
    for number, step in enumerate(case["steps"], start=1):
        where = f"{case['id']}, step {number}: {step}"
        stage.take(step)
        for expectation, observe in stage.observed.items():
            if expectation in step:
                found, wanted = observe(step[expectation])
                assert found == wanted, f"{expectation} in {where}"
        if case.get("options", {}).get("unsubscription") != "paper":
            stage.wires.check()  # the papers' own way loses what this would miss
    stage.check_confined(case.get("confined", ()))


def network_of(case: Case, *, declarative: bool = False) -> Wires:
    """The brokers of a script before its first step, joined as it says."""
    # Networks of the papers: an unsubscription cancels all that it covers.
    options = Options(**{"withdrawal": "covering"} | case.get("options", {}))
    brokers = case.get("brokers", ())
    wires = Wires(options=options, brokers=brokers, declarative=declarative)
    for part in (case, case.get("joined_by", {"links": []})):
        for one, other, *weight in part["links"]:
            wires.connect(one, other, SIDES[part["architecture"]], *weight)
    return wires


class _Stage:
    """The network of one script, and what happened in its latest step."""

    def __init__(self, case: Case, *, declarative: bool) -> None:
        self.wires = network_of(case, declarative=declarative)
        self._side = SIDES[case["architecture"]]
        self._sent = self._got = 0
        # What is wanted as the script has it, beside what there was, in one form.
        self.observed: dict[str, Callable[[Any], tuple[object, object]]] = {
            "sent": self._messages,
            "delivered": self._receivers,
            "sequences": self._sequences,
            "advised": self._advice,
            "tables": self._tables,
            "copies": lambda count: (len(self._copies()), count),
            "copies_max": lambda most: (len(self._copies()) <= most, True),
            "once": lambda once: (max(self._crossings(), default=1) == 1, once),
        }

    def take(self, step: Case) -> None:
        """Do what a step says; what was sent and delivered before is left aside."""
        self._sent, self._got = len(self.wires.sent), len(self.wires.got)
        match step:
            case {"publish": text}:
                time = step.get("time", 0)
                self.wires.publish(step["client"], step["at"], text, time)
            case {"connect": [one, other]}:
                self.wires.connect(one, other, self._side)
            case {"disconnect": [one, other]}:
                self.wires.cut(one, other)
            case {"flush": broker}:
                self.wires.ask("the clock", broker, Flush())
            case _:
                for verb in READERS.keys() & step.keys():
                    getattr(self.wires, verb)(step["client"], step["at"], step[verb])

    def check_confined(self, groups: list[list[int]]) -> None:
        """No message by which trees are discovered left its group of brokers."""
        group_of = {broker: i for i, group in enumerate(groups) for broker in group}
        discovery = [s for s in self.wires.sent if isinstance(s[2], LinkState)]
        if groups:
            assert discovery
            assert all(group_of[a] == group_of[b] for a, b, _ in discovery)

    def _messages(self, wanted: list[list[Any]]) -> tuple[object, object]:
        """Link by link in order; between two links there is no order."""
        found: dict[tuple[int, int], list[Said]] = {}
        for one, other, message in self.wires.sent[self._sent :]:
            said = _said(message)
            if said is not None:
                found.setdefault((one, other), []).append(said)
        asked: dict[tuple[int, int], list[Said]] = {}
        for one, other, verb, *text in wanted:
            said = (verb, *(READERS[verb](t) for t in text))
            asked.setdefault((one, other), []).append(said)
        return found, asked

    def _receivers(self, wanted: list[str]) -> tuple[object, object]:
        got = self.wires.got[self._got :]
        return sorted(c for c, m in got if isinstance(m, Notify)), sorted(wanted)

    def _sequences(self, wanted: dict[str, list[list[str]]]) -> tuple[object, object]:
        found: dict[str, list[list[object]]] = {}
        for client, message in self.wires.got[self._got :]:
            if isinstance(message, Found):
                sequence: list[object] = [n.notification for n in message.sequence]
                found.setdefault(client, []).append(sequence)
        return found, {
            client: [[parse_notification(text) for text in row] for row in rows]
            for client, rows in wanted.items()
        }

    def _advice(self, wanted: dict[str, list[list[str]]]) -> tuple[object, object]:
        found: dict[str, list[Said]] = {}
        for client, message in self.wires.got[self._got :]:
            if isinstance(message, Quenched | Unquenched):
                word = type(message).__name__.lower()
                found.setdefault(client, []).append((word, message.advertisement))
        return found, {
            client: [(word, parse_advertisement(text)) for word, text in rows]
            for client, rows in wanted.items()
        }

    def _tables(self, wanted: dict[str, list[Case]]) -> tuple[object, object]:
        found: dict[str, object] = {}
        asked: dict[str, object] = {}
        for broker, rows in wanted.items():
            told = self.wires.forwards(int(broker))
            found[broker] = {
                parse_interest(text): (hops, told.get(text, set()))
                for text, hops in self.wires.interests(int(broker)).items()
            }
            asked[broker] = {
                f: (set(row["for"]), set(row.get("told", told.get(str(f), ()))))
                for row in rows
                for f in [parse_interest(row["filter"])]
            }
        return found, asked

    def _crossings(self) -> Iterable[int]:
        """How often notifications crossed each link in one direction."""
        return Counter(self._copies()).values()

    def _copies(self) -> list[tuple[int, int]]:
        """Over which links notifications went."""
        sent = self.wires.sent[self._sent :]
        return [(one, other) for one, other, m in sent if isinstance(m, Notify)]


def _said(message: Message) -> Said | None:
    """A message as scripts write it, or nothing if they do not speak of it."""
    verb = type(message).__name__.lower()
    if verb in READERS:
        about = getattr(message, "interest", None)
        return verb, getattr(message, "advertisement", about)
    return (verb,) if isinstance(message, Notify) else None
