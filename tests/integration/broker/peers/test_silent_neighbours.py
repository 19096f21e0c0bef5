"""A neighbour that stays mute lets nobody wait for ever, and is named."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from msgspec.structs import replace

import siena
from broker.rogue import link
from siena.broker.settings import LinkSettings, Settings
from siena.errors import NotSettledError
from siena.protocol.control_frames import (
    Advertise,
    Quench,
    Settled,
    Subscribe,
    Tell,
    unpack,
)
from siena.protocol.frames import Op
from wire import Wire, connect, serving, until

PATIENT = Settings(listen=("127.0.0.1:0",), accept_peers=True, settle_seconds=0.5)


async def answer(wire: Wire) -> None:
    """Answer all questions of a broker, as others do."""
    while True:
        op, body = await wire.frame()
        if op == Op.TELL:
            tell = unpack(op, body)
            assert isinstance(tell, Tell)
            if tell.verb == "settle":
                wire.send(Tell("settled", [tell.fields[1]]).pack())


async def test_who_does_not_answer_is_named_wherever_it_is_asked() -> None:
    """Found: a peer that stays mute let settled() hang in the whole network."""
    async with AsyncExitStack() as stack:
        near = await stack.enter_async_context(serving(replace(PATIENT, name="near")))
        there = LinkSettings(url=near.addresses[0].url)
        far = await stack.enter_async_context(
            serving(replace(PATIENT, name="far", links=(there,)))
        )
        await until(lambda: near.state.links and far.state.links)
        await link(near, name="mute")
        for broker in (near, far):
            client = await connect(broker)
            client.send(Subscribe(1, "x = 1"))
            assert await client.next() == Settled(1, silent=("mute",))
        assert near.state.router.questions.silent
        assert not far.state.router.questions.silent  # near has answered


async def test_an_advertisement_is_answered_all_the_same() -> None:
    routing = replace(PATIENT.routing, forwarding="advertisement")
    async with serving(replace(PATIENT, routing=routing)) as broker:
        await link(broker, name="mute")
        client = await connect(broker)
        client.send(Advertise(1, "x any"))
        assert await client.next() == Quench(1, quenched=True)


async def test_a_program_is_told_who_did_not_answer_and_may_ask_again() -> None:
    async with serving(PATIENT) as broker:
        mute = await link(broker, name="mute")
        async with siena.connect(broker.addresses[0].url) as client:
            subscription = client.subscribe("x = 1")
            with pytest.raises(NotSettledError, match="no answer from mute") as caught:
                await subscription.settled()
            assert caught.value.silent == ("mute",)
            # It stands; and is settled once it is answered.
            await client.publish(x=1)
            assert (await subscription.get(timeout_s=5))["x"] == 1
            async with asyncio.TaskGroup() as group:
                answering = group.create_task(answer(mute))
                await subscription.settled()
                answering.cancel()
            assert not broker.state.router.questions.silent
