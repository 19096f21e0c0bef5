"""How services of today bring notifications to those who want them, and at which cost.

All ways carry the same notifications over the same tree of brokers to the same
subscribers, and are counted, not timed:

- *content*: brokers forward by content and tell each other what no other filter covers;
- *flat*: the same without covering: a broker is told every different filter;
- *subject*: a publisher writes a subject of tokens, a subscriber a subject with
  wildcards (``*`` is one token, ``>`` the rest), as in NATS; brokers are told every
  different subject, and subscribers throw away what their filter does not select;
- *keys*: the same with more tokens, and brokers are told only what no other key
  expression includes, as in Zenoh;
- *consumer*: a log at one broker has a topic for each class, each consumer reads whole
  topics from it and throws away the rest, as with Kafka;
- *flooding*: a notification goes everywhere, and brokers select for their clients.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from siena.algebra.catalogue.catalogue import Catalogue
from siena.algebra.catalogue.profile import Profile
from siena.algebra.covering import covers_filter
from siena.block import encode
from siena.model import Filter, Notification
from siena.model.operators import Operator
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import tree_below

WAYS = ("content", "flat", "subject", "keys", "consumer", "flooding")

# The attribute whose levels a subject begins with, and those that follow it.
CLASS = "class"
LEVELS = 3
SUBJECT_NAMES = ("exchange", "symbol")
KEY_NAMES = ("exchange", "symbol", "currency", "kind")
# A topic of a log is the first levels of a class.
TOPIC_LEVELS = 1
ONE, REST = "*", ">"

Tokens = tuple[str, ...]
T = TypeVar("T")


class Subscriber(NamedTuple):
    """A filter, and the broker of the client that has it."""

    filter: Filter
    broker: int


class Publication(NamedTuple):
    """A notification, and the broker where it enters."""

    notification: Notification
    broker: int


class Cost(NamedTuple):
    """What one way costs, for all publications together."""

    links: int
    """Links that notifications crossed."""
    octets: int
    """Bytes on links: of blocks, and of the subject, key or topic that goes with them.

    Heads of messages are not counted: they are those of a program, not of a way.
    """
    entries: int
    """What brokers were told by neighbours, added up over both ends of every link."""
    wasted: int
    """Notifications that reached a client and were thrown away there."""


def subject_of(f: Filter, names: Sequence[str]) -> Tokens:
    """The narrowest subject that has everything in it that a filter selects.

    >>> from siena import parse_filter
    >>> subject_of(parse_filter('class >* "news/eu/" and symbol = DIS'), SUBJECT_NAMES)
    ('news', 'eu', '*', '*', 'DIS')
    >>> subject_of(parse_filter("price > 3"), SUBJECT_NAMES)
    ('>',)
    """
    tokens = [ONE] * (LEVELS + len(names))
    for constraint in f:
        value = constraint.value
        if constraint.name == CLASS and isinstance(value, str):
            levels = value.split("/")
            if constraint.operator is Operator.PREFIX:
                levels = levels[:-1]  # whole levels only
            elif constraint.operator is not Operator.EQ:
                continue
            tokens[: len(levels)] = levels
        elif constraint.name in names and constraint.operator is Operator.EQ:
            tokens[LEVELS + names.index(constraint.name)] = str(value)
    while tokens and tokens[-1] == ONE:
        tokens.pop()
    if len(tokens) < LEVELS + len(names):
        tokens.append(REST)
    return tuple(tokens)


def address_of(notification: Notification, names: Sequence[str]) -> Tokens:
    """The subject that a publisher writes."""
    levels = str(notification[CLASS]).split("/")
    return (*levels, *(str(notification[name]) for name in names))


def written(address: Tokens) -> int:
    """The bytes of a subject on a link: its tokens, and what stands between them.

    >>> written(("news", "eu", "DIS"))
    11
    """
    return len(".".join(address).encode())


def includes(wide: Tokens, narrow: Tokens) -> bool:
    """Whether every subject that one expression stands for, another does, too.

    >>> includes(("news", ">"), ("news", "*", "eu")), includes(("*", "a"), ("b", ">"))
    (True, False)
    """
    for place, token in enumerate(wide):
        if token == REST:
            return len(narrow) > place
        if place >= len(narrow) or narrow[place] == REST:
            return False
        if token not in (ONE, narrow[place]):
            return False
    return len(wide) == len(narrow)


class Links:
    """The links of a tree, each with the brokers at its two sides, as bits."""

    def __init__(self, tree: Topology) -> None:
        root = tree.brokers[0]
        below = tree_below(tree, root)
        everybody = sum(1 << broker for broker in tree.brokers)
        lower = [
            sum(1 << broker for broker in below.below(broker))
            for broker in tree.brokers
            if broker != root
        ]
        # For each link the brokers on one side, and those on the other.
        self.sides = [(side, everybody & ~side) for side in lower]
        # Single brokers are asked for again and again.
        self._known: dict[tuple[int, int], int] = {}

    def crossed(self, source: int, targets: int) -> int:
        """How many links lie between a broker and several others, given as bits."""
        links = self._known.get((source, targets))
        if links is None:
            here = 1 << source
            links = self._known[source, targets] = sum(
                bool(targets & (other if side & here else side))
                for side, other in self.sides
            )
        return links


def costs_of(
    tree: Topology,
    subscribers: Sequence[Subscriber],
    publications: Sequence[Publication],
) -> Mapping[str, Cost]:
    """What every way costs."""
    links = Links(tree)
    log = tree.brokers[0]
    filters = [subscriber.filter for subscriber in subscribers]
    subjects = [subject_of(f, SUBJECT_NAMES) for f in filters]
    keys = [subject_of(f, KEY_NAMES) for f in filters]
    topics = [subject_of(f, ())[:TOPIC_LEVELS] for f in filters]
    counts = {way: [0, 0, 0] for way in WAYS}

    def count(way: str, crossed: int, octets: int, wasted: int) -> None:
        for place, number in enumerate((crossed, crossed * octets, wasted)):
            counts[way][place] += number

    for notification, source in publications:
        size = len(encode(notification))
        wanted = [f.matches(notification) for f in filters]
        matches = sum(wanted)
        exact = links.crossed(source, _brokers(subscribers, wanted))
        count("content", exact, size, 0)
        count("flat", exact, size, 0)
        for way, names, patterns in (
            ("subject", SUBJECT_NAMES, subjects),
            ("keys", KEY_NAMES, keys),
        ):
            address = address_of(notification, names)
            got = [includes(pattern, address) for pattern in patterns]
            crossed = links.crossed(source, _brokers(subscribers, got))
            count(way, crossed, size + written(address), sum(got) - matches)
        topic = address_of(notification, ())[:TOPIC_LEVELS]
        readers = [pattern in ((REST,), topic) for pattern in topics]
        # To the log, and from there to each consumer by itself.
        crossed = links.crossed(source, 1 << log) + sum(
            links.crossed(log, 1 << subscriber.broker)
            for subscriber, reads in zip(subscribers, readers, strict=True)
            if reads
        )
        count("consumer", crossed, size + written(topic), sum(readers) - matches)
        count("flooding", len(links.sides), size, 0)
    entries = {
        "content": _entries(links, subscribers, filters, _filters_above),
        "flat": _entries(links, subscribers, filters, None),
        "subject": _entries(links, subscribers, subjects, None),
        "keys": _entries(links, subscribers, keys, _keys_above),
        # A position for each consumer and topic; brokers know of nothing.
        "consumer": len(subscribers),
        "flooding": 0,
    }
    return {
        way: Cost(crossed, octets, entries[way], wasted)
        for way, (crossed, octets, wasted) in counts.items()
    }


def _brokers(subscribers: Sequence[Subscriber], wanted: Iterable[bool]) -> int:
    found = 0
    for subscriber, is_wanted in zip(subscribers, wanted, strict=True):
        if is_wanted:
            found |= 1 << subscriber.broker
    return found


def _entries(
    links: Links,
    subscribers: Sequence[Subscriber],
    interests: Sequence[T],
    above: Callable[[Sequence[T]], list[int]] | None,
) -> int:
    """What is told over all links, both ways: each different interest behind a link.

    With ``above``, which says for each interest as bits which others stand for it, only
    those for which none does.
    """
    different = list(dict.fromkeys(interests))
    number = {interest: place for place, interest in enumerate(different)}
    at: dict[int, int] = {}
    for subscriber, interest in zip(subscribers, interests, strict=True):
        at[subscriber.broker] = at.get(subscriber.broker, 0) | 1 << number[interest]
    covers = above(different) if above else [0] * len(different)
    told = 0
    for sides in links.sides:
        for side in sides:
            behind = 0
            for broker, own in at.items():
                if side >> broker & 1:
                    behind |= own
            told += sum(
                1
                for place, coverers in enumerate(covers)
                if behind >> place & 1 and not coverers & behind
            )
    return told


def _filters_above(filters: Sequence[Filter]) -> list[int]:
    """For each filter the others that cover it; of equivalent ones only the first."""
    catalogue = Catalogue(covers_filter)
    profiles = [Profile(f) for f in filters]
    number = {id(profile): place for place, profile in enumerate(profiles)}
    for profile in profiles:
        catalogue.add(profile)
    found = []
    for place, profile in enumerate(profiles):
        coverers = 0
        for other in catalogue.above(profile):
            it = number[id(other)]
            is_equal = it > place and covers_filter(profile.filter, other.filter)
            if it != place and not is_equal:
                coverers |= 1 << it
        found.append(coverers)
    return found


def _keys_above(keys: Sequence[Tokens]) -> list[int]:
    return [
        sum(
            1 << place
            for place, wide in enumerate(keys)
            if wide != narrow and includes(wide, narrow)
        )
        for narrow in keys
    ]
