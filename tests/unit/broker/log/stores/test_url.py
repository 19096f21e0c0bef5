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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("redis://a/orders", "is no store"),
        ("kafka://a/", "does not say what the stream is called"),
        ("kafka://a:b/orders", "'a:b' is no server"),
        ("kafka://a/or.ders", "letters, digits"),
        ("kafka://a/orders?sasl=GSSAPI", "and not 'GSSAPI'"),
        ("nats://a/orders?sasl=PLAIN", "knows nothing of sasl"),
        ("kafka://a/orders?replicas=9", "1 to 5, and not '9'"),
    ],
)
def test_what_means_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(SienaError, match=said):
        read_store_url(text)


def test_stores_of_two_makers_are_not_taken_for_each_other() -> None:
    """A folder says of which it is the working copy."""
    nats, kafka = (read_store_url(f"{maker}://a/orders") for maker in ("nats", "kafka"))
    assert (nats.identity, nats.shown) == (
        "the stream orders of NATS",
        "nats://a:4222/orders",
    )
    assert (kafka.identity, kafka.shown) == (
        "the topic orders of Kafka",
        "kafka://a:9092/orders",
    )
    assert read_store_url("kafka+tls://a/orders?sasl=SCRAM-SHA-512").sasl.endswith(
        "512"
    )
