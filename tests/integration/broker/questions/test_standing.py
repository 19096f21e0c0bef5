"""Patterns and advertisements at a broker, and who its neighbours' clients are."""

from pathlib import Path

from asked_over_http import served
from siena.broker.settings import Log, Settings
from siena.protocol.control_frames import Advertise
from wire import chain, connect, serving


async def test_patterns_and_advertisements_are_tried_on_the_log(
    tmp_path: Path,
) -> None:
    settings = Settings(listen=("127.0.0.1:0",), log=Log(path=str(tmp_path)))
    async with serving(settings) as broker, served(broker) as asked:
        wire = await connect(broker)
        for n in (2, 1, 3, 2, 1):
            wire.publish({"n": n})
            await wire.sync()
        wire.publish({"n": 2, "y": 0})
        await wire.sync()
        said = await asked.ask("backtest", text="n = 1 then n = 2")
        assert (said["looked_at"], said["matched"]) == (6, 2)
        assert [each["sequence"] for each in said["shown"]] == [
            ["n = 1", "n = 2 and y = 0"],
            ["n = 1", "n = 2"],
        ]
        said = await asked.ask("backtest", text="n < 3", dialect="advertisement")
        assert (said["looked_at"], said["matched"]) == (6, 4)


async def test_patterns_and_advertisements_relate_to_those_that_stand() -> None:
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker, name="desk")
        await wire.subscribe(1, "x > 3 then y > 3")
        await wire.subscribe(2, "x any then y any")
        await wire.subscribe(3, "x > 3")
        wire.send(Advertise(1, "x < 9"))
        await wire.sync()
        came = ["x = 5", "y = 1", "x = 5", "y = 5"]
        said = await asked.ask("relations", text="x > 1 then y > 1", notifications=came)
        assert [each["text"] for each in said["covers"]["shown"]] == [
            "x > 3 then y > 3"
        ]
        assert [each["text"] for each in said["covered_by"]["shown"]] == [
            "x any then y any"
        ]
        assert said["outside"]["text"] == "x any then y any"
        assert said["wanted"] == 2
        assert said["sequences"] == {"count": 1, "shown": [["x = 5", "y = 5"]]}
        said = await asked.ask("relations", text="x < 10", dialect="advertisement")
        assert [each["text"] for each in said["covers"]["shown"]] == ["x < 9"]
        assert said["example"] == "x = 0"
        assert said["covered_by"]["count"] == 0
        assert said["overlaps"]["count"] == 2


async def test_clients_of_other_brokers_are_shown() -> None:
    async with chain(2) as (one, two), served(one) as asked:
        wire = await connect(two, name="desk")
        await wire.subscribe(1, "x > 3")
        said = await asked.ask("clients", broker=two.name)
        (desk,) = said["sessions"]  # who asks is left out
        assert (desk["name"], desk["interests"]) == ("desk", ["x > 3"])
        assert "error" in await asked.ask("clients", broker="none")
