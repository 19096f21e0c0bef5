"""URLs of stores: what they mean, and what is not shown of them."""

import pytest

from siena.broker.log.stores.url import read_store_url
from siena.errors import SienaError


@pytest.mark.parametrize(
    "text",
    [
        "nats://user:secret@a/orders",
        "nats://user:sec/secret@a/orders",
        "https://user:secret@a/orders",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SienaError, match="has no password") as caught:
        read_store_url(text)
    assert "secret" not in str(caught.value)
