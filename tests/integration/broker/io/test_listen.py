"""Listening: what is said where it cannot be."""

import pytest

from siena.broker.io.listen import listen
from siena.errors import SienaError
from siena.protocol.address import Address


def test_where_somebody_listens_already_there_is_a_way_out() -> None:
    with listen(Address("127.0.0.1", 0)) as first:
        first.listen()
        taken = Address("127.0.0.1", first.getsockname()[1])
        with pytest.raises(SienaError, match=r"in use \(port 0 stands for any"):
            listen(taken)


def test_of_a_machine_that_is_another_nothing_is_suggested() -> None:
    with pytest.raises(SienaError) as refused:
        listen(Address("192.0.2.1", 0))
    assert not refused.value.hint
