"""Listening: what is said where it cannot be, and how the accepted are written to."""

import asyncio
import socket

import pytest

from siena.broker.io.listen import listen
from siena.errors import SienaError
from siena.protocol.address import Address


def test_where_somebody_listens_already_there_is_a_way_out() -> None:
    with listen(Address("127.0.0.1", 0)) as first:
        first.listen()
        taken = Address("127.0.0.1", first.getsockname()[1])
        with pytest.raises(SienaError, match=r"in use \(port 0 stands for any"):
            listen(taken)


def test_of_a_machine_that_is_another_nothing_is_suggested() -> None:
    with pytest.raises(SienaError) as refused:
        listen(Address("192.0.2.1", 0))
    assert not refused.value.hint


def test_in_any_loop_small_writes_to_who_was_accepted_do_not_wait() -> None:
    async def no_delay() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            option = socket.IPPROTO_TCP, socket.TCP_NODELAY
            accepted.set_result(writer.get_extra_info("socket").getsockopt(*option))
            writer.close()

        async with await asyncio.start_server(
            note, sock=listen(Address("127.0.0.1", 0))
        ) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            try:
                return await accepted
            finally:
                writer.close()

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        assert runner.run(no_delay())
