"""Lines of notifications: the fast reader never says anything of its own."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import event, example, given, strategies as st

from siena.cli.common import notification_lines as module
from siena.cli.common.notification_lines import lines_of, read_notification
from siena.errors import SienaError
from siena.lang.notification_form import notification_to_json
from siena.model import Value
from strategies import notifications


def kinds(notification: Mapping[str, Value]) -> dict[str, tuple[type, str]]:
    """With the kinds, and -0.0 apart from 0.0."""
    return {name: (type(v), repr(v)) for name, v in notification.items()}


def agree(line: bytes) -> None:
    """The fast reader says what the full one says, or nothing."""
    plain = module._read_plain(line)
    if plain is None:
        event("left to the full reader")
    else:
        event("read fast")
        assert kinds(plain) == kinds(module._read_fully(line))


PIECES = [
    *("{", "}", "[", "]", ",", ":", '"', "\\", " ", "\r", "\t", "\x00", "\u2028"),
    *('"a":', '"a": 1', '"b": "x"', '"c":null', '"":0', '"a:b":1', '"a":"x:y"'),
    *('"t":{"time":"2013-01-01T10:00:00Z"}', '"t":{"time":"10:00:00Z","time":""}'),
    *('"t":{"time":1}', '"t":{}', '"x":[]', "0", "-0", "-0.0", "1e400", "1E5", "0.1"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "NaN"),
    *("true", "false", "null", "x", "é", "\ufeff", "1.0", "01", "1.", "-", "+1"),
    '"\\u0061":1',
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@example('{"a":1,"b":"x","c":null,"t":{"time":"2013-01-01T10:00:00Z"}}')
@example('{"a":1,"a":2}')
@example('{"a":"x:y","a":2}')
@example('{"a":1,"a":2,"b":"\\u003a"}')  # the escape hides the colon that is missing
@example('{"t":{"time":"1","time":"2013-01-01T10:00:00Z"}}')
@example('{"a":-0.0,"b":-0,"c":1e400}')
@example('{"a":9223372036854775808}')
@example('{"a":{"time":{"time":"2013-01-01T10:00:00Z"}}}')
@example('{"a":"\ud800"}')
def test_whatever_the_line_both_readers_agree(text: str) -> None:
    agree(text.encode(errors="surrogatepass"))


entries = st.sampled_from([p for p in PIECES if p.startswith('"') and ":" in p])


@given(st.lists(entries, max_size=5).map(",".join))
def test_whatever_the_object_both_readers_agree(text: str) -> None:
    agree(f"{{{text}}}".encode())


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 40))
def test_numbers_are_read_to_the_last_bit(number: float, digits: int) -> None:
    for text in (repr(number), f"{number:.{digits}e}"):
        agree(f'{{"x":{text}}}'.encode())


@given(notifications())
def test_what_we_write_is_read_fast(notification: Mapping[str, Value]) -> None:
    line = msgspec.json.encode(notification_to_json(notification))
    if notification and b"\\" not in line:
        plain = module._read_plain(line)
        assert plain is not None
        assert kinds(plain) == kinds(notification)


@pytest.mark.parametrize(
    "line",
    [
        b'{"' + b"n" * 1025 + b'": 1}',
        b'{"x": "' + b"a" * 1_048_577 + b'"}',
        b"{" + b",".join(b'"n%d":1' % n for n in range(1025)) + b"}",
        b"[" * 100_000,
        b'{"x": ' * 100_000,
        b'{"x": "\xff"}',
    ],
    ids=["name", "string", "attributes", "depth", "depth of objects", "UTF-8"],
)
def test_what_is_too_much_or_broken_is_refused_by_the_full_reader(line: bytes) -> None:
    assert module._read_plain(line) is None
    with pytest.raises(SienaError):
        read_notification(line)


# --- Cutting ----------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Iterator["Lines"]:
    reader = Lines(tmp_path / "lines")
    yield reader
    os.close(reader.source)


class Lines:
    """The lines of what is written to a file."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self.source = os.open(path, os.O_RDONLY)
        self.path = path

    def of(self, content: bytes) -> list[bytes]:
        self.path.write_bytes(content)
        return [line for some in lines_of(self.source) for line in some]


def test_a_long_line_is_refused_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    monkeypatch.setattr(module, "LINE_BYTES_MAX", 50)
    monkeypatch.setattr(module, "CHUNK_BYTES", 16)
    found = lines.of(b"x = " + b"a" * 1000 + b"\ndest = DEN")
    assert len(found) == 2
    assert 50 < len(found[0]) <= 200
    assert found[1] == b"dest = DEN"
    with pytest.raises(SienaError, match="more than 50 bytes in a line"):
        read_notification(found[0])


@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_lines_are_the_same_however_they_come(
    monkeypatch: pytest.MonkeyPatch, lines: Lines, chunk: int
) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    assert lines.of(b"\xef\xbb\xbfab\n\nc\r\nd") == [b"ab", b"", b"c\r", b"d"]


def test_a_byte_order_mark_is_no_part_of_the_only_line(lines: Lines) -> None:
    assert lines.of(b"\xef\xbb\xbfab") == [b"ab"]
