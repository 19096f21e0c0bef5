"""The commands, in this process: they find the session of the tests, and leave it."""

import csv
import json
import re
import warnings
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from deliveries import expected
from siena.cli.common import spark_jobs as spark_parts
from siena.cli.data import match as match_command
from siena.cli.lab import bench_spark
from siena.cli.main import app
from siena.errors import SienaError
from siena.extras import how_to_get
from siena.lang import notification_to_json
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.spark.batch import small
from siena.spark.files import format_of, read_subscriptions

SUBSCRIPTIONS = 1500


def run(*arguments: object) -> str:
    """What a command prints; an error of ours flies, as it does to ``main``."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def some() -> list[tuple[int, object]]:
    return list(enumerate(islice(flights(), 0, 4000, 20)))


@pytest.fixture(scope="module")
def folder(some: list, tmp_path_factory: pytest.TempPathFactory) -> Path:  # type: ignore[type-arg]
    """Flights as parquet and as lines of JSON, and subscriptions in three forms."""
    here = tmp_path_factory.mktemp("files")
    names = sorted({name for _, flight in some for name in flight})
    rows = [{"id": i, **{n: flight.get(n) for n in names}} for i, flight in some]
    pq.write_table(pa.Table.from_pylist(rows), here / "flights.parquet")
    lines = [json.dumps({"id": i, **notification_to_json(f)}) for i, f in some]
    (here / "flights.ndjson").write_text("\n".join([*lines, "", ""]))
    wanted = [s._asdict() for s in flight_subscriptions(SUBSCRIPTIONS, seed=3)]
    (here / "wanted.ndjson").write_text("\n".join(map(json.dumps, wanted)))
    pq.write_table(pa.Table.from_pylist(wanted), here / "wanted.parquet")
    with (here / "wanted.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["subscriber", "filter"])
        writer.writeheader()
        writer.writerows(wanted)
    return here


@pytest.fixture(scope="module")
def deliveries(some: list) -> set[tuple[int, str]]:  # type: ignore[type-arg]
    wanted = [
        (s.subscriber, s.filter) for s in flight_subscriptions(SUBSCRIPTIONS, seed=3)
    ]
    found = expected(some, wanted)
    assert len(found) > 50
    return found


def test_compile_makes_a_table_of_any_form(folder: Path, tmp_path: Path) -> None:
    made = [
        json.loads(run("compile", folder / name, tmp_path / name, "--json"))
        for name in ("wanted.csv", "wanted.ndjson", "wanted.parquet")
    ]
    assert {summary["subscriptions"] for summary in made} == {SUBSCRIPTIONS}
    again = read_subscriptions(tmp_path / "wanted.csv")
    assert again.digest == made[0]["sha256"]
    assert "1,500 subscriptions of" in run(
        "compile", folder / "wanted.csv", tmp_path / "t"
    )


@pytest.mark.parametrize(
    "arguments", [("compile", "a", "b"), ("match", "a", "b"), ("reduce", "a")]
)
def test_without_pyspark_a_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(spark_parts, "find_spec", lambda _: None)
    said = f"not installed ({how_to_get('spark')})"
    with pytest.raises(SienaError, match=re.escape(said)):
        run(*arguments)


@pytest.mark.parametrize(
    "arguments", [("match", "wanted.csv"), ("backtest", "carrier = UA")]
)
def test_a_file_that_is_not_there_is_missed_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, str]
) -> None:
    for module in ("match", "backtest"):
        monkeypatch.setattr(f"siena.cli.data.{module}.session", None)
    with pytest.raises(FileNotFoundError):
        run(*arguments, tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("An exception\nTraceback\nsiena.errors.LimitError: too many\n\n", "too many"),
        ("An exception\nValueError: a\n  File\nKeyError: b\n", "KeyError: b"),
        ("[NO_SUCH_TABLE] x\nmore", "[NO_SUCH_TABLE] x"),
        ("", "Spark gave up without a word"),
    ],
)
def test_of_a_long_message_one_line_is_said(message: str, said: str) -> None:
    assert spark_parts._reason(message) == said


def test_compile_names_what_is_bad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wanted.csv"
    path.write_text("subscriber,filter\nann,x = 1\nbob,x >\n")
    with pytest.raises(SienaError, match="subscription 2 of 'bob' 'x >'"):
        run("compile", path, tmp_path / "table")
    assert not (tmp_path / "table").exists()
    found = json.loads(
        run("compile", path, tmp_path / "table", "--set-aside", "--json")
    )
    assert (found["subscriptions"], found["rejects"]) == (1, 1)
    path.with_suffix(".ndjson").write_text('{"subscriber": "a", "filter": "x = 1"}\n[]')
    with pytest.raises(SienaError, match=r"ndjson, line 2: a subscription is an obj"):
        run("compile", path.with_suffix(".ndjson"), tmp_path / "table")
    capsys.readouterr()


HERE: tuple[str, ...] = ()
ON_SPARK = ("--master", "local[2]")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("master", [HERE, ON_SPARK])
def test_match_writes_deliveries(
    spark: SparkSession,
    folder: Path,
    tmp_path: Path,
    deliveries: set[tuple[int, str]],
    master: tuple[str, ...],
) -> None:
    """From plain parquet, and from lines of JSON, and with a compiled table."""
    run("compile", folder / "wanted.csv", tmp_path / "table")
    for number, (wanted, source) in enumerate(
        [("wanted.csv", "flights.parquet"), ("table", "flights.ndjson")]
    ):
        where = folder if wanted != "table" else tmp_path
        output = tmp_path / f"out {number}"
        arguments = ("match", where / wanted, folder / source, "--key", "id", *master)
        summary = json.loads(run(*arguments, "--output", output, "--json"))
        assert (summary["rows"], summary["answers"]) == (200, len(deliveries))
        assert summary["spark"] == (master == ON_SPARK)
        found = spark.read.parquet(str(output)).collect()
        assert {(int(row.id), row.subscriber) for row in found} == deliveries
        assert len(found) == len(deliveries)
        with pytest.raises(SienaError, match="is there already"):
            run(*arguments, "--output", output)


@pytest.mark.usefixtures("spark")
def test_match_follows_a_folder(
    spark: SparkSession, folder: Path, tmp_path: Path, deliveries: set[tuple[int, str]]
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    table = pq.read_table(folder / "flights.parquet")
    for i in range(2):
        pq.write_table(table.slice(100 * i, 100), source / f"{i}.parquet")
        shown = run(
            *("match", folder / "wanted.csv", source, "--key", "id"),
            *("--output", tmp_path / "out", "--until-idle", "--json"),
        )
        of_this = [d for d in deliveries if d[0] // 100 == i]
        assert json.loads(shown)["rows"] == 100
        assert json.loads(shown)["answers"] == len(of_this)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((row.id, row.subscriber) for row in found) == sorted(deliveries)
    with pytest.raises(SienaError, match="a stream needs --output"):
        run("match", folder / "wanted.csv", source, "--stream")


@pytest.mark.parametrize(
    ("form", "master"), [("csv", HERE), ("csv", ON_SPARK), ("orc", HERE)]
)
def test_match_reads_other_files(
    spark: SparkSession,
    folder: Path,
    tmp_path: Path,
    deliveries: set[tuple[int, str]],
    form: str,
    master: tuple[str, ...],
) -> None:
    """Of CSV, numbers and times are what they look like."""
    flights = pq.read_table(folder / "flights.parquet")
    path = tmp_path / f"flights.{form}"
    if form == "orc":
        pyarrow.orc.write_table(flights, path)
    else:
        pyarrow.csv.write_csv(flights, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = run(
            *("match", folder / "wanted.csv", path, "--key", "id"),
            *("--output", tmp_path / "out", *master),
        )
    assert shown.endswith(f"\n  as parquet in {tmp_path / 'out'}\n")
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert {(row.id, row.subscriber) for row in found} == deliveries


def test_what_is_wrong_is_known_before_spark_starts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is not there, and an array that a filter names; of much as well."""
    wanted = tmp_path / "wanted.csv"
    wanted.write_text("subscriber,filter\nann,xs any\n")
    pq.write_table(pa.table({"id": [1], "xs": [[1, 2]]}), tmp_path / "a.parquet")
    monkeypatch.setattr(match_command, "session", pytest.fail)
    for most in (small.PACKED_BYTES_MAX, 0):
        monkeypatch.setattr(small, "PACKED_BYTES_MAX", most)
        with pytest.raises(SienaError, match="no column 'ids'"):
            run("match", wanted, folder / "flights.parquet", "--key", "ids")
        with pytest.raises(SienaError, match=r"column xs is array<bigint>.*explode it"):
            run("match", wanted, tmp_path / "a.parquet")


@pytest.mark.usefixtures("spark")
def test_match_without_output_shows_the_first(
    folder: Path, deliveries: set[tuple[int, str]]
) -> None:
    arguments = ("match", folder / "wanted.csv", folder / "flights.parquet")
    summary, *some, last = run(*arguments, "--key", "id").splitlines()
    assert f"200 notifications, 1,500 subscriptions: {len(deliveries)} deli" in summary
    assert "notifications/s" not in summary, "of so few it would say nothing"
    assert len(some) == 5
    shown = {tuple(line.strip().split(": id = ")) for line in some}
    assert shown < {(who, str(i)) for i, who in deliveries}
    assert last == (
        f"  and {len(deliveries) - 5} more; --output DIR writes them as parquet"
    )


@pytest.mark.usefixtures("spark")
def test_match_says_what_is_wrong_in_one_line(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"carrier": "UA"}\n{"carrier": ')
    with pytest.raises(
        SienaError, match=r"row 2 of a batch \(.*\) cannot be matched: it is not"
    ):
        run("match", folder / "wanted.csv", bad)
    summary = run("match", folder / "wanted.csv", bad, "--set-aside", "--json")
    assert json.loads(summary)["rows"] == 2
    with pytest.raises(SienaError, match="'rows' is no answer"):
        run("match", folder / "wanted.csv", bad, "--answer", "rows")


@pytest.mark.usefixtures("spark")
def test_backtest_prints_and_counts(folder: Path) -> None:
    text = "carrier = UA and distance > 1000"
    shown = run("backtest", text, folder / "flights.parquet", "--time", "time_hour")
    assert "of 200 notifications" in shown
    assert "the selective one" in shown
    assert "2013-01-0" in shown
    found = json.loads(run("backtest", text, folder / "flights.parquet", "--json"))
    wanted = sum(
        flight["carrier"] == "UA" and flight["distance"] > 1000  # type: ignore[operator]
        for flight in islice(flights(), 0, 4000, 20)
    )
    assert found["matched"] == wanted
    with pytest.raises(SienaError, match="'year' is no period"):
        run("backtest", text, folder / "flights.parquet", "--every", "year")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_reduce_prints_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "wanted.csv"
    path.write_text("subscriber,filter,interface\na,x > 1,1\nb,x > 2,1\nc,y = 1,2\n")
    shown = run("reduce", path, "--output", tmp_path / "fewer")
    assert "1: 2 filters to 1, 2 constraints to 1, alpha 0.500" in shown
    assert "together 3 constraints to 2" in shown
    assert pq.read_table(tmp_path / "fewer").num_rows == 2


def test_what_a_file_is_its_name_says(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").touch()
    with pytest.raises(SienaError, match="its name does not tell"):
        format_of(tmp_path / "a.xyz")
    with pytest.raises(SienaError, match="has no file that can be read"):
        format_of(tmp_path)
    with pytest.raises(FileNotFoundError):
        format_of(tmp_path / "missing.csv")
    (tmp_path / "b.csv").touch()
    assert format_of(tmp_path) == "csv"
    (tmp_path / "c.orc").touch()
    with pytest.raises(SienaError, match="has files of several formats"):
        format_of(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_bench_measures_all_contenders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_spark, "DRAWN", 200)
    monkeypatch.setattr(bench_spark, "JOIN_ROWS", 20)
    shown = run(
        *("bench", "spark", "--filters", 20, "--rows", 20_000, "--rounds", 1),
        *("--workload", "w", "--json"),
    )
    rows = [json.loads(line) for line in shown.splitlines()]
    table, *rows = rows
    assert table["contender"] == "table"
    assert table["workers"] > 0
    assert table["copied_megabytes"] == 0
    assert [row["contender"] for row in rows] == [
        *("identity", "match", "explode"),
        "join",
    ]
    assert all(row["rows_per_s"] > 0 for row in rows)
    assert [row["rows"] for row in rows] == [20_000, 20_000, 20_000, 20]


@pytest.mark.usefixtures("spark")
def test_rules_apply_and_match_read_nested_events(tmp_path: Path) -> None:
    process = {"Image": "C:\\a.exe", "User": "ann"}
    events = [
        {"Event": {"System": {"EventID": number}, "EventData": process}}
        for number in (1, 4)
    ]
    file = tmp_path / "events.ndjson"
    file.write_text("\n".join([*map(json.dumps, events), "[]"]))
    rules = tmp_path / "rules.csv"
    rules.write_text('id,text\none,"EventID = 1 and User = ann"\n')
    by_path = tmp_path / "paths.csv"
    by_path.write_text(
        'id,text\none,"Event.System.EventID = 1 and Event.EventData.User = ann"\n'
    )
    for wanted, nested in (
        (rules, ["--nested", "windows"]),
        (by_path, ["--nested"]),
    ):
        found = json.loads(run("rules", "apply", wanted, file, *nested, "--json"))
        assert [(r["rule"], r["alerts"]) for r in found["rules"]] == [("one", 1)]
        assert found["bad_events"] == 1
    who = tmp_path / "who.csv"
    who.write_text('subscriber,filter\nann,"EventID = 1 and tags = a and tags = b"\n')
    more = {"EventID": 1, "tags": ["a", "b"], "deep": {"er": 1}}
    file.write_text("\n".join(map(json.dumps, [*events, more])))
    options = ["--nested", "--many", "tags", "--json", "--master", "local[2]"]
    assert json.loads(run("match", who, file, *options))["answers"] == 1
