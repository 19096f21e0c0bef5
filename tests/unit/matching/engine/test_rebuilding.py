"""Tables that change for long: rebuilds leave behind what nobody needs."""

import random

import pytest

from siena.lang.parser import parse_filter
from siena.matching.engine import columns
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification, Value


def _interest(draw: random.Random) -> Filter:
    n = draw.randrange(1_000)
    text = draw.choice(
        [
            "s = k{0}",
            "s starts with k{0}",
            "x > {0}",
            "x < {0} and s = k{0}",
            "t{0} any",
        ]
    )
    return parse_filter(text.format(n))


def test_interests_that_come_and_go_leave_nothing_behind() -> None:
    table = ForwardingTable()
    table.leave_to_rebuilds()
    for n in range(20_000):
        table.remove(table.add(0, parse_filter(f"id = k{n} and price > {n}")))
        if n % 1_000 == 0:
            rebuild = table.rebuild()
            rebuild.run()
            assert table.adopt(rebuild)
    held = table._tiers.columns
    assert len(held._name) <= columns.UNUSED_MAX + 2_000
    assert len(held.strings) <= columns.UNUSED_MAX + 2_000
    assert len(held.numbers) == len(held._constraints) == len(held._name)


@pytest.mark.parametrize("seed", range(5))
def test_rows_stay_what_they_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is left behind, and whatever changes while it is compiled anew."""
    monkeypatch.setattr(columns, "UNUSED_MAX", 0)
    draw = random.Random(seed)
    table = ForwardingTable()
    table.leave_to_rebuilds()
    held: dict[int, Filter] = {}

    def change(count: int) -> None:
        for _ in range(count):
            if held and draw.random() < 0.6:
                number = draw.choice([*held])
                table.remove(number)
                del held[number]
            else:
                interest = _interest(draw)
                held[table.add(draw.randrange(9), interest)] = interest

    were_compact = 0
    for _ in range(12):
        change(draw.randrange(120))
        rebuild = table.rebuild()
        change(draw.randrange(90))
        rebuild.run()
        change(draw.randrange(90))
        were_compact += rebuild.columns.is_compact
        assert table.adopt(rebuild)
        change(draw.randrange(10))
        for _ in range(40):
            n = draw.randrange(1_000)
            some: dict[str, Value] = {
                "s": f"k{n}",
                "x": draw.randrange(1_000),
                f"t{n}": 1,
            }
            found = table.match_filters(some)
            wanted = Notification(some)
            assert found == [i for i, f in held.items() if f.matches(wanted)]
            for number in found[:3]:
                assert all(table.explain(some, number))
    assert were_compact
