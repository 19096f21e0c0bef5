"""Tables in files: the same answers, shared pages, and no half or damaged file."""

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from matching.compared_tables import Compared, Step, agree, histories
from siena.errors import TableFileError
from siena.lang import parse_filter, parse_predicate
from siena.matching.engine.table_file import ALIGNMENT, MAGIC, read
from siena.matching.matcher import UnknownFilterError
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification
from siena.sim.workload import TR0605


@given(
    before=histories(),
    after=histories(),
    interfaces=st.sampled_from([1, 3, 100]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_loaded_table_agrees_with_the_reference(
    tmp_path: Path, before: list[Step], after: list[Step], interfaces: int
) -> None:
    """At once, and after whatever happens to it from then on."""
    both = Compared(interfaces)
    both.happen(before)
    asked = [s for s in (*before, *after) if isinstance(s, Notification)]
    reasons = explained(both, asked)
    both.table.save(tmp_path / "table")
    agree(both.table, both.reference, asked)
    both.table, both.rebuild = ForwardingTable.load(tmp_path / "table"), None
    assert len(both.table) == len(both.reference)
    agree(both.table, both.reference, asked)
    assert explained(both, asked) == reasons
    both.happen(after)
    agree(both.table, both.reference, asked)
    both.table.save(tmp_path / "table")
    agree(ForwardingTable.load(tmp_path / "table"), both.reference, asked)


def explained(both: Compared, asked: list[Notification]) -> list[object]:
    return [both.table.explain(a, number) for a in asked for number in both.held]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A file with filters that came and went, and of every shape."""
    table = ForwardingTable()
    for i, f in enumerate(TR0605(names=30, seed=4).filters(300)):
        table.add(i % 7, f)
    table.add(90, Filter())
    table.add(91, parse_predicate("s1 = year or i2 < 10 or s3 contains a"))
    for number in range(0, 300, 3):
        table.remove(number)
    table.save(tmp_path / "table")
    return tmp_path / "table"


def test_numbers_interfaces_and_reasons_survive(stored: Path) -> None:
    table = ForwardingTable.load(stored)
    assert table.interface(301) == 91
    assert [r.holds for r in table.explain({"i2": 3}, 301)].count(True) == 1
    for number in (0, 302, -1):
        with pytest.raises(UnknownFilterError):
            table.remove(number)
    assert table.add(5, parse_filter("x = 1")) == 302
    assert table.match({"x": 1}) == {5, 90}
    assert table.stats().filters == len(table) == 203


def test_what_is_mapped_is_aligned_and_cannot_be_written_to(stored: Path) -> None:
    arrays = read(stored, verify=True).engine
    for array in arrays.values():
        assert array.ctypes.data % ALIGNMENT == 0
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_a_note_and_the_names_of_attributes_go_with_the_table(stored: Path) -> None:
    table = ForwardingTable.load(stored)
    assert bytes(table.note) == b""
    assert {"s1", "i2", "s3"} <= set(table.attributes())
    table.note = b"whose they are"
    name = table.save(stored)
    again = ForwardingTable.load(stored)
    assert bytes(again.note) == b"whose they are"
    assert again.attributes() == table.attributes()
    again.note = b""
    assert again.save(stored) != name


def test_two_tables_of_one_file_change_apart(stored: Path) -> None:
    """Both map the same pages; a change of one is its own."""
    one, two = ForwardingTable.load(stored), ForwardingTable.load(stored)
    number = one.add(70, parse_filter("x = 1"))
    one.remove(301)
    assert one.match({"x": 1, "i2": 3}) == two.match({"x": 1, "i2": 3}) - {91} | {70}
    assert two.add(71, parse_filter("x = 1")) == number
    assert two.interface(301) == 91


def test_the_name_is_the_same_while_nothing_changes(stored: Path) -> None:
    table = ForwardingTable.load(stored)
    contents = stored.read_bytes()
    name = table.save(stored)
    assert table.save(stored) == name
    assert len(name) == 64
    assert stored.read_bytes()[64:] != b""
    assert read(stored, verify=True).interests == 302
    assert contents[:8] == MAGIC


def test_a_file_is_replaced_at_once(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader has the old one or the new one; a failure leaves the old one, alone."""
    old = ForwardingTable.load(stored)
    expected = old.match_filters({"i2": 3})
    ForwardingTable().save(stored)
    assert len(ForwardingTable.load(stored)) == 0
    assert old.match_filters({"i2": 3}) == expected
    contents = stored.read_bytes()

    def fail(_: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        old.save(stored)
    assert stored.read_bytes() == contents
    assert list(stored.parent.iterdir()) == [stored]


@pytest.mark.parametrize("verify", [False, True])
def test_a_truncated_file_is_refused(stored: Path, *, verify: bool) -> None:
    contents = stored.read_bytes()
    sizes = {*range(200), *range(200, len(contents), 997), len(contents) - 1}
    for size in sizes:
        stored.write_bytes(contents[:size])
        with pytest.raises(TableFileError, match=r"damaged|not a table"):
            ForwardingTable.load(stored, verify=verify)


def test_a_flipped_bit_is_found(stored: Path) -> None:
    """In the directory always, elsewhere if the file is verified."""
    contents = stored.read_bytes()
    directory = 64 + int.from_bytes(contents[12:16], "little")
    random = Random(1)
    places = [*range(52), *(random.randrange(64, directory) for _ in range(100))]
    for place in places:
        stored.write_bytes(flipped(contents, place))
        with pytest.raises(TableFileError):
            ForwardingTable.load(stored, verify=False)
    for place in random.sample(range(directory, len(contents)), 50):
        stored.write_bytes(flipped(contents, place))
        with pytest.raises(TableFileError, match="damaged"):
            ForwardingTable.load(stored)


def flipped(contents: bytes, place: int) -> bytes:
    return contents[:place] + bytes([contents[place] ^ 4]) + contents[place + 1 :]


def test_a_newer_or_foreign_file_is_refused_in_one_line(stored: Path) -> None:
    contents = stored.read_bytes()
    stored.write_bytes(contents[:8] + b"\x63" + contents[9:])
    with pytest.raises(TableFileError, match=r"another version .* 99 \(this one reads"):
        ForwardingTable.load(stored)
    stored.write_bytes(b"PAR1" * 100)
    with pytest.raises(TableFileError, match="is not a table"):
        ForwardingTable.load(stored)


def test_a_table_is_loaded_without_an_object_for_each_filter(stored: Path) -> None:
    """What a change needs is copied when the first one comes, and not before."""
    table = ForwardingTable.load(stored)
    table.match_filters({"i2": 3})
    columns = table._tiers.columns
    assert len(columns.owners) == 0 < len(columns)
    assert not table._gone.flags.writeable
    table.add(1, parse_filter("x = 1"))
    assert len(columns.owners) == len(columns)
    assert np.all(np.diff(columns.owners) >= 0)
