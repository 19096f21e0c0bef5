"""Every way to a broker, with every credential: who is let in, what others hear."""

import logging
from pathlib import Path

import pytest

from broker.access import EXPECTED, OWNING_WAYS, WAYS, Guarded, Way, guarded
from siena.broker.access import attempts


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are answered at once: there are many."""
    monkeypatch.setattr(attempts, "DELAY_SECONDS", 0.0)


async def row(found: Guarded, way: Way) -> dict[str, int]:
    """What one way says to each credential."""
    return {name: await way(found, token) for name, token in found.tokens.items()}


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_asks_for_a_credential(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with guarded(tmp_path) as found:
        assert await row(found, WAYS[way]) == EXPECTED
        counters = found.broker.state.counters
        admitted = sum(number == 0 for number in EXPECTED.values())
        assert counters.logins == admitted
        assert counters.logins_refused == len(EXPECTED) - admitted
        assert counters.publications <= admitted
        tokens = [token for token in found.tokens.values() if token]
    # What the test's own WebSocket writes of itself is not the broker's.
    records = [r for r in caplog.records if r.name != "websockets.client"]
    text = "\n".join(r.getMessage() for r in records)
    assert not [token for token in tokens if token in text]


@pytest.mark.parametrize("way", OWNING_WAYS)
async def test_what_is_kept_is_for_its_owner(way: str, tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        assert await row(found, OWNING_WAYS[way]) == {**EXPECTED, "narrower": 213}
