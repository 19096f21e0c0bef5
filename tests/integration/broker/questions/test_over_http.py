"""Questions over HTTP: answered while interests come and go, to whom they may be."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from asked_over_http import Served, served
from broker.people import access
from siena.block import encode
from siena.broker.access.credentials import Credentials, save_credentials
from siena.broker.broker import Broker
from siena.broker.questions import following, turns
from siena.broker.settings import Log, Settings
from siena.cli.console.looking_around import LookAround
from siena.client.tokens import new_token
from siena.dialects import read_rule
from siena.model import Value
from siena.model.expression.residual import ResidualPredicate, interest_of
from siena.protocol.control_frames import (
    Advertise,
    Connect,
    Subscribe,
    Trace,
    Unsubscribe,
)
from siena.protocol.data_frames import pack_traced
from siena.protocol.handshake import PREFACE
from siena.protocol.limits import LOOK_MAX
from siena.protocol.log_frames import Entries, Read
from wire import Wire, chain, connect, open_wire, serving, until

ROLES: dict[str, dict[str, Any]] = {
    # May look at everything, but subscribe to little: sees that little.
    "narrow": {"publish": "[]", "subscribe": "tenant = a", "inspect": "[]"},
    "blind": {"publish": "tenant = a", "subscribe": "tenant = a"},
    "all": {"publish": "[]", "subscribe": "[]", "inspect": "[]", "hold": True},
}
SECRET = "patient < 8"  # noqa: S105 -- no password, but nobody's business
POSTED: dict[str, dict[str, Any]] = {
    "interests": {},
    "interests?who": {"text": "tenant = b, patient = 7", "by": "notification"},
    "why": {"notification": "tenant = b, patient = 7"},
    "why?not": {"notification": "tenant = a, patient = 8"},
    "relations": {"text": "tenant any", "notifications": [{"tenant": "b"}]},
    "relations?offer": {"text": "tenant any", "dialect": "advertisement"},
    "relations?then": {
        "text": "patient any then tenant any",
        "notifications": [{"tenant": "b"}],
    },
    "backtest?then": {"text": "tenant any then tenant any"},
    "backtest?offer": {
        "text": "tenant any, patient any, hidden any",
        "dialect": "advertisement",
    },
    "clients": {"broker": "b1"},
    "words": {},
    "prepare": {},
    "backtest": {"text": "[]"},
    "latest": {},
    "who": {"notification": "tenant = b, patient = 7"},
    "way": {"notification": "tenant = b, patient = 7"},
    "link": {"broker": "b1", "neighbour": "b2", "explain": "tenant any"},
    "trace": {"notification": '{"tenant": "b", "patient": 7}'},
}
LOOKED_AT = (
    "network", "counters", "links", "tables", "told", "poset", "sessions", "durables",
    "me", "access",
)  # fmt: skip


async def test_answers_follow_what_comes_and_goes() -> None:
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker, name="desk")
        await wire.subscribe(1, "x > 3")
        said = await asked.ask("why", notification="x = 2")
        assert (said["filters"], said["wanting"]) == (1, 0)
        assert said["near"][0]["missing"] == [
            {"constraint": "x > 3", "because": "x = 2"}
        ]
        await wire.subscribe(2, "x > 1 or y any")
        said = await asked.ask("why", notification="x = 2")
        assert (said["filters"], said["wanting"]) == (3, 1)
        wire.send(b"")
        wire.writer.close()
        await until(lambda: not broker.state.sessions)
        assert (await asked.ask("interests"))["filters"] == 0
        assert broker.state.on_interest is not None
    assert broker.state.on_interest is None


async def test_who_is_about_to_ask_finds_an_index_that_stands() -> None:
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker, name="desk")
        await wire.subscribe(1, "x > 3 or y any")
        assert await asked.ask("prepare") == {"filters": 2, "complete": True}
        assert broker.state.on_interest is not None
        await wire.subscribe(2, "x > 1")
        said = await asked.ask("why", notification="x = 2")
        assert (said["filters"], said["wanting"]) == (3, 1)


async def test_an_index_that_nobody_asks_is_forgotten_and_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "IDLE_SECONDS_MAX", 0.01)
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 3")
        assert (await asked.ask("interests"))["filters"] == 1
        await until(lambda: broker.state.on_interest is None)
        await wire.subscribe(2, "x > 4")
        assert (await asked.ask("interests"))["filters"] == 2


async def test_more_than_is_indexed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "INDEXED_MAX", 2)
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker)
        for number in range(4):
            await wire.subscribe(number, f"x > {number}")
        said = await asked.ask("interests")
        assert (said["filters"], said["complete"]) == (2, False)


async def test_neighbours_and_what_covering_saves_are_told() -> None:
    async with chain(2) as (one, two), served(one) as asked:
        here, there = await connect(one, name="desk"), await connect(two)
        await here.subscribe(1, "x > 3")
        await here.subscribe(2, "x > 5")
        await there.subscribe(1, "y = 1")
        await until(lambda: len(one.state.router.tables.filters) == 3)
        said = await asked.ask("interests")
        assert said["saving"] == [{"name": two.name, "wanted": 2, "told": 1}]
        (route,) = (await asked.ask("why", notification="y = 2"))["routes"]
        assert (route["name"], route["goes"], route["filters"]) == (two.name, False, 1)
        assert route["nearest"]["holders"] == [f"broker {two.name}"]
        (route,) = (await asked.ask("why", notification="y = 1"))["routes"]
        assert (route["goes"], route["by"]) == (True, "y = 1")
        way = await asked.ask("way", notification="y = 1")
        assert [step["broker"] for step in way["steps"]] == [one.name, two.name]
        way = await asked.ask("way", notification="y = 2")
        assert way["missing"][0]["nearest"]["text"] == "y = 1"


async def test_links_of_other_brokers_are_explained() -> None:
    async with chain(3) as (one, two, three), served(one) as asked:
        here, there = await connect(two, name="desk"), await connect(three)
        await here.subscribe(1, "x > 3")
        await here.subscribe(2, "x > 5")
        await there.subscribe(1, "y = 1")
        await (await connect(one)).subscribe(1, "x > 7")
        await until(lambda: len(two.state.router.tables.filters) == 4)
        beside: Any = {"broker": two.name, "neighbour": three.name}
        said = await asked.ask("link", **beside)
        assert (said["filters"], said["theirs"]) == (["x > 3"], ["y = 1"])
        said = await asked.ask("link", **beside, explain="x > 3")
        (desk,) = (s.number for s in two.state.sessions.values() if s.name == "desk")
        assert [
            (each["text"], each["holders"]) for each in said["covers"]["shown"]
        ] == [
            ("x > 7", [f"broker {one.name}"]),
            ("x > 3", [f"desk ({desk}/1)"]),
            ("x > 5", [f"desk ({desk}/2)"]),
        ]
        await here.subscribe(3, "x > 4 and what = " + "a" * 700)
        await until(lambda: len(two.state.router.tables.filters) == 5)
        said = await asked.ask("link", **beside, explain="x > 3")
        assert (said["covers"]["count"], said["too_long"]) == (3, 1)
        for wrong in ({"broker": "none"}, {"neighbour": "none"}, {"explain": "x >> 3"}):
            assert "error" in await asked.ask("link", **{**beside, **wrong})
        said = await asked.ask("link", **beside, explain=f"x > {'3' * 400}…")
        assert "too long" in said["error"]


@pytest.mark.parametrize("is_known", [False, True])
async def test_who_finds_less_meanwhile_spoils_no_link(
    monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    """What was found last is replaced, whenever another thread has looked around."""
    async with chain(2) as (one, two), served(one) as asked:
        known = {two.name: two.addresses[0].url} if is_known else {}
        reads = itertools.chain([known], itertools.repeat({}))
        urls = property(lambda _: next(reads), lambda *_: None)
        monkeypatch.setattr(LookAround, "_urls", urls, raising=False)
        said = await asked.ask("link", broker=two.name, neighbour=one.name)
        assert "error" not in said


async def test_a_broker_that_has_another_name_now_is_not_taken_for_the_old() -> None:
    async with chain(2) as (one, two), served(one) as asked:
        beside: Any = {"broker": two.name, "neighbour": one.name}
        assert "error" not in await asked.ask("link", **beside)
        two.name = "another"
        assert "is another" in (await asked.ask("link", **beside))["error"]


async def test_a_filter_that_is_shown_cut_is_explained() -> None:
    wanted = "what = " + "a" * 700
    async with chain(2) as (one, two), served(one) as asked:
        wire = await connect(one)
        await wire.subscribe(1, wanted)
        await wire.subscribe(2, f"{wanted} and x = 1")
        await until(lambda: len(one.state.router.tables.filters) == 2)
        (link,) = (await asked.client.get("/api/told")).json()["links"]
        (shown,) = link["filters"]
        assert shown.endswith("…")
        said = await asked.ask("relations", text=shown, told=two.name)
        assert (said["text"], said["covers"]["count"]) == (wanted, 2)
        assert "error" in await asked.ask("relations", text=shown)
        assert "error" in await asked.ask("relations", text=shown, told="none")


async def test_the_way_is_right_for_more_filters_than_are_listed() -> None:
    async with chain(2) as (one, two), served(one) as asked:
        near, far = await connect(one, name="desk"), await connect(two)
        for number in range(LOOK_MAX + 100):
            near.send(Subscribe(number, f"x = {number}"))
            far.send(Subscribe(number, f"y = {number}"))
        await near.sync()
        await until(lambda: len(one.state.router.tables.filters) == 2 * LOOK_MAX + 200)
        way = await asked.ask("way", notification=f"x = {LOOK_MAX + 50}")
        (step,) = way["steps"]
        assert (list(step["clients"].values()), step["complete"]) == (
            [f"x = {LOOK_MAX + 50}"], True,
        )  # fmt: skip
        (route,) = way["missing"]
        assert (route["asked"], route["compared"]) == (LOOK_MAX + 100, LOOK_MAX)
        way = await asked.ask("way", notification=f"y = {LOOK_MAX + 50}")
        assert [step["broker"] for step in way["steps"]] == [one.name, two.name]


async def test_a_filter_is_tried_on_the_log(tmp_path: Path) -> None:
    settings = Settings(listen=("127.0.0.1:0",), log=Log(path=str(tmp_path)))
    async with serving(settings) as broker, served(broker) as asked:
        wire = await connect(broker)
        wire.publish(*({"n": n} for n in range(100)))
        await wire.sync()
        said = await asked.ask("backtest", text="n > 89", count=50)
        assert (said["looked_at"], said["matched"], said["complete"]) == (100, 10, True)
        assert said["shown"][0]["notification"] == {"n": 99}
        said = await asked.ask("latest", count=3)
        assert [e["notification"]["n"] for e in said["notifications"]] == [99, 98, 97]


async def test_kinds_of_values_survive_a_page(tmp_path: Path) -> None:
    """What is told as a text may be posted as one: JSON has one kind of number."""
    day = datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    sent: list[Mapping[str, Value]] = [
        {"x": 1},
        {"x": 1.0},
        {"x": 2**53 + 1},
        {"x": "true"},
        {"x": True},
        {"x": day},
    ]
    settings = Settings(listen=("127.0.0.1:0",), log=Log(path=str(tmp_path)))
    async with serving(settings) as broker, served(broker) as asked:
        wire = await connect(broker)
        wire.publish(*sent)
        await wire.sync()
        last = (await asked.ask("latest", count=10))["notifications"]
        texts = [each["text"] for each in reversed(last)]
        assert texts == [
            *("x = 1", "x = 1.0", "x = 9007199254740993", 'x = "true"', "x = true"),
            "x = 2024-01-01T00:00:00.000001Z",
        ]
        for place, text in enumerate(texts):
            said = await asked.ask("relations", text=text, notifications=texts)
            assert place in said["matches"]
            assert text in said["matched"]
        said = await asked.ask("relations", text="float x any", notifications=texts)
        assert (said["matches"], said["matched"]) == ([1], ["x = 1.0"])
        said = await asked.ask("backtest", text="float x any")
        assert [each["text"] for each in said["shown"]] == ["x = 1.0"]


async def test_without_a_log_there_is_no_past() -> None:
    async with serving() as broker, served(broker) as asked:
        answer = await asked.client.post("/api/latest", json={})
        assert (answer.status_code, answer.json()["name"]) == (400, "NO_LOG")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("why", {}),
        ("why", {"notification": 3}),
        ("why", {"notification": "x = 1", "limit": 10**6}),
        ("interests", {"by": "magic"}),
        ("interests", {"txet": ""}),
        ("backtest", {"text": "x any", "count": 0}),
        ("relations", {"text": "x" * 30_000}),
    ],
)
async def test_bad_questions_are_refused_in_one_line(
    path: str, body: dict[str, Any]
) -> None:
    async with serving() as broker, served(broker) as asked:
        answer = await asked.client.post(f"/api/{path}", json=body)
        assert (answer.status_code, answer.json()["siena"]) == (400, "ERR")


async def test_a_mistake_in_a_text_is_an_answer_with_its_place() -> None:
    async with serving() as broker, served(broker) as asked:
        said = await asked.ask("relations", text="level >> 2")
        assert (said["position"], said["error"]) == (6, '">>" is not an operator')
        assert "error" in await asked.ask("why", notification="x =")
        assert "error" in await asked.ask("way", notification="x =")


# --- Who may see what -----------------------------------------------------------------


class Guarded(NamedTuple):
    """A broker that asks who somebody is; a client of it has secrets."""

    broker: Broker
    tokens: dict[str, str]
    client: Wire


async def enter(broker: Broker, token: str, **how: object) -> Wire:
    wire = await open_wire(broker)
    wire.send(PREFACE + Connect(1, token=token, **how).pack())  # type: ignore[arg-type]
    await wire.next()
    return wire


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Guarded]:
    file, known, tokens = folder / "credentials.json", Credentials(), {}
    for name in ROLES:
        token = new_token()
        known = known.with_token(token, f"{name}-id", (name,), made_at=0.0)
        tokens[name] = token.text
    save_credentials(file, known)
    roles = access(**ROLES)
    settings = Settings(
        name="b1",
        listen=("127.0.0.1:0",),
        access=type(roles)(credentials=str(file), roles=roles.roles),
        log=Log(path=str(folder / "log")),
    )
    async with serving(settings) as broker:
        other = await enter(broker, tokens["all"], name="secret-client")
        await other.subscribe(1, f"{SECRET} and tenant = b")
        await other.subscribe(2, "tenant = a and patient = 7")
        await other.subscribe(3, f"{SECRET} then tenant = b")
        other.send(Advertise(1, f"{SECRET}, tenant = b"))
        other.publish(
            {"tenant": "b", "patient": 7, "hidden": 1}, {"tenant": "a", "patient": 5}
        )
        await other.sync()
        yield Guarded(broker, tokens, other)


async def everything(asked: Served) -> dict[str, httpx.Response]:
    found = {
        path: await asked.client.get(f"/api/{path}?limit=100") for path in LOOKED_AT
    }
    for path, body in POSTED.items():
        found[path] = await asked.client.post(f"/api/{path}", json=body)
    return found


async def test_nothing_is_shown_that_may_not_be_subscribed_to(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["narrow"]) as asked,
    ):
        found = await everything(asked)
        assert {
            path: each.status_code for path, each in found.items()
        } == dict.fromkeys(found, 200)
        for path, answer in found.items():
            for secret in ("secret-client", "all-id", SECRET, "hidden"):
                assert secret not in answer.text, path
        said = found["why?not"].json()
        assert (said["filters"], said["near"][0]["holders"]) == (1, ["another client"])
        assert (
            found["latest"].json()["notifications"][0]["notification"]["patient"] == 5
        )
        assert found["backtest"].json()["looked_at"] == 1
        assert [r["name"] for r in found["access"].json()["roles"]] == ["narrow"]


async def test_what_was_decided_is_forgotten_with_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "IDLE_SECONDS_MAX", 0.01)
    async with (
        guarded(tmp_path) as (broker, tokens, other),
        served(broker, tokens["narrow"]) as asked,
    ):
        mine = ["patient = 7 and tenant = a"]
        # The secret has the first number, then the second, and then there is none.
        for number in (None, 1, 1):
            if number is not None:
                other.send(Unsubscribe(number).pack())
                await other.sync()
            for again in (False, True):
                said = await asked.ask("interests")
                assert [each["text"] for each in said["shown"]] == mine
                await until(lambda: broker.state.on_interest is None)
                if number is not None and not again:
                    await other.subscribe(number, f"{SECRET} and tenant = b")


async def test_what_one_reads_is_kept_by_no_cache(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["narrow"]) as asked,
    ):
        for path in ("/api/me", "/api/access", "/api/tables", "/metrics"):
            answer = await asked.client.get(path)
            assert answer.headers["cache-control"] == "no-store", path
            assert answer.headers["x-content-type-options"] == "nosniff", path


async def test_a_rule_is_not_computed_of_what_may_not_be_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long that takes would tell what is in it."""
    computed: list[object] = []
    lets_through = ResidualPredicate.lets_through

    def noted(self: ResidualPredicate, n: Mapping[str, Value]) -> bool:
        computed.append(n["tenant"])
        return lets_through(self, n)

    monkeypatch.setattr(ResidualPredicate, "lets_through", noted)
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["narrow"]) as asked,
    ):
        said = await asked.ask("backtest", text="patient * patient > 1", dialect="sql")
        assert (said["looked_at"], said["matched"]) == (1, 1)
        assert computed == ["a"]
        wire = await enter(broker, tokens["narrow"])
        rule = interest_of(read_rule("sql", "patient * patient > 1"))
        wire.send(Read(str(rule), 0).pack())
        found = await wire.next()
        assert isinstance(found, Entries)
        assert (len(found.entries), computed) == (1, ["a", "a"])


async def test_who_may_subscribe_to_everything_sees_everything(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["all"]) as asked,
    ):
        found = await everything(asked)
        for path in ("tables", "sessions", "interests", "trace", "poset", "why", "way"):
            assert SECRET in found[path].text, path
        assert "hidden" in found["latest"].text
        assert "secret-client" in found["sessions"].text
        assert len(found["access"].json()["roles"]) == len(ROLES)


async def test_without_inspect_one_knows_oneself_and_what_one_may_hear(
    tmp_path: Path,
) -> None:
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["blind"]) as asked,
    ):
        found = await everything(asked)
        may = {path for path, answer in found.items() if answer.status_code == 200}
        past = {"backtest", "backtest?then", "backtest?offer", "latest"}
        assert may == {"me", "trace", *past}
        assert "not granted" in found["trace"].json()["error"]
        assert found["me"].json()["subscribe"] == "tenant = a"
        assert 'patient":7' not in found["latest"].text


async def test_frames_show_no_more_than_pages(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (broker, tokens, _):
        wire = await enter(broker, tokens["narrow"])
        wire.send(pack_traced(1, encode({"tenant": "b", "patient": 7})))
        answer = await wire.next()
        assert isinstance(answer, Trace)
        assert answer.hop.matched == ["a subscription"]


async def test_strangers_get_the_files_and_nothing_else(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (broker, _, _), served(broker) as asked:
        assert (await asked.client.get("/console/")).status_code == 200
        assert (await asked.client.get("/console/app.js")).status_code == 200
        found = await everything(asked)
        assert {answer.status_code for answer in found.values()} == {401}
        answer = await asked.client.get("/console/../api/tables")
        assert answer.status_code in {401, 404}


async def test_many_questions_at_once_are_answered() -> None:
    async with serving() as broker, served(broker) as asked:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 3")
        asking = (asked.ask("why", notification=f"x = {n}") for n in range(20))
        said = await asyncio.gather(*asking)
        assert [each["wanting"] for each in said] == [int(n > 3) for n in range(20)]


async def test_of_too_many_questions_the_last_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "OF_ONE_MAX", 0)
    async with (
        guarded(tmp_path) as (broker, tokens, _),
        served(broker, tokens["narrow"]) as asked,
    ):
        for path in (
            "interests",
            "why",
            "relations",
            "words",
            "prepare",
            "backtest",
            "latest",
        ):
            answer = await asked.client.post(f"/api/{path}", json=POSTED[path])
            found = answer.status_code, answer.json()["name"]
            assert found == (429, "TOO_MANY"), path
