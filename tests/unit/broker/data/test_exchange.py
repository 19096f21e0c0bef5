"""The exchange against its obvious twin, while interests come and go."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hypothesis import given, strategies as st

from broker.obvious_exchange import ObviousExchange
from siena.block import encode
from siena.broker.data.exchange import Exchange, Routed
from siena.lang.parser import parse_filter as parse
from siena.matching.engine.linear_tier import TESTED_MAX
from siena.matching.table import WHOLE_ROWS_MAX
from siena.model import Filter, Notification, Predicate
from siena.protocol.data_frames import unpack_msg
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import Splitter
from strategies import filters, notifications, predicates

Subscribed = tuple[int, int, Filter | Predicate]
Watched = tuple[int, Filter]
Routing = list[Notification | None]

subscribed = st.tuples(
    st.integers(1, 4), st.integers(0, 3), st.one_of(filters(), predicates())
)
watched = st.tuples(st.sampled_from([-1, 5]), filters())
published = st.lists(st.one_of(notifications(), st.none()), max_size=4)
steps = st.one_of(subscribed, watched, st.integers(1, 4), published)


@given(st.lists(steps, max_size=20))
def test_the_exchange_is_its_twin(
    script: list[Subscribed | Watched | int | Routing],
) -> None:
    exchange, twin = Exchange(), ObviousExchange()
    entries: dict[tuple[int, int], int] = {}
    watching: set[Watched] = set()
    away: set[int] = set()
    for step in script:
        if isinstance(step, list):
            assert routed(exchange, step) == routed(twin, step)
        elif isinstance(step, int):
            held = [entry for (who, _), entry in entries.items() if who == step]
            (exchange.resume if step in away else exchange.suspend)(step, held)
            (twin.resume if step in away else twin.suspend)(step)
            away ^= {step}
        elif len(step) == 3:
            connection, number, interest = step
            if (connection, number) in entries:  # the second time it is taken back
                entry = entries.pop((connection, number))
                exchange.unsubscribe(connection, entry)
                twin.unsubscribe(connection, number)
            else:
                is_away = connection in away
                entries[connection, number] = exchange.subscribe(
                    connection, number, interest, is_away=is_away
                )
                twin.subscribe(connection, number, interest, is_away=is_away)
        else:
            for one in (exchange, twin):
                if step in watching:
                    one.unwatch(*step)
                else:
                    one.watch(*step)
            watching ^= {step}
        assert len(exchange) == len(twin)


def routed(exchange: Exchange | ObviousExchange, notifications: Routing) -> object:
    """What comes of notifications, and of blocks that are none, in a fixed order."""
    blocks = [b"\xc0" if n is None else encode(n) for n in notifications]
    frames = run_of(blocks).frames
    return plain(exchange.route(frames, 0, len(frames)))


def plain(found: Routed) -> object:
    out = {}
    for connection, data, count in found.out:
        frames = [unpack_msg(frame.body) for frame in Splitter().feed(data)]
        out[connection] = [(sorted(ids), block) for ids, block in frames], count
    others = {key: indices.tolist() for key, indices in found.others}
    return found.total, found.end, out, sorted(found.bad), others


def test_a_neighbour_comes_after_many_clients_interests() -> None:
    """Its first interest has a number far beyond those that it had before: none."""
    exchange = Exchange()
    for number in range(2_000):
        exchange.subscribe(1, number, parse(f"x = {number}"))
    exchange.watch(5, parse("x = 7"))
    frames = run_of([encode({"x": 7})]).frames
    ((key, messages),) = exchange.route(frames, 0, len(frames)).others
    assert (key, messages.tolist()) == (5, [0])


def test_only_what_follows_a_change_is_matched_at_the_cost_of_who_changed_it() -> None:
    exchange = Exchange()
    at_rest: list[bool] = []

    @contextmanager
    def compiling(is_at_rest: Callable[[], bool]) -> Iterator[None]:
        yield
        at_rest.append(is_at_rest())

    exchange.compiling = compiling
    changes: list[None] = []
    exchange.watchers.append(lambda: changes.append(None))
    frames = run_of([encode({"x": 5})]).frames
    entry = exchange.subscribe(7, 1, parse("x > 3"))
    for _ in range(3):
        assert exchange.route(frames, 0, len(frames)).out
    assert at_rest == [True]
    exchange.unsubscribe(7, entry)
    assert not exchange.route(frames, 0, len(frames)).out
    assert len(at_rest) == 2
    assert len(changes) == 2


def test_what_is_matched_in_several_engines_is_known_until_one_is_made() -> None:
    exchange = Exchange()
    times = [0]

    @contextmanager
    def scattered() -> Iterator[None]:
        yield
        times[0] += 1

    exchange.scattered = scattered
    for number in range(WHOLE_ROWS_MAX):
        exchange.subscribe(7, number, parse(f"x = {number}"))
    frames = run_of([encode({"x": 5})]).frames

    def route() -> list[int]:
        return [count for _, _, count in exchange.route(frames, 0, len(frames)).out]

    assert [route() for _ in range(3)] == [[1]] * 3
    assert times == [0]
    entry = exchange.subscribe(7, WHOLE_ROWS_MAX, parse("x > 4"))
    many = TESTED_MAX + 3  # the last few in an engine of its own
    assert [route() for _ in range(many)] == [[1]] * many
    assert times[0] > 0
    exchange.unsubscribe(7, entry)
    before = times[0]
    assert [route() for _ in range(3)] == [[1]] * 3  # it is removed, and known still
    assert times[0] > before
    rebuild = exchange.table.rebuild()
    rebuild.run()
    exchange.table.adopt(rebuild)
    before = times[0]
    assert [route() for _ in range(3)] == [[1]] * 3
    assert times[0] == before
