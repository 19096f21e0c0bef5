"""Files of subscriptions: both formats, whatever they are called; and what is not."""

from pathlib import Path

import pytest

from siena.cli.common.subscriptions import read_subscriptions
from siena.errors import SienaError
from siena.lang.parser import parse_interest

WANTED = [
    ("b\u2028", parse_interest("dest = DEN")),
    ("7", parse_interest("x in (1, 2)")),
]
JSON = """{"subscriber": "b\u2028", "filter": "dest = DEN"}\r\n
{"subscriber": 7, "filter": "x in (1, 2)", "more": null}"""
CSV = """\ufeffextra,filter,subscriber\r\n1,dest = DEN,"b\u2028"\r\n
2,"x in (1,\n 2)",7"""


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", CSV), ("a.CSV", CSV), ("a", CSV), ("a.json", JSON), ("a", JSON)],
)
def test_both_formats_say_the_same(tmp_path: Path, name: str, content: str) -> None:
    """What has no telling name is known by its beginning, as a pipe has to be."""
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert list(read_subscriptions(path)) == WANTED


def test_an_empty_file_has_no_subscriptions(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text("\n")
    assert list(read_subscriptions(path)) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"name,filter\nbob,x any\n", 'line 1: the columns "subscriber"'),
        ("a.csv", b"", 'line 1: the columns "subscriber" and "filter" are wanted'),
        (
            "a.csv",
            b"subscriber,filter\na,x = 1\nb,x = 1, y = 2\n",
            "line 3: there are more columns than names; a filter with commas stands in",
        ),
        ("a.csv", b"subscriber,filter\n,x any\n", "line 2: a subscriber has a name"),
        ("a.csv", b"subscriber,filter\nbob\n", 'line 2: a subscription needs a "fil'),
        ("a.csv", b"subscriber,filter\nbob,\n", "line 2: column 1: expected a name"),
        ("a.csv", b"subscriber,filter\nbob," + b"x" * 200_000, "line 2: field larger"),
        ("a.csv", b"subscriber,filter\nb\xf6b,x any\n", "line 2: this is not UTF-8"),
        ("a.ndjson", b'{"subscriber": "a"}', 'line 1: a subscription needs a "filter"'),
        ("a.ndjson", b'\n{"filter": "x any"}', 'line 2: a subscription needs a "subs'),
        ("a.ndjson", b'{"subscriber": "a", "filter": "x >"}', "line 1: column 4: exp"),
        (
            "a.ndjson",
            b'{"subscriber": "a", "filter": "x any then y any"}',
            "line 1: a p",
        ),
        (
            "a.ndjson",
            b'{"subscriber": true, "filter": "x any"}',
            "line 1: a subscripti",
        ),
        ("a.ndjson", b"[", "line 1: column 2: this is not JSON"),
        ("a.ndjson", b"subscriber,filter\nbob,x any\n", "line 1: column 1: this is no"),
    ],
)
def test_a_file_that_is_not_of_subscriptions_is_refused_with_the_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SienaError) as caught:
        list(read_subscriptions(path))
    assert str(caught.value).startswith(f"{path}, {said}")
