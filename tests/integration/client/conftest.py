"""One broker for the tests of a module, in a thread; nobody sees what others did."""

from collections.abc import Iterator

import pytest

from siena import testing


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where a broker is."""
    with testing.broker() as broker:
        yield broker.url
