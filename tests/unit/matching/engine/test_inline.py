"""What C puts into each kernel agrees with the plain functions beside it."""

from itertools import product

from hypothesis import given, strategies as st

from siena.matching.kernels.inline import hashing, noted, octets
from siena.matching.kernels.match import hash_of


@given(st.binary(max_size=40), st.integers(0, 2**62))
def test_bytes_have_the_hash_of_the_twin(data: bytes, seed: int) -> None:
    assert hash_of(data, seed) == hashing.hash_bytes(data, 0, len(data), seed)


@given(st.integers(0, 2**62), st.sampled_from([0x80, 0x40, 0x60, 0x20, 0x10, 0xC0]))
def test_no_strings_are_prepared_that_collide_whatever_the_seed(
    seed: int, change: int
) -> None:
    """A difference in the high bits of a word is not taken back by the next word.

    Of a product's lower half it would be, every time or every second time.
    """
    plain = b"A" * 16
    changed = bytearray(plain)
    for place in (7, 11, 15):
        changed[place] ^= change
    texts = [b"".join(parts) for parts in product((plain, bytes(changed)), repeat=6)]
    assert len({hash_of(text, seed) for text in texts}) == len(texts)


@given(st.binary(max_size=12))
def test_the_twin_takes_what_python_decodes_for_text(data: bytes) -> None:
    """Surrogates are none, and nothing is longer than it must be."""
    is_text = octets.is_utf8(data, 0, len(data))
    assert is_text == (data.decode("utf-8", "replace").encode() == data)


@given(st.lists(st.integers(0, 2**31 - 1), unique=True, max_size=30))
def test_bits_tell_only_what_is_not_noted(operands: list[int]) -> None:
    """That compiled kernels agree, tests/unit/matching/engine/test_checking.py says."""
    words = [0] * noted.BIT_WORDS
    for operand in operands:
        noted.set_bit(words, 0, operand)
    assert all(noted.may_be_noted(words, 0, operand) for operand in operands)
    assert max(words) < 2**31
    if not operands:
        assert not noted.may_be_noted(words, 0, 5)
