"""What a regular expression needs is in every string in which it occurs."""

import pytest
from hypothesis import example, given, strategies as st

from siena.dialects.factoring.literals import DEPTH_MAX, needed_texts
from siena.model.expression.regular import compile_regular
from siena.model.folding import fold

pytest.importorskip("re2")

PIECES = st.one_of(
    st.sampled_from(["a", "b", "Ab", "k", "S", "-", "\u00df", "[ab]", "[kK]", "[]b]"]),
    st.sampled_from([".", "^", "$", "[^a]", "[a-c]", "(?i)", r"\.", r"\s", r"\b"]),
    st.sampled_from([r"\x61", r"\Qa.b\E", r"\pL"]),
)
PATTERNS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: f"(?:{'|'.join(parts)})"
        ),
        st.tuples(
            inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "+?"])
        ).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"(?i:{part})"),
        inner.map(lambda part: f"(?P<n>{part})"),
    ),
    max_leaves=8,
)
TEXTS = st.text("abckKsS\N{KELVIN SIGN}\u017f.- \u00df\u1e9e", max_size=12)


@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=8))
@example("(?i)k", ["\N{KELVIN SIGN}"])
@example("(?:a|)b", ["b"])
@example("[aA]b", ["AB", "Ab"])
def test_what_is_needed_is_there(pattern: str, texts: list[str]) -> None:
    try:
        occurs = compile_regular(pattern)
    except ValueError:
        return  # refused for a name that comes twice, or the like
    places, ignores_case, shortest = needed_texts(pattern)
    for text in texts:
        if occurs(text):
            seen = fold(text) if ignores_case else text
            assert all(any(part in seen for part in place) for place in places)
            assert len(text) >= shortest


def test_letters_that_are_alike_to_the_matcher_are_folded_alike() -> None:
    """Of ASCII: what stands for more is not looked for."""
    beyond = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x20000)]))
    import re2  # noqa: PLC0415 -- the test is skipped without it

    for letter in map(chr, range(0x21, 0x7F)):
        found = re2.findall(f"(?i){re2.escape(letter)}", beyond)
        assert {fold(each) for each in found} <= {fold(letter)}


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("powershell", [{"powershell"}]),
        (r"net\s+(?:user|group)", [{"net"}, {"user", "group"}]),
        (r"\$\{?env", [{"$env", "${env"}]),
        (r"(?:ab){2,}c", [{"ab"}, {"c"}]),
        (r"a|", []),
        (r".*", []),
        (r"\p{Greek}x", [{"x"}]),
        (r"(?:" * (DEPTH_MAX + 2) + "a" + ")" * (DEPTH_MAX + 2), []),
        (r"[[:alpha:]]x", []),
        ("|".join(f"text{n}" for n in range(100)), []),
    ],
)
def test_what_is_found(pattern: str, places: list[set[str]]) -> None:
    assert [set(place) for place in needed_texts(pattern).places] == places
