"""Relays outlive the broker: how far they are, and what neighbours want."""

from pathlib import Path

import pytest

from siena.broker.durable.relays import relay_file
from siena.broker.durable.relays.relay import Relay
from siena.broker.durable.relays.relay_file import RelayFile, needed_by_neighbours
from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.messages import Side


def again(folder: Path) -> dict[int, Relay]:
    return {each.number: each for each in RelayFile(folder, list).read()}


async def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    relay = Relay(7, "b7", Side.MASTER, 10)
    relay.wanted[parse_filter("x > 3")] += 1
    relays = [relay]
    file = RelayFile(tmp_path, lambda: relays)
    assert file.read() == []
    file.begin()
    other = Relay(8, "b8", Side.PEER, 20)
    relays.append(other)
    file.save(other)
    relay.position = 15
    file.save_position(relay)
    file.save_wanted(7, "x > 3", gained=False)
    file.save_wanted(7, "[]", gained=True)
    file.save_wanted(8, "y any", gained=True)
    file.save_wanted(8, "y any", gained=False)  # the last counts
    file.flush()
    other.missed_since, other.is_given_up, other.dropped = 5.0, True, 3
    file.save(other)
    found = again(tmp_path)
    assert (found[7].position, found[7].side, found[7].name) == (15, Side.MASTER, "b7")
    assert [str(f) for f in found[7].wanted] == ["[]"]
    assert not found[8].wanted
    assert (found[8].missed_since, found[8].is_given_up, found[8].dropped) == (
        *(5.0, True),
        3,
    )
    assert needed_by_neighbours(tmp_path) == 15  # the other is waited for no longer
    relay.wanted.clear()
    await file.close()
    assert again(tmp_path)[7].wanted == {}


def test_nothing_is_needed_where_there_was_no_neighbour(tmp_path: Path) -> None:
    assert needed_by_neighbours(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(SienaError, match="cannot be written"):
        RelayFile(tmp_path / "nowhere", list).begin()


async def test_what_cannot_be_read_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = RelayFile(tmp_path, lambda: [Relay(7, "b7", Side.PEER, 10)])
    file.begin()
    file.save_wanted(7, "x resembles 3", gained=True)
    file.save_wanted(7, "x > 3", gained=True)
    file.flush()
    assert [str(f) for f in again(tmp_path)[7].wanted] == ["x > 3"]
    assert "cannot be read" in caplog.text
    await file.close()


async def test_who_wants_too_much_to_write_down_is_kept_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rather than some of it: what is not kept is lost."""
    monkeypatch.setattr(relay_file, "RELAY_FILTERS_MAX", 2)
    relay = Relay(7, "b7", Side.MASTER, 10)
    file = RelayFile(tmp_path, lambda: [relay])
    for count, wanted in ((2, ["x = 0", "x = 1"]), (3, ["[]"])):
        relay.wanted.update(parse_filter(f"x = {n}") for n in range(count))
        file.begin()
        assert [str(f) for f in again(tmp_path)[7].wanted] == wanted
    await file.close()
