"""Random grants, subscriptions and notifications: exactly what is granted arrives."""

import random

import pytest

from siena.block import decode, encode
from siena.broker.access.grants.book import GrantBook
from siena.broker.access.grants.decisions import narrow
from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import Principal
from siena.broker.data.exchange import Exchange
from siena.broker.data.licences import Licences
from siena.lang.parser import parse_predicate as parse
from siena.model import Filter, Predicate, Value
from siena.protocol.data_frames import unpack_msg
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import Splitter

NAMES = ("x", "y", "z")
WORDS = ("ann", "bob", "an", "b")
OPERATORS = ("=", "!=", "<", ">=")


def constraint(rng: random.Random) -> str:
    name = rng.choice(NAMES)
    kind = rng.randrange(5)
    if kind == 0:
        return f"{name} absent"
    if kind == 1:
        return f"{name} starts with {rng.choice(WORDS)}"
    if kind == 2:
        return f"{name} {rng.choice(OPERATORS)} {rng.choice(WORDS)}"
    return f"{name} {rng.choice(OPERATORS)} {rng.randrange(5)}"


def text(rng: random.Random) -> str:
    def one() -> str:
        return " and ".join(constraint(rng) for _ in range(rng.randint(1, 2)))

    said = " or ".join(one() for _ in range(rng.randint(1, 2)))
    return f"({said}) except {constraint(rng)}" if rng.random() < 0.2 else said


def notification(rng: random.Random) -> dict[str, Value]:
    drawn: tuple[Value, ...] = (*WORDS, *range(5), 2.5, True)
    return {name: rng.choice(drawn) for name in NAMES if rng.random() < 0.7}


def decide(seed: int, grants: int, each: int) -> tuple[int, int, int]:
    """Decisions, permitted deliveries, and mistakes of the broker's own path."""
    rng = random.Random(seed)
    decisions = permitted = mistakes = 0
    for _ in range(grants):
        identity = rng.choice(WORDS)
        subscribe, publish = text(rng), f"{text(rng)} or x = ${{identity}}"
        roles = Roles.from_form({"r": {"subscribe": subscribe, "publish": publish}})
        grant = GrantBook(roles).of(Principal(identity, ("r",)))
        # The plain evaluator reads the texts, and nothing of the grant.
        may_hear = parse(subscribe)
        may_say = parse(publish.replace("${identity}", f'"{identity}"'))
        asked = [parse(text(rng)) for _ in range(4)]
        exchange = Exchange()
        for number, interest in enumerate(asked):
            found = narrow(interest, grant.subscribe).interest
            assert isinstance(found, Filter | Predicate)
            exchange.subscribe(7, number, found)
        licences = Licences(exchange)
        licence = licences.take(grant.publish)
        wanted_by = None if licence is None else licences.number_of(licence)
        sent = [notification(rng) for _ in range(each)]
        run = run_of([encode(n) for n in sent])
        routed = exchange.route(run.frames, run.start, run.end, wanted_by)
        allowed = [True] * each if routed.allowed is None else routed.allowed.tolist()
        if licence is not None:
            assert licence.allows(run).tolist() == allowed
        delivered: dict[bytes, set[int]] = {}
        for _, frames, _ in routed.out:
            for frame in Splitter().feed(frames):
                numbers, block = unpack_msg(frame.body)
                delivered.setdefault(block, set()).update(numbers)
        for n, is_allowed in zip(sent, allowed, strict=True):
            mistakes += is_allowed != may_say.matches(n)
            hears = may_hear.matches(n)
            wanted = {i for i, p in enumerate(asked) if hears and p.matches(n)}
            mistakes += delivered.get(encode(n), set()) != wanted
            decisions += 1 + len(asked)
            permitted += len(wanted)
            assert dict(decode(encode(n))) == n
    return decisions, permitted, mistakes


def test_random_decisions_are_those_of_a_plain_evaluator() -> None:
    decisions, permitted, mistakes = decide(seed=18, grants=100, each=20)
    assert decisions == 10_000
    assert permitted > 100
    assert mistakes == 0


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_a_million_random_decisions() -> None:
    decisions, permitted, mistakes = decide(seed=1_018, grants=1_000, each=200)
    assert decisions == 1_000_000
    assert permitted > 10_000
    assert mistakes == 0
