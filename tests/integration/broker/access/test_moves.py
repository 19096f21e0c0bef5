"""Moves between brokers that ask who comes."""

from pathlib import Path

import pytest

from broker.access import ALL, make_tokens
from siena.block import encode
from siena.broker.access.settings import Access
from siena.broker.settings import LinkSettings, Settings
from siena.protocol.control_frames import Done, Error, Move
from siena.protocol.data_frames import Delivery
from siena.protocol.frames import Op
from wire import connect, serving, until


async def test_a_client_takes_along_what_was_kept_between_linked_brokers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "credentials.json"
    token = make_tokens(file)["good"]
    peer = tmp_path / "peer.token"
    peer.write_text(f"{token}\n")
    settings = Settings(
        name="old",
        listen=("127.0.0.1:0",),
        accept_peers=True,
        access=Access(credentials=str(file), roles={"all": ALL}),
    )
    async with serving(settings) as old:
        url = old.addresses[0].url
        link = LinkSettings(url=url, token_file=str(peer))
        new_settings = Settings(
            name="new",
            listen=("127.0.0.1:0",),
            access=Access(credentials=str(file), roles={"all": ALL}),
            links=(link,),
        )
        async with serving(new_settings) as new:
            await until(lambda: old.state.links and new.state.links)
            before = await connect(old, token=token, identity="ann")
            await before.subscribe(1, "x any")
            before.close()
            await until(lambda: old.state.identities["ann"].sink is None)
            publisher = await connect(old, token=token)
            publisher.publish({"x": 1})
            await publisher.sync()
            after = await connect(new, token=token, identity="ann")
            after.send(Move(url))
            said = [await after.next(), await after.next()]
            assert Done(Op.MOVE) in said
            assert Delivery((1,), encode({"x": 1})) in said


@pytest.mark.parametrize("port", [1, 22, 65_535])
async def test_a_move_does_not_tell_open_ports_from_closed_ones(
    port: int, tmp_path: Path
) -> None:
    file = tmp_path / "credentials.json"
    token = make_tokens(file)["good"]
    access = Access(credentials=str(file), roles={"all": ALL})
    settings = Settings(listen=("127.0.0.1:0",), access=access)
    async with serving() as somebody, serving(settings) as broker:
        wire = await connect(broker, token=token, identity="ann")
        answers = []
        for url in (f"siena://127.0.0.1:{port}", somebody.addresses[0].url):
            wire.send(Move(url))
            said = await wire.next()
            assert isinstance(said, Error)
            answers.append((said.fault, said.text))
        assert answers[0] == answers[1]
        assert answers[0][0] == 107
        assert somebody.state.counters.connections == 0
