"""The table: every verb and way to a broker, with every credential.

A row is a way; strangers hear the same number everywhere, and the row says what those
hear whose credential is good for less: a token that its holder has narrowed, and one
with a role that grants less.  Each asks for more than that.  No cell is empty, and each
that is refused has its line in the audit log.
"""

import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio

from broker.access import Guarded, guarded
from broker.ways import (
    PEER,
    Way,
    http,
    lines,
    link_by_websocket,
    native,
    websocket,
)
from siena.block import encode
from siena.broker.access import attempts, audit
from siena.broker.inspect import SNAPSHOTS
from siena.protocol.control_frames import (
    Advertise,
    Look,
    Move,
    Subscribe,
    Suspend,
    UnsubscribeCovered,
)
from siena.protocol.data_frames import pack_traced
from siena.protocol.durable.reading import Ack, DurableSubscribe, Forget, Nak, Seek
from siena.protocol.durable.receipts import Publisher, PublisherIs, pack_acked
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import WANTING
from siena.protocol.log_frames import Batch, Commit, Log, Part, Read, Stage
from wire import connect

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Wherever they come.
STRANGERS = {
    "without": 211,
    "wrong": 211,
    "unknown": 211,
    "revoked": 211,
    "expired": 212,
    "narrower, expired": 212,
}
Y = encode({"y": 1})
HOOK = {"handler": "http://127.0.0.1:9/", "subscriptions": ["y any"]}
STAGED = Stage(bytes(16), 0, [Y])


class Row(NamedTuple):
    """A way, and what those hear who may less."""

    way: Way
    narrower: int = 110
    less: int = 110
    good: int = 0


def both(ask: dict[str, object], name: str) -> dict[str, Row]:
    """The two ways to say a token to a WebSocket."""
    return {
        f"/ws {name}, {how}": Row(websocket(ask, in_message=how == "message"))
        for how in ("header", "message")
    }


# 0 is to be let in; 110 is not granted; 129 no durable subscription of one's own; 204,
# 209 and 213 end the connection: no policy, no link, no identity of one's own.
TABLE: dict[str, Row] = {
    "native PUB": Row(native(pack(Op.PUB, Y))),
    "native PUB, traced": Row(native(pack_traced(1, Y))),
    "native PUBLISHER": Row(native(Publisher("p")), 110, 0),
    "native ACKED_PUB": Row(native(pack_acked(1, 0, 1, pack(Op.PUB, Y)))),
    "native SUB": Row(native(Subscribe(1, "y any"))),
    "native SUB of a pattern": Row(native(Subscribe(1, "x = 1 then y = 1"))),
    "native UNSUB": Row(native(UnsubscribeCovered("[]")), 0, 0),
    "native ADV": Row(native(Advertise(1, "integer y any"))),
    "native LOG": Row(native(Log("reader")), 0, 0),  # where it begins and ends
    "native READ": Row(native(Read("y any", 0))),
    "native COMMIT": Row(native(Commit("reader", 0))),
    "native STAGE": Row(native(STAGED)),
    "native BATCH": Row(native(Batch("q", 0, [Part(b"batch" + bytes(11), 0)])), 110, 0),
    "native DSUB": Row(native(DurableSubscribe(1, "y any", "d"))),
    "native ACK": Row(native(DurableSubscribe(1, "y any", "d"), Ack(1, [0]))),
    "native NAK": Row(native(DurableSubscribe(1, "y any", "d"), Nak(1, [0]))),
    "native SEEK": Row(native(Seek("d", "new")), 110, 129),
    "native FORGET": Row(native(Forget("forgotten")), 110, 129),
    "native identity": Row(native(identity="ann"), 213, 213),
    "native SUSPEND": Row(native(Suspend(1), identity="ann/1"), 213, 213),
    "native MOVE": Row(native(Move(""), identity="ann/2"), 213, 213),
    "native policy block": Row(native(policy="block"), 0, 204),
    "native link": Row(native(peer=PEER), 0, 209),
    **{f"native LOOK {what}": Row(native(Look(what)), 0) for what in SNAPSHOTS},
    "native LOOK wanting": Row(native(Look(WANTING, 9, Y)), 0),
    "lines pub": Row(lines("pub y=1")),
    "lines sub": Row(lines("sub y any")),
    "lines adv": Row(lines("adv integer y any")),
    "lines look": Row(lines("look sessions"), 0),
    "POST /publish": Row(http("POST", "/publish", json={"y": 1})),
    "POST /publish?ack=1": Row(http("POST", "/publish?ack=1", json={"y": 1})),
    "POST /publish?advertise=": Row(
        http("POST", "/publish?advertise=integer+y+any", json={"x": 1})
    ),
    "GET /subscribe": Row(http("GET", "/subscribe?filter=y+any")),
    "GET /subscribe?durable=": Row(http("GET", "/subscribe?filter=y+any&durable=d")),
    "POST /durables/d/ack": Row(http("POST", "/durables/d/ack", json={}), 110, 129),
    "POST /durables/d/nak": Row(http("POST", "/durables/d/nak", json={}), 110, 129),
    "DELETE /durables/gone": Row(http("DELETE", "/durables/gone"), 110, 129),
    **{f"GET /api/{w}": Row(http("GET", f"/api/{w}"), 0) for w in SNAPSHOTS},
    "GET /metrics": Row(http("GET", "/metrics"), 0),
    "GET /api/identities": Row(http("GET", "/api/identities"), 0, 0),  # one's own
    "PUT a web hook": Row(http("PUT", "/api/identities/ann", json=HOOK), 213, 213),
    "DELETE what a web hook wants": Row(
        http("DELETE", "/api/identities/ann/subscriptions?filter=[]"), 213, 213
    ),
    "DELETE a web hook": Row(http("DELETE", "/api/identities/ann"), 213, 213),
    "PUT a web hook for more": Row(
        http("PUT", "/api/identities/lee", json=HOOK), 213, 110, 213
    ),
    **both({"pub": {"y": 1}}, "pub"),
    **both({"sub": "y any"}, "sub"),
    **both({"adv": "integer y any"}, "adv"),
    **both({"sub": "y any", "durable": "d"}, "durable"),
    "/ws look, header": Row(websocket({"look": "sessions"}, in_message=False), 0),
    "/ws look, message": Row(websocket({"look": "sessions"}, in_message=True), 0),
    "/link": Row(link_by_websocket, 0, 209),
}
# Refused by what there is, and not by who asks.
UNKNOWN = {129}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def found(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Guarded]:
    """One broker for all; failures are answered, and written down, at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attempts, "DELAY_SECONDS", 0.0)
        patch.setattr(audit, "LINES_A_SECOND_MAX", 1_000_000)
        async with guarded(tmp_path_factory.mktemp("ways")) as made:
            ann = await connect(made.broker, token=made.tokens["good"])
            for number, name in enumerate(("d", "gone", "forgotten"), 1):
                ann.send(DurableSubscribe(number, "y any", name))
                await ann.next()
            ann.send(Publisher("p"))
            assert await ann.next() == PublisherIs("p", 1, 0)
            ann.close()
            yield made


@pytest.mark.parametrize("name", TABLE)
async def test_every_way_with_every_credential(
    name: str, found: Guarded, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    row = TABLE[name]
    expected = {
        **STRANGERS,
        "narrower": row.narrower,
        "less": row.less,
        "good": row.good,
    }
    heard: dict[str, int] = {}
    written: dict[str, list[object]] = {}
    for credential, token in found.tokens.items():
        before = len(found.audit)
        heard[credential] = await row.way(found, token)
        written[credential] = [line.get("error") for line in found.audit[before:]]
    assert heard == expected
    for credential, number in heard.items():
        lines = written[credential]
        assert lines, credential  # that somebody came, at least
        if number and number not in UNKNOWN:
            assert number in lines, credential
    # What the test's own WebSocket writes of itself is not the broker's.
    records = [r for r in caplog.records if r.name != "websockets.client"]
    said = "\n".join(r.getMessage() for r in records)
    secrets = [token for token in found.tokens.values() if token]
    assert not [secret for secret in secrets if secret in said]


async def test_no_credential_is_written_down(found: Guarded) -> None:
    written = str(found.audit) + found.file.read_text()
    secrets = [token for token in found.tokens.values() if token]
    proofs = [secret.split(".")[2] for secret in secrets]
    assert not [proof for proof in proofs if proof in written]


async def test_every_refusal_is_counted_by_reason_and_role(found: Guarded) -> None:
    header = {"authorization": f"Bearer {found.tokens['good']}"}
    before = found.broker.state.counters.logins_refused
    metrics = (await found.client.get("/metrics", headers=header)).text
    assert f"siena_logins_refused_total {before}" in metrics
    for verb, roles in (
        ("publish", "all"),  # of a narrowed token
        ("publish", "less"),
        ("subscribe", "less"),
        ("advertise", "less"),
        ("inspect", "less"),
        ("hold", "less"),
        ("peer", "less"),
        ("own", "all"),
        ("own", "less"),
    ):
        count = found.broker.state.gate.refusals[verb, roles]
        assert count > 0, (verb, roles)
        line = f'siena_refusals_total{{roles="{roles}",verb="{verb}"}} {float(count)}'
        assert line in metrics
