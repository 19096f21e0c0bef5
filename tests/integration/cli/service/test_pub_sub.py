"""``siena pub``, ``sub``, ``adv`` and ``context`` against a real broker."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

import siena
from siena import Notification, testing
from siena.broker.access.credentials import Credentials, save_credentials
from siena.cli.main import main
from siena.client.tokens import new_token

SECONDS = 20.0


class Outcome(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with testing.broker() as broker:
        yield broker.url


@pytest.fixture
def run(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command in this process, with a configuration of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SIENA_URL", url)

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["siena", *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Outcome(code, *capsys.readouterr())

    return run


def test_what_is_published_is_advertised_where_that_is_needed(run: Run) -> None:
    routing = {"forwarding": "advertisement"}
    with testing.network("chain:3", routing=routing) as brokers:
        server = ("--server", brokers[1].url)
        refused = run("pub", "what=alarm", *server)
        assert refused.code == 2  # misuse
        assert "takes only what is advertised (say with --advertise" in refused.err
        promised = ("--advertise", "what = alarm, integer level any")
        with siena.connect(brokers[3].url) as client:
            wanted = client.subscribe("level > 3").settled()
            for level in range(3, 6):
                done = run("pub", "what=alarm", f"level={level}", *server, *promised)
                assert done.code == 0, done.err
            assert [n["level"] for n in wanted.within(1)] == [4, 5]
        other = run("pub", "what=noise", *server, *promised)
        assert other.code == 1
        assert other.err.count("no advertisement") == 1, other.err
        assert other.err.startswith("siena: the broker refused: ")
        assert run("pub", "x=1", "--advertise", "x >").code == 2


def pipe(url: str, *arguments: str, text: str = "") -> Outcome:
    """Run a command in a process of its own, with this on its standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "siena", *arguments],
        env={**os.environ, "SIENA_URL": url},
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


# --- siena pub ------------------------------------------------------------------------


def test_arguments_become_a_notification(url: str, run: Run) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("symbol = DIS").settled()
        assert run("pub", "symbol=DIS", "change=-4", 'text="two words"') == (0, "", "")
        assert run("pub", '{"symbol": "DIS", "late": true}').code == 0
        assert wanted.get(SECONDS) == Notification(
            symbol="DIS", change=-4, text="two words"
        )
        assert wanted.get(SECONDS) == Notification(symbol="DIS", late=True)


def test_templates_are_filled_in_anew(url: str, run: Run) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("i any").settled()
        done = run(
            *("pub", "i={i}", "dice={random:1:6}", "x={random}", "at={now}"),
            *("s={choice:DIS|MSFT}", "--count", "20", "--rate", "1000", "--json"),
            *("--seed", "1"),
        )
        assert done.code == 0
        assert json.loads(done.out) == {"published": 20, "bad": 0}
        found = [wanted.get(SECONDS) for _ in range(20)]
    assert [n["i"] for n in found] == list(range(1, 21))
    assert {n["dice"] for n in found} <= set(range(1, 7))
    assert len({n["x"] for n in found}) == 20
    assert {n["s"] for n in found} == {"DIS", "MSFT"}
    assert all(siena.Kind.of(n["at"]) is siena.Kind.TIME for n in found)


def test_lines_of_standard_input_are_published(url: str) -> None:
    lines = '{"line": 1}\n\nline = 2\nline =\nline = 4\n'
    with siena.connect(url) as client:
        wanted = client.subscribe("line any").settled()
        done = pipe(url, "pub", "--json", text=lines)
        assert [wanted.get(SECONDS)["line"] for _ in range(3)] == [1, 2, 4]
        assert pipe(url, "pub", "--count", "1", text="line = 7\nline = 8\n").code == 0
        assert [n["line"] for n in wanted.within(0.1)] == [7]
        strict = pipe(url, "pub", "--strict", text=lines)
        assert [n["line"] for n in wanted.within(0.1)] == [1, 2]
    assert done.code == 1
    assert json.loads(done.out) == {"published": 3, "bad": 1}
    assert done.err == "siena: line 4: column 7: expected a value, found the end\n"
    assert strict.code == 2
    assert strict.err.startswith("siena: error: line 4: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "x, column 2: expected =, found the end (attributes are written"),
        (("text=a b",), """(if it is a text, write 'text="a b"')"""),
        (("x=1", "x=2"), "two attributes are called"),
        (("x={random:9:1}",), "{random:9:1} is not a range of numbers"),
        (("x={choice}",), "{choice} has no choices (as in {choice:DIS|MSFT})"),
        (("x={i:1}",), "{i:1} takes no options (write {i})"),
        (("x=99999999999999999999",), "64 bits"),
    ],
)
def test_what_cannot_be_published_is_one_line(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run("pub", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_publishing_ends_in_time(run: Run) -> None:
    code, _, err = run("pub", "x={i}", "-n", "1000", "--rate", "10", "--timeout", "0.2")
    assert code == 4
    assert err.endswith("published within 0.2 s\n")


# --- siena sub ------------------------------------------------------------------------


def publish_when_wanted(url: str, *notifications: dict[str, siena.Value]) -> None:
    """Publish once somebody has subscribed to it."""
    with siena.connect(url) as client:
        names = ", ".join(f"{name} any" for name in notifications[0])
        client.advertise(names).wanted(SECONDS)
        client.publish_many(notifications)


def subscribed(
    url: str, run: Run, arguments: tuple[str, ...], *sent: dict[str, siena.Value]
) -> Outcome:
    with ThreadPoolExecutor(1) as pool:
        publishing = pool.submit(publish_when_wanted, url, *sent)
        done = run("sub", *arguments)
        publishing.result()
    return done


def test_notifications_are_printed(url: str, run: Run) -> None:
    arguments = ("price > 3", "--count", "2", "--timeout", "20")
    done = subscribed(
        url,
        run,
        arguments,
        {"price": 5, "s": "two\nlines"},
        {"price": 1},
        {"price": 4.5},
    )
    assert done.code == 0
    assert done.out == 'price = 5 and s = "two\\nlines"\nprice = 4.5\n'
    assert done.err == f"siena: subscribed at {url}\n"


@pytest.mark.parametrize("filters", [(), ("#",), ("*",), (">",), ("[]",)])
def test_everything_is_what_no_filter_and_wildcards_mean(
    url: str, run: Run, filters: tuple[str, ...]
) -> None:
    done = subscribed(url, run, (*filters, "-C", "1", "-W", "20"), {"every": 1})
    assert (done.code, done.out) == (0, "every = 1\n")
    what = "" if filters else " to everything"
    assert done.err == f"siena: subscribed{what} at {url}\n"


def test_what_several_filters_select_is_printed_once(url: str, run: Run) -> None:
    arguments = ("many > 3", "many > 5", "other any", "-n", "2", "-W", "20", "-q")
    done = subscribed(url, run, arguments, {"many": 6}, {"many": 1}, {"other": 2})
    assert done == (0, "many = 6\nother = 2\n", "")
    refused = run("sub", "x any", "x any then y any")
    assert refused.code == 2
    assert "a pattern stands alone" in refused.err


def test_programs_get_json(url: str, run: Run) -> None:
    arguments = ("level > 3", "-n", "1", "--timeout", "20", "--json", "--quiet")
    done = subscribed(url, run, arguments, {"level": 5, "what": "alarm"})
    assert done == (0, '{"level":5,"what":"alarm"}\n', "")


@pytest.mark.parametrize(
    ("form", "printed"),
    [((), "login = 1 then login = 2\n"), (("--json",), '[{"login":1},{"login":2}]\n')],
)
def test_a_match_of_a_pattern_is_one_line(
    url: str, run: Run, form: tuple[str, ...], printed: str
) -> None:
    arguments = ("login = 1 then login = 2", "-n", "1", "--timeout", "20", *form)
    done = subscribed(url, run, arguments, {"login": 1}, {"login": 2})
    assert (done.code, done.out) == (0, printed)


def test_the_time_is_over(url: str, run: Run) -> None:
    assert run("sub", "never any", "--timeout", "0.05", "-q") == (
        4,
        "",
        "siena: error: 0 came within 0.05 s\n",
    )
    done = subscribed(
        url, run, ("a any", "--timeout", "0.5", "-q", "-n", "2"), {"a": 1}
    )
    assert done == (4, "a = 1\n", "siena: error: 1 of 2 came within 0.5 s\n")
    done = subscribed(url, run, ("a any", "--timeout", "0.5", "-q"), {"a": 1})
    assert done == (0, "a = 1\n", "")


def test_who_may_not_hear_all_of_it_is_told_what_is_in_force(
    tmp_path: Path, run: Run
) -> None:
    """Found: it said that it had subscribed, and nothing of it ever came."""
    token, file = new_token(), tmp_path / "ann.token"
    file.write_text(token.text)
    known = Credentials().with_token(token, "ann", ("desk",), made_at=0.0)
    save_credentials(tmp_path / "credentials.json", known)
    access = {
        "credentials": str(tmp_path / "credentials.json"),
        "roles": {"desk": {"subscribe": "symbol any", "hold": True}},
    }
    with testing.broker(access=access, log={"path": str(tmp_path / "log")}) as broker:
        saved = run("context", "add", "here", broker.url, "--token", str(file))
        assert saved.code == 0, saved
        end = ("-S", "here", "--timeout", "0.5")
        for more in ((), ("--durable", "mine")):
            said = run("sub", "trader = ann", *end, *more).err.splitlines()[0]
            assert said == (
                f"siena: subscribed at {broker.url}, as far as you may: "
                "symbol any and trader = ann"
            )
        said = run("sub", "symbol = DIS", *end).err.splitlines()[0]
        assert said == f"siena: subscribed at {broker.url}"


def test_a_bad_filter_never_reaches_the_broker(run: Run) -> None:
    code, out, err = run("sub", "price << 3", "--server", "siena://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert err.startswith("siena: error: column 7: ")


@pytest.mark.parametrize("command", ["top", "topo", "trace"])
def test_who_looks_at_nobody_is_told_what_to_do(run: Run, command: str) -> None:
    arguments = ("x=1",) if command == "trace" else ()
    code, out, err = run(command, *arguments, "--server", "127.0.0.1:1")
    assert (code, out) == (3, "")
    assert err.endswith("(start one with: siena serve)\n")


@pytest.mark.parametrize(
    "arguments", [("pub", "x=1"), ("sub", "x any"), ("adv", "x any")]
)
def test_nobody_there_is_code_3_and_says_what_to_do(
    run: Run, arguments: tuple[str, ...]
) -> None:
    code, out, err = run(*arguments, "--server", "127.0.0.1:1")
    assert (code, out) == (3, "")
    assert err == (
        "siena: error: no broker answers at siena://127.0.0.1:1 "
        "(start one with: siena serve)\n"
    )


# --- siena adv ------------------------------------------------------------------------


def test_an_advertisement_is_quenched_until_somebody_wants_it(
    url: str, run: Run
) -> None:
    assert run("adv", "quote any", "--count", "1") == (
        0,
        "quenched: nobody wants any of it now\n",
        "",
    )
    done = run("adv", "quote any", "--until-wanted", "--timeout", "0.5", "--json")
    assert done == (4, '{"quenched": true}\n', "siena: error: not within 0.5 s\n")
    assert run("adv", "quote any", "--timeout", "0.5").code == 0
    with siena.connect(url) as client:
        wanted = client.subscribe("quote > 3").settled()
        done = run("adv", "quote any", "--until-wanted", "--timeout", "20")
        assert done == (0, "wanted: somebody wants some of it\n", "")
        wanted.close()


# --- siena context --------------------------------------------------------------------


def test_contexts_are_saved_used_and_removed(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("context") == (0, "", "")
    (tmp_path / "token").write_text("secret\n", encoding="utf-8")
    token = str(tmp_path / "token")
    added = run("context", "add", "here", url, "--token", token)
    assert (added.code, added.err) == (0, f"siena: saved here: {url}\n")
    assert run("context", "add", "hub", "siena://hub", "--use").code == 0
    assert run("context").out == f"  here  {url}\n* hub  siena://hub\n"
    assert run("context", "list") == run("context")
    assert json.loads(run("context", "--json").out.splitlines()[1]) == {
        "name": "hub",
        "url": "siena://hub",
        "current": True,
    }
    monkeypatch.delenv("SIENA_URL")
    assert run("context", "show").out == "siena://hub\n"
    assert run("context", "use", "here").code == 0
    refused = run("pub", "x=1")
    assert refused.code == 1
    assert "this broker asks for no token" in refused.err
    assert "secret" not in refused.err
    assert run("context", "add", "here", url).code == 0
    assert run("pub", "x=1").code == 0
    assert run("context", "remove", "here").code == 0
    assert run("context", "show").out == "siena://127.0.0.1:2606\n"
    assert run("context", "use", "here") == (
        2,
        "",
        "siena: error: there is no context here (saved are: hub)\n",
    )
    saved = tmp_path / "siena" / "contexts.json"
    assert saved.stat().st_mode & 0o077 == 0
    assert list(saved.parent.iterdir()) == [saved]


def test_the_server_is_found_by_name_before_the_environment(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIENA_URL", "siena://127.0.0.1:1")
    assert run("pub", "x=1").code == 3
    assert run("context", "add", "here", url).code == 0
    assert run("pub", "x=1", "--server", "here").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "a b", "siena://hub"), "cannot be the name of a context"),
        (("add", "web", "http://hub"), "is not the address of a broker"),
        (("remove", "nothing"), "there is no context nothing (add one: siena context"),
    ],
)
def test_a_context_that_makes_no_sense_is_refused(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run("context", *arguments)
    assert code == 2
    assert message in err


def test_a_damaged_file_is_reported_and_kept(run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "siena" / "contexts.json"
    saved.parent.mkdir()
    saved.write_text('{"servers": 3}')
    code, _, err = run("context", "add", "hub", "siena://hub")
    assert code == 2
    assert err.endswith("(mend it, or remove it)\n")
    assert saved.read_text() == '{"servers": 3}'


# --- Three terminals ------------------------------------------------------------------


def hear_interrupts() -> None:
    """Whoever runs tests in the background may have had them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_three_terminals() -> None:
    with testing.process() as broker:
        command = [sys.executable, "-m", "siena", "sub", "symbol = DIS and change < 0"]
        with subprocess.Popen(
            [*command, "--server", broker.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear_interrupts,  # noqa: PLW1509 -- no thread forks here
        ) as subscriber:
            assert subscriber.stdout is not None
            assert subscriber.stderr is not None
            ready = f"siena: subscribed at {broker.url}\n"
            assert subscriber.stderr.readline() == ready
            done = pipe(broker.url, "pub", "symbol=DIS", "change=-4")
            assert done == (0, "", "")
            assert subscriber.stdout.readline() == "change = -4 and symbol = DIS\n"
            subscriber.send_signal(signal.SIGINT)
            assert subscriber.communicate(timeout=SECONDS) == ("", "")
            assert subscriber.returncode == 130


def test_pub_waits_for_the_disk_if_it_is_told_to(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with testing.broker(log={"path": str(tmp_path / "log")}) as keeping:
        monkeypatch.setenv("SIENA_URL", keeping.url)
        outcome = run("pub", "n=1", "--ack", "--json")
        assert json.loads(outcome.out) == {"published": 1, "bad": 0, "offset": 0}
        outcome = run("pub", "n={i}", "--count", "50", "--ack", "--json")
        assert json.loads(outcome.out) == {"published": 50, "bad": 0}
        with siena.connect(keeping.url) as client:
            assert client.log.extent().latest == 51


def test_pub_says_that_a_broker_has_no_store(run: Run) -> None:
    outcome = run("pub", "n=1", "--ack")
    assert outcome.code == 1
    assert "no store" in outcome.err
    assert "start it with --log" in outcome.err
    assert "126" in outcome.err


def test_durable_subscriptions_from_the_command_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with testing.broker(log={"path": str(tmp_path / "log")}) as keeping:
        monkeypatch.setenv("SIENA_URL", keeping.url)
        assert run("pub", "n={i}", "--count", "5", "--ack").code == 0
        first = run("sub", "n > 1", "--durable", "b", "--start", "all", "-n", "2")
        assert first.out.splitlines() == ["n = 2", "n = 3"]
        rest = run("sub", "n > 1", "--durable", "b", "-n", "2", "--json")
        assert rest.out.splitlines() == ['{"n":4}', '{"n":5}']
        [shown] = run("durable", "list", "--json").out.splitlines()
        assert json.loads(shown)["lag"] == 0
        assert "n > 1" in run("durable", "list").out
        assert run("durable", "seek", "b", "3").code == 0
        assert json.loads(run("durable", "show", "b", "--json").out)["lag"] == 2
        told = run("durable", "show", "b").out.splitlines()
        assert [line.split() for line in told if line.startswith("lag")] == [
            ["lag", "2"]
        ]
        assert run("durable", "rm", "b").code == 0
        assert run("durable", "list", "--json").out == ""
        missing = run("durable", "rm", "b")
        assert (missing.code, "no durable subscription" in missing.err) == (1, True)


def test_one_of_very_many_durable_subscriptions_is_not_said_to_be_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siena.cli.service.durable.LOOK_MAX", 1)
    with testing.broker(log={"path": str(tmp_path / "log")}) as keeping:
        monkeypatch.setenv("SIENA_URL", keeping.url)
        with siena.connect(keeping.url) as client:
            for name in ("a", "b"):
                client.subscribe("n any", durable=name).settled().close()
        assert run("durable", "show", "a").code == 0
        told = run("durable", "show", "b")
        assert told.code == 2
        assert "not one of the first 1" in told.err
        assert "there are 2" in told.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--start", "all"], "are for --durable"),
        (["--durable", "b", "--start", "later"], "no place to begin at"),
        (["--durable", "b", "--start", "2026-11-15T02:40:03"], "has no zone"),
    ],
)
def test_misspelled_durable_options(run: Run, options: list[str], says: str) -> None:
    outcome = run("sub", "n any", *options)
    assert outcome.code == 2
    assert says in outcome.err


def test_a_mistyped_context_is_not_looked_for_in_the_network(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    neither = "siena: error: there is neither a context nor a host"
    done = run("pub", "-S", "wrk", "x=1")
    assert (done.code, done.err) == (
        2,
        f"{neither} wrk (siena context add saves one)\n",
    )
    assert run("context", "add", "work", url).code == 0
    for command in (("pub", "x=1"), ("sub", "x any"), ("top",), ("topo",)):
        done = run(*command, "-S", "wrk")
        assert (done.code, done.err) == (2, f"{neither} wrk (did you mean work?)\n")
    assert "(saved are: work)" in run("pub", "-S", "elsewhere", "x=1").err
