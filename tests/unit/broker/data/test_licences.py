"""Licences: who may publish what, decided in the table of the exchange."""

from siena.block import encode
from siena.broker.data.exchange import Exchange
from siena.broker.data.licences import Licences
from siena.lang.parser import parse_filter, parse_predicate as parse
from siena.protocol.fast.split_frames import run_of


def test_a_licence_is_decided_behind_any_number_of_subscriptions() -> None:
    exchange = Exchange()
    for number in range(1_000):
        exchange.subscribe(7, number, parse_filter(f"n = {number}"))
    licences = Licences(exchange)
    licence = licences.take(parse("x = 1 or y = 1"))
    assert licence is not None
    run = run_of([encode(n) for n in ({"x": 1, "y": 1}, {"x": 2}, {"y": 1})])
    its_number = licences.number_of(licence)
    found = exchange.route(run.frames, run.start, run.end, its_number)
    assert found.allowed is not None
    assert found.allowed.tolist() == licence.allows(run).tolist() == [True, False, True]
    assert found.others == []
