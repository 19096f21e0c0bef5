"""What C puts into each kernel agrees with the plain functions beside it."""

from hypothesis import given, strategies as st

from siena.matching.kernels.inline import hashing, octets
from siena.matching.kernels.match import hash_of


@given(st.binary(max_size=40), st.integers(0, 2**62))
def test_bytes_have_the_hash_of_the_twin(data: bytes, seed: int) -> None:
    assert hash_of(data, seed) == hashing.hash_bytes(data, 0, len(data), seed)


@given(st.binary(max_size=12))
def test_the_twin_takes_what_python_decodes_for_text(data: bytes) -> None:
    """Surrogates are none, and nothing is longer than it must be."""
    is_text = octets.is_utf8(data, 0, len(data))
    assert is_text == (data.decode("utf-8", "replace").encode() == data)
