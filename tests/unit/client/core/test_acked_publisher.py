"""Publications that want a receipt, as their publisher sees them."""

import asyncio

from siena.client.core.acked_publisher import AckedPublisher
from siena.protocol.durable.receipts import PublisherIs, Stored


async def test_what_the_life_before_had_on_its_way_is_of_no_other_program() -> None:
    """It reaches the disk between two connections of this life."""
    said: list[bytes] = []
    publisher = AckedPublisher(said.append, "importer")
    publisher.attach(is_durable=True)
    async with asyncio.TaskGroup() as group:
        begun = group.create_task(publisher.next_sequence())
        await asyncio.sleep(0)
        publisher.hear(PublisherIs("importer", 1, 50))
    assert begun.result() == 50
    publisher.detach()
    publisher.attach(is_durable=True)
    receipt = await publisher.publish(b"row 50")
    await asyncio.sleep(0)
    publisher.hear(PublisherIs("importer", 1, 80))
    publisher.hear(Stored(1, 50, 1, 150))
    assert await receipt == 150
    assert await publisher.next_sequence() == 51
