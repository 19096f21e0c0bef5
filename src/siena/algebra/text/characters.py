"""Characters in their order, without the surrogates, which are none."""

from collections.abc import Iterator

from siena.model.values import CHARACTER_MAX

CHARACTER_MIN = "\0"
# Characters that read well in a witness, tried before all others.
_READABLE = "abcdefghijklmnopqrstuvwxyz!0ABCDEFGHIJKLMNOPQRSTUVWXYZ.~"


def following(character: str) -> str | None:
    """The next character, if there is one."""
    code = ord(character) + 1
    if code > ord(CHARACTER_MAX):
        return None
    return chr(0xE000 if code == 0xD800 else code)  # over the surrogates


def preceding(character: str) -> str | None:
    """The character before, if there is one."""
    code = ord(character) - 1
    if code < 0:
        return None
    return chr(0xD7FF if code == 0xDFFF else code)


def characters(first: str, last: str) -> Iterator[str]:
    """The characters of a range, the readable ones first, and then all of them."""
    yield from (c for c in _READABLE if first <= c <= last)
    character: str | None = first
    while character is not None and character <= last:
        yield character
        character = following(character)
