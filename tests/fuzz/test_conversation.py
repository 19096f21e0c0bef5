"""The conversation that brokers drive says what its obvious twin says."""

import random
from typing import Any

import pytest

from protocol.damage import after_hello, damaged_stream, drawn, nonsense
from protocol.obvious_server import obviously
from protocol.streams import KINDS, LIMITS, chopped, heard, plain
from siena.protocol.fast import split_frames
from siena.protocol.server import ServerConversation

SERVED = ("requests", "brokers", "lines")


def without_texts(events: list[Any]) -> list[Any]:
    """Of errors, their fault and operation: texts are for people."""
    return [(e[0], e[2]) if type(e) is tuple else e for e in events]


@pytest.mark.parametrize("short", [0, split_frames.SHORT_BYTES], ids=["kernel", "loop"])
@pytest.mark.parametrize("kind", SERVED)
def test_any_stream_means_what_it_means_frame_by_frame(
    kind: str, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_frames, "SHORT_BYTES", short)
    rng = random.Random(f"twins {kind}")
    for _ in range(500):
        how = rng.choice((drawn, drawn, damaged_stream, nonsense, after_hello))
        data = how(rng, kind)
        events = heard(ServerConversation(LIMITS), chopped(rng, data))
        assert without_texts(events) == obviously(data, LIMITS)


@pytest.mark.parametrize("kind", SERVED[:2])
def test_frames_read_where_they_came_mean_the_same(kind: str) -> None:
    """The rest of what came before stands in front of what comes, as in a broker."""
    rng = random.Random(f"in place {kind}")
    for _ in range(200):
        data = drawn(rng, kind)
        conversation = ServerConversation(LIMITS)
        events = heard(conversation, iter([KINDS[kind][1]]))
        for piece in chopped(rng, data[len(KINDS[kind][1]) :]):
            rest = conversation.rest
            if rest is None or not piece:
                continue
            came = memoryview(rest + piece)
            events += plain(conversation.read_in_place(came, 0) or iter(()))
        assert without_texts(events) == obviously(data, LIMITS)
