"""A test of one's own: your program, against a real broker, and against three.

Run it by pytest, which finds the functions, or as a program:

    pytest examples/own_test.py
    python examples/own_test.py
"""

import siena
from siena import testing


def check_orders(shop_url: str, office_url: str) -> None:
    """Whoever is where: what runs low is ordered, and nothing else."""
    with siena.connect(shop_url) as shop, siena.connect(office_url) as office:
        orders = shop.subscribe("what = order").settled()
        low = office.subscribe("what = stock and left < 10").settled()
        shop.publish(what="stock", item="pens", left=3)
        shop.publish(what="stock", item="ink", left=30)
        item = low.get(timeout_s=10)
        office.publish(what="order", item=item["item"], count=10 - item["left"])
        assert orders.get(timeout_s=10)["count"] == 7
        assert not list(orders.within(0.2))


def test_orders_at_one_broker() -> None:
    """A broker starts in milliseconds, at a free port, and ends with the block."""
    with testing.broker() as broker:
        check_orders(broker.url, broker.url)


def test_orders_across_a_network() -> None:
    """The same, with two brokers between shop and office."""
    with testing.network("chain:4") as brokers:
        check_orders(brokers[1].url, brokers[4].url)


if __name__ == "__main__":
    test_orders_at_one_broker()
    print("one broker: as expected")
    test_orders_across_a_network()
    print("four brokers in a row: as expected")
