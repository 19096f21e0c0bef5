"""Small files of a stream: what it has not taken is offered again."""

from pathlib import Path

from siena.broker.log.stores.states import States
from siena.clock import SystemClock


def test_what_the_stream_did_not_take_is_taken_again(tmp_path: Path) -> None:
    (tmp_path / "cursors.state").write_bytes(b"1")
    states = States(tmp_path, SystemClock())
    for _ in range(2):  # the stream did not answer
        (state,) = states.take(at_once=True)
        assert state.name == "cursors.state"
    states.have_taken_kept()
    assert states.take(at_once=True) == []
