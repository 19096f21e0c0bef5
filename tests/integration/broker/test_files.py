"""A broker that has served for long, and to many, opens what it needs."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from siena.block import encode
from siena.broker.limits import FILES_KEPT
from siena.protocol.control_frames import Connect, Error, Look, Subscribe, Suspend
from siena.protocol.data_frames import pack_traced
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE, read_info
from wire import SECONDS_MAX, Wire

FILES_MAX = 160
# Says where it listens; when it is asked, what it has imported since; ends with us.
SERVER = f"""
import asyncio, json, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES_MAX}, {FILES_MAX}))
from siena.broker.broker import Broker
from siena.broker.settings import Log, Settings

async def serve():
    # Files that are no connections.
    kept = [open("/dev/null") for _ in range(int(sys.argv[2]))]
    log = Log(path=sys.argv[1], segment_bytes=65_536, bytes=4_194_304)
    broker = Broker(Settings(listen=("127.0.0.1:0",), log=log))
    await broker.start()
    loop, known = asyncio.get_running_loop(), set(sys.modules)
    print(broker.addresses[0].port, flush=True)
    reader = asyncio.StreamReader()
    pipe = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: pipe, sys.stdin)
    while await reader.readline():
        print(json.dumps(sorted(set(sys.modules) - known)), flush=True)
    await broker.drain()

asyncio.run(serve())
"""


@asynccontextmanager
async def server(
    folder: Path, files: int
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(folder / "log"), str(files)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, int(await process.stdout.readline())
        process.stdin.close()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def called(port: int) -> Wire | Error:
    """A connection, or why there is none."""
    async with asyncio.timeout(SECONDS_MAX):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        wire = Wire(reader, writer, read_info(await reader.readline()))
        wire.send(PREFACE + Connect(1).pack())
        first = await reader.read(1)
    if first == b"{":
        writer.close()
        said = json.loads(first + await reader.readline())
        return Error(said["error"], said["text"], said["closes"])
    wire._frames += wire._splitter.feed(first)
    await wire.next()
    return wire


async def test_too_many_connections_leave_files_for_the_log(tmp_path: Path) -> None:
    """However many files are open that are no connections."""
    async with server(tmp_path, files=30) as (_, port):
        wires: list[Wire] = []
        while isinstance(found := await called(port), Wire):
            wires.append(found)
            assert len(wires) < FILES_MAX
        assert found.fault == Fault.TOO_MANY_CONNECTIONS.number
        assert len(wires) <= FILES_MAX - FILES_KEPT - 30
        block = encode({"text": "x" * 1_000})
        for _ in range(10):  # each of them begins files of the log
            wires[0].send(pack(Op.PUB, block) * 100)
            assert await wires[0].sync() == []
        for wire in wires:
            wire.close()
        again = await called(port)
        for _ in range(100):
            if isinstance(again, Wire):
                break
            await asyncio.sleep(0.01)
            again = await called(port)
        assert isinstance(again, Wire), "there is room again"
        again.close()


async def test_nothing_is_imported_once_a_broker_serves(tmp_path: Path) -> None:
    """To import is to open files, and there may be none left."""
    async with server(tmp_path, files=0) as (process, port):
        wire = await called(port)
        assert isinstance(wire, Wire)
        await wire.subscribe(1, "x any and s >* a")
        block = encode({"x": 1, "s": "abc"})
        wire.send(pack(Op.PUB, block) * 2_000 + pack_traced(1, block))
        wire.send(pack(Op.PUB, b"\xc1") + Subscribe(2, "x >>").pack())
        wire.send(Subscribe(3, "x = 1 then x = 1").pack() + pack(Op.PUB, block) * 2)
        wire.send(Look("tables").pack() + Suspend(3).pack())
        await wire.sync()
        await asyncio.sleep(1.2)  # meanwhile tables are compiled, and the log is synced
        wire.send(pack(Op.PUB, block))
        await wire.sync()
        person = await asyncio.open_connection("127.0.0.1", port)
        person[1].write(b"sub x any\npub x=1\nsub x >\nquit\n")
        async with asyncio.timeout(SECONDS_MAX):
            assert (await person[0].read()).count(b"\n") == 4
        person[1].close()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        assert json.loads(await process.stdout.readline()) == []
        wire.close()
