"""Settling: when is an interest in force throughout the network?

A broker asks every neighbour that it told about the interest, or about one that covers
it, and answers when all of them have; one that told no neighbour answers at once.
Links keep the order of messages, so a broker that is asked has already heard of the
interest.  What has once been answered for need not be asked again, unless the answer
has to be *fresh*.  Questions that come together are asked together, in one message to
each neighbour, which answers once all of what it is about is in force.

In a network with cycles a question keeps to the tree of the origin that it is about,
also where the interest has been pruned under one of another origin: what is asked is
whether the cover is in force among those brokers, and not wherever else it reaches.
If it followed the tree of each cover in turn, it would go round and multiply.

Of an advertisement it is asked whether all brokers know it: since subscriptions follow
an advertisement back over the same links, before the answer, the broker with the answer
knows all who want something of it.

No question is open for ever.  A body says now and then that time has passed
(:meth:`Settling.age`); a neighbour that has not answered by then is given up, and
the asker is told its name.  The further from the first asker, the earlier, so
that the broker next to a silent one is the one that says so; and of a neighbour that
was silent once, little is expected until it answers something.

Reference:
    Our specification, A.9: a request is guaranteed to be effective from then on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import NamedTuple

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.messages import Interest, Interface, Outbox, Settle, Settled, Side
from siena.messages.interface import TTL_MAX
from siena.messages.notices import SILENT_MAX
from siena.model import Advertisement, Filter, Pattern, Predicate
from siena.routing.demand.announcer import Told
from siena.routing.neighbour import Neighbour

# Whether the reach of one origin, through a neighbour, is within that of another.
ReachOf = Callable[[Neighbour, int, int], bool]
# Whether what entered at an origin goes on to a neighbour from here.
Leads = Callable[[Neighbour, int], bool]


class Question(NamedTuple):
    """What is asked, and on whose behalf."""

    filters: tuple[Filter | Advertisement, ...]
    origin: int
    source: Interface
    fresh: bool
    ttl: int
    # Runs of a pattern that neighbours look for.
    delegated: tuple[tuple[int, Pattern], ...] = ()


# Of so many filters one message asks at most, if they have so few constraints, each of
# so few characters: they are a predicate, which is told in one frame, however quoted.
JOINT_FILTERS_MAX = 64
JOINT_CONSTRAINTS_MAX = 8
JOINT_CHARACTERS_MAX = 512

# An answer is waited for so many ages; one less for each broker between here and who
# asked first, but so many at least; and so many, if the neighbour was silent before.
AGES_MAX = 64
AGES_MIN = 16
AGES_OF_SILENT = 4

Subject = Filter | Advertisement


@dataclass(slots=True)
class _Waiting:
    """Answers that are given when all of what they wait for has been answered."""

    answer: Outbox
    tokens: set[int] = field(default_factory=set)
    silent: dict[str, None] = field(default_factory=dict)

    def finished(self) -> Outbox:
        """The answers; those to questions name who has not answered."""
        if not self.silent:
            return self.answer
        names = tuple(self.silent)[:SILENT_MAX]
        return [
            (to, Settled(m.token, names) if isinstance(m, Settled) else m)
            for to, m in self.answer
        ]


class _Open(NamedTuple):
    """What a neighbour was asked, and has not answered."""

    neighbour: int
    origin: int | None
    told: tuple[Told, ...]
    waiting: _Waiting
    asked: int  # at this age
    due: int


@dataclass(slots=True)
class _Joint:
    """Questions that are asked together: of each neighbour, about which filters."""

    waiting: _Waiting = field(default_factory=lambda: _Waiting([]))
    asked: dict[int, dict[Filter, Told]] = field(default_factory=dict)


class Settling:
    """The questions that are open, and whom each of them waits for."""

    def __init__(self, reach: ReachOf, leads: Leads, *, is_exact: bool = False) -> None:
        self._reach = reach
        self._leads = leads
        # Whether the order of the tables is covering itself, and what is told is in it.
        self._is_exact = is_exact
        self._tokens = count(1)
        self._asked: dict[int, _Open] = {}
        self._age = 0
        # Neighbours that were given up, and have answered nothing since.
        self.silent: set[int] = set()
        self.name_of: Callable[[int], str] = str
        """What a neighbour is called, where there is a name for it."""

    def ask(
        self, question: Question, neighbours: Iterable[Neighbour], answer: Outbox
    ) -> Outbox:
        """Ask on, or give the ``answer`` at once; later it follows when all have."""
        waiting = _Waiting(answer)
        found = [
            (number, self._settle(question, pattern, None), (Told(),))
            for number, pattern in question.delegated
        ]
        asked = self._ahead(question, neighbours)
        for number, subject, told in self._among(question, asked):
            settle = self._settle(question, subject, question.origin)
            found.append((number, settle, (told,)))
        if not found or question.ttl <= 0:
            return list(answer)
        return [self._send(*each, waiting) for each in found]

    def ask_all(
        self,
        questions: Iterable[tuple[Question, Outbox]],
        neighbours: Sequence[Neighbour],
    ) -> Outbox:
        """The same for many questions: of filters, a neighbour is asked once."""
        out: Outbox = []
        joints: dict[tuple[int, bool, int], _Joint] = {}
        # Of many clients that ask at once, the same neighbours are asked.
        asked: dict[tuple[Interface | None, int], list[Neighbour]] = {}
        for question, answer in questions:
            filters, origin, source, fresh, ttl, delegated = question
            if delegated or not all(map(_is_short, filters)):
                out += self.ask(question, neighbours, answer)
                continue
            key = source if isinstance(source, int) else None, origin
            if key not in asked:
                asked[key] = list(self._ahead(question, neighbours))
            found = self._among(question, asked[key])
            if not found or ttl <= 0:
                out += answer
                continue
            joint = joints.get((origin, fresh, ttl))
            if joint is None:
                joint = joints[origin, fresh, ttl] = _Joint()
            joint.waiting.answer += answer
            for number, subject, told in found:
                assert isinstance(subject, Filter)
                joint.asked.setdefault(number, {})[subject] = told
        for (origin, fresh, ttl), joint in joints.items():
            out += self._ask_joint(Question((), origin, 0, fresh, ttl), joint)
        return out

    def ask_own(
        self,
        own: Sequence[tuple[Filter, Interface, int]],
        me: int,
        neighbours: Sequence[Neighbour],
    ) -> Outbox:
        """The same for filters that clients have just asked for here, with tokens.

        As :meth:`ask_all` of a question each, in fewer steps; that is its slow twin.
        """
        out: Outbox = []
        joint = _Joint()
        answers = joint.waiting.answer
        ahead = [n for n in neighbours if self._leads(n, me)]
        question = Question((), me, 0, fresh=False, ttl=TTL_MAX)
        for f, source, token in own:
            answer = source, Settled(token)
            if not _is_short(f):
                alone = question._replace(filters=(f,), source=source)
                out += self.ask(alone, neighbours, [answer])
                continue
            is_asked = False
            for neighbour in ahead:
                found = self._to_ask(neighbour, f, question)
                if found is not None:
                    subject, told = found
                    assert isinstance(subject, Filter)
                    joint.asked.setdefault(neighbour.number, {})[subject] = told
                    is_asked = True
            (answers if is_asked else out).append(answer)
        return out + self._ask_joint(question, joint)

    def _ask_joint(self, question: Question, joint: _Joint) -> Outbox:
        out: Outbox = []
        for number, asked in joint.asked.items():
            rest = iter(asked.items())
            while some := dict(islice(rest, JOINT_FILTERS_MAX)):
                subject = Predicate(some) if len(some) > 1 else next(iter(some))
                settle = self._settle(question, subject, question.origin)
                told = tuple(some.values())
                out.append(self._send(number, settle, told, joint.waiting))
        return out

    def _settle(
        self, question: Question, subject: Interest | Advertisement, origin: int | None
    ) -> Settle:
        fresh, ttl = question.fresh, question.ttl - 1
        return Settle(subject, next(self._tokens), origin, fresh=fresh, ttl=ttl)

    def _send(
        self, number: int, settle: Settle, told: tuple[Told, ...], waiting: _Waiting
    ) -> tuple[Interface, Settle]:
        depth = TTL_MAX - 1 - settle.ttl
        ages = max(AGES_MAX - depth, AGES_MIN)
        if number in self.silent:
            ages = AGES_OF_SILENT
        self._asked[settle.token] = _Open(
            number, settle.origin, told, waiting, self._age, self._age + ages
        )
        waiting.tokens.add(settle.token)
        return number, settle

    def _ahead(
        self, question: Question, neighbours: Iterable[Neighbour]
    ) -> Iterator[Neighbour]:
        """Those to whom a question goes on: not to who asks."""
        for neighbour in neighbours:
            is_source = neighbour.number == question.source
            if not is_source and self._leads(neighbour, question.origin):
                yield neighbour

    def _among(
        self, question: Question, neighbours: Iterable[Neighbour]
    ) -> list[tuple[int, Subject, Told]]:
        """Whom of these to ask, about what that they were told."""
        asked: list[tuple[int, Subject, Told]] = []
        for neighbour in neighbours:
            for f in question.filters:
                found = self._to_ask(neighbour, f, question)
                if found is not None:
                    asked.append((neighbour.number, *found))
        return asked

    def answered(
        self, token: int, source: Interface, silent: Sequence[str] = ()
    ) -> Outbox:
        """A neighbour has answered; some behind it may not have."""
        asked = self._asked.get(token)
        if asked is None or asked.neighbour != source:
            return []
        del self._asked[token]
        self.silent.discard(asked.neighbour)
        if asked.origin is not None and not silent:
            for told in asked.told:
                told.settle(asked.origin)
        asked.waiting.silent.update(dict.fromkeys(silent[:SILENT_MAX]))
        return self._done(asked.waiting, token)

    def age(self) -> Outbox:
        """Time has passed: who has not answered by now is waited for no longer."""
        self._age += 1
        out: Outbox = []
        overdue: list[int] = []
        for token, asked in self._asked.items():  # as they were asked
            if asked.due <= self._age:
                overdue.append(token)
            elif asked.asked > self._age - AGES_OF_SILENT:
                break
        for token in overdue:
            asked = self._asked.pop(token)
            self.silent.add(asked.neighbour)
            asked.waiting.silent[self.name_of(asked.neighbour)] = None
            out += self._done(asked.waiting, token)
        return out

    def forget(self, neighbour: int) -> Outbox:
        """A neighbour is gone, and all that lies behind it: it need not answer."""
        out: Outbox = []
        self.silent.discard(neighbour)
        for token, asked in list(self._asked.items()):
            if asked.neighbour == neighbour:
                del self._asked[token]
                out += self._done(asked.waiting, token)
        return out

    def _done(self, waiting: _Waiting, token: int) -> Outbox:
        waiting.tokens.remove(token)
        return [] if waiting.tokens else waiting.finished()

    def _to_ask(
        self, neighbour: Neighbour, f: Filter | Advertisement, question: Question
    ) -> tuple[Filter | Advertisement, Told] | None:
        """What to ask a neighbour about, if it must be asked: a cover of it."""
        if isinstance(f, Advertisement):
            return self._to_ask_of_offer(neighbour, f, question)
        if neighbour.side is Side.CHILD:
            # It was told nothing, but what is published there climbs all the same.
            return (f, Told()) if question.fresh else None
        told, origin = neighbour.filters.told, question.origin
        pair: tuple[Filter, int] | None
        if self._is_exact:
            pair = f, origin
            found = told.get(pair)
            if found is None or pair not in neighbour.filters.demand:
                pair = neighbour.filters.told_cover(f, origin)
                if pair is None:
                    return None
                f, found = pair[0], told[pair]
            if (
                found.settled
                and not question.fresh
                and self._is_settled(neighbour, found, origin)
            ):
                return None
            return f, found
        covers = [
            (g, other)
            for g, other in told
            if covers_filter(g, f) and self._reach(neighbour, origin, other)
        ]
        is_settled = any(
            self._is_settled(neighbour, told[pair], origin) for pair in covers
        )
        pair = min(covers, key=lambda pair: (str(pair[0]), pair[1]), default=None)
        if pair is None or (is_settled and not question.fresh):
            return None
        return pair[0], told[pair]

    def _is_settled(self, neighbour: Neighbour, told: Told, origin: int) -> bool:
        """Whether an announcement is in force wherever an origin reaches."""
        return any(self._reach(neighbour, origin, other) for other in told.settled)

    def _to_ask_of_offer(
        self, neighbour: Neighbour, offer: Advertisement, question: Question
    ) -> tuple[Advertisement, Told] | None:
        """The same, of an advertisement.

        It is asked for always: others may have come to want it since the last time.
        """
        covers = [
            (wide, origin)
            for wide, origin in neighbour.advertisements.told
            if covers_advertisement(wide, offer)
            and self._reach(neighbour, question.origin, origin)
        ]
        pair = min(covers, key=lambda pair: (str(pair[0]), pair[1]), default=None)
        return None if pair is None else (pair[0], Told())


def _is_short(subject: Subject) -> bool:
    """Whether it may be asked about together with others, in one frame."""
    if type(subject) is not Filter or len(subject.constraints) > JOINT_CONSTRAINTS_MAX:
        return False
    for name, _, _, value in subject.constraints:
        size = len(name)
        if type(value) is str:
            size += len(value)
        if size > JOINT_CHARACTERS_MAX:
            return False
    return True
