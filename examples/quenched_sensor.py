"""A quenched sensor: it does not even measure before somebody wants to know.

python examples/quenched_sensor.py
"""

import asyncio

import siena
from siena import testing


async def main() -> None:
    """A sensor in the attic, and somebody who asks for a while."""
    with testing.broker() as broker:
        async with (
            siena.connect(broker.url) as sensor,
            siena.connect(broker.url) as you,
        ):
            attic = sensor.advertise("what = temperature, degrees any, room = attic")
            await attic.settled()
            print("sensor: asleep" if attic.quenched else "sensor: awake")

            await you.subscribe("room = kitchen").settled()
            print("you ask for the kitchen, and the sensor of the attic", end=" ")
            print("sleeps on" if attic.quenched else "wakes up")

            hot = await you.subscribe("what = temperature and degrees > 30").settled()
            await attic.wanted()
            print("you ask for what is hot, and the sensor wakes up")
            for degrees in (19, 24, 31):
                await sensor.publish(what="temperature", room="attic", degrees=degrees)
            print("you hear:", await hot.get(10))

            await hot.close()
            async for is_quenched in attic.states():
                if is_quenched:
                    print("nobody asks any more: asleep")
                    break


if __name__ == "__main__":
    asyncio.run(main())
