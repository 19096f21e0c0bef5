"""``siena match`` of columns that mean nothing, or not everywhere."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from command import siena
from siena.cli.data import match
from siena.errors import SienaError
from siena.spark.batch import small

COLUMNS = {
    "x": pa.array([1.0, float("nan"), 3.0]),
    "tags": pa.array([["a"], ["b"], []]),
    "notes": pa.array([[("a", "b")]] * 3, pa.map_(pa.string(), pa.string())),
    "n": pa.array([1, 2, 3]),
}
# Of a program that imports siena.spark; nothing that is typed looks like that.
OF_PROGRAMS = ("on_error", "RuleSettings", "nan=", "column=", "siena.spark")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.table(COLUMNS), tmp_path / "rows.parquet")
    for name, text in (("x", "x > 2"), ("tags", "tags = a"), ("notes", "notes = a")):
        (tmp_path / f"{name}.csv").write_text(f"subscriber,filter\nann,{text}\n")
    (tmp_path / "bad.csv").write_text("subscriber,filter\nann,x >\n")
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("x", "(--nan absent takes NaN for a null; --set-aside passes over such rows)"),
        ("tags", "a column with one element of it can be compared; or declare"),
        ("notes", "(name it with --column if it is the whole notification)"),
        ("bad", "(--set-aside puts such rows aside)"),
    ],
)
def test_hints_are_for_who_types_commands(folder: Path, wanted: str, said: str) -> None:
    done = siena("match", f"{wanted}.csv", "rows.parquet", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not [word for word in OF_PROGRAMS if word in done.stderr]


def test_nan_may_be_absent(folder: Path) -> None:
    words = ("match", "x.csv", "rows.parquet", "--key", "n", "--nan", "absent")
    done = siena(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ann: n = 3" in done.stdout
    done = siena(*words[:-1], "zero", cwd=folder)
    assert done.returncode == 2
    assert "'refuse'" in done.stderr


@pytest.mark.parametrize("form", ["csv", "orc", "parquet"])
@pytest.mark.parametrize("place", ["rows", "many/rows"])
def test_a_key_that_is_not_there_is_refused_before_spark_starts(
    folder: Path, form: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of much as of little."""
    table = pa.table({"n": [1], "x": [2]})
    path = folder / f"{place}.{form}"
    path.parent.mkdir(exist_ok=True)
    write = {
        "csv": pyarrow.csv.write_csv,
        "orc": pyarrow.orc.write_table,
        "parquet": pq.write_table,
    }
    write[form](table, path)
    monkeypatch.setattr(match, "session", pytest.fail)
    monkeypatch.setattr(small, "small_files", lambda _: None)
    asked = path if path.parent == folder else path.parent
    done = siena("match", "x.csv", asked, "--key", "ids", cwd=folder)
    assert done.returncode == 2
    assert "have no column 'ids' (there are n, x)" in done.stderr


@pytest.mark.parametrize("size", ["little", "much"])
def test_a_key_that_no_line_has_is_warned_of(
    folder: Path, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = folder / "rows.ndjson"
    lines.write_text('{"x": 3, "n": 1}\n{"x": 3}\n')
    if size == "much":
        monkeypatch.setattr(small, "small_files", lambda _: None)
        monkeypatch.setattr(match, "session", _stop)
    keys = ("--key", "ids", "--key", "n")
    done = siena("match", "x.csv", lines, *keys, cwd=folder)
    said = "warning: no notification has ids, which is wanted in the answer\n"
    assert said in done.stderr
    assert " has n" not in done.stderr
    assert (done.returncode == 0) is (size == "little")


def _stop(_master: str) -> None:
    raise SienaError("Spark would start now")
