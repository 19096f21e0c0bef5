"""Random grants, subscriptions and notifications: exactly what is granted arrives."""

import random

import pytest
from msgspec.structs import replace

from broker.people import PEOPLE, access, named
from broker.random_texts import WORDS, notification, text
from siena.block import decode, encode
from siena.broker.access.grants.book import GrantBook
from siena.broker.access.grants.decisions import narrow
from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import Principal
from siena.broker.access.settings import Access
from siena.broker.data.exchange import Exchange
from siena.broker.data.licences import Licences
from siena.broker.settings import Settings
from siena.lang.parser import parse_predicate as parse
from siena.model import Filter, Predicate
from siena.protocol.control_frames import Subscribe
from siena.protocol.data_frames import Delivery, unpack_msg
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import Splitter
from wire import Wire, connect

# What everybody may say and hear, and everybody asks for: that a round has ended.
MARK = "mark any"


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


async def through_a_broker(
    seed: int, rounds: int, readers: int, asked: int, each: int
) -> tuple[int, int, int, int]:
    """Decisions, permitted, forbidden and missing deliveries of a broker with clients.

    In each round other roles count, by a reload; half of the clients stay.
    """
    rng = random.Random(seed)
    names = [f"reader{n}" for n in range(readers)]
    PEOPLE.update({name: Principal(name, (name,)) for name in (*names, "writer")})
    decisions = permitted = forbidden = missing = 0

    def some() -> str:
        return "[]" if rng.random() < 0.5 else text(rng)

    def draw() -> tuple[str, dict[str, str]]:
        return some(), {name: some() for name in names}

    def roles(says: str, hears: dict[str, str]) -> Access:
        heard = {n: {"subscribe": f"({t}) or {MARK}"} for n, t in hears.items()}
        return access(writer={"publish": f"({says}) or {MARK}"}, **heard)

    says, hears = draw()
    settings = Settings(listen=("127.0.0.1:0",), access=roles(says, hears))
    async with named(settings) as broker:
        writer = await connect(broker, name="writer")
        wires: dict[str, tuple[Wire, list[Predicate]]] = {}
        for _ in range(rounds):
            for name in names:
                if name in wires and rng.random() < 0.5:
                    continue
                if name in wires:
                    wires[name][0].close()
                wire = await connect(broker, name=name)
                wanted = [parse(text(rng)) for _ in range(asked)]
                for number, interest in enumerate(wanted):
                    wire.send(Subscribe(number, f"({interest}) or {MARK}"))
                await wire.sync()
                wires[name] = wire, wanted
            sent = [{**notification(rng), "n": n} for n in range(each)]
            writer.publish(*sent, {"mark": True})
            may_say = parse(says)
            for name in names:
                wire, wanted = wires[name]
                found = await heard(wire)
                may_hear = parse(hears[name])
                granted = {
                    (n, number)
                    for n, said in enumerate(sent)
                    if may_say.matches(said) and may_hear.matches(said)
                    for number, interest in enumerate(wanted)
                    if interest.matches(said)
                }
                decisions += each * asked
                permitted += len(granted)
                forbidden += len(found - granted)
                missing += len(granted - found)
            await writer.sync()
            says, hears = draw()
            broker.reload(replace(settings, access=roles(says, hears)))
    return decisions, permitted, forbidden, missing


async def heard(wire: Wire) -> set[tuple[int, int]]:
    """What came until the mark, by its number and that of what was asked for."""
    found: set[tuple[int, int]] = set()
    while True:
        came = await wire.next()
        if not isinstance(came, Delivery):
            continue
        said = decode(came.block)
        if "mark" in said:
            return found
        number = said["n"]
        assert isinstance(number, int)
        found |= {(number, asked) for asked in came.subscriptions}


async def test_a_broker_lets_pass_what_a_plain_evaluator_does() -> None:
    decisions, permitted, forbidden, missing = await through_a_broker(
        18, rounds=5, readers=4, asked=5, each=100
    )
    assert decisions == 10_000
    assert permitted > 100
    assert (forbidden, missing) == (0, 0)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_a_million_random_decisions_through_a_broker() -> None:
    decisions, permitted, forbidden, missing = await through_a_broker(
        1_018, rounds=50, readers=10, asked=10, each=200
    )
    assert decisions == 1_000_000
    assert permitted > 10_000
    assert (forbidden, missing) == (0, 0)
