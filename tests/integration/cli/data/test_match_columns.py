"""``siena match`` of columns that mean nothing, or not everywhere."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import siena

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
        ("tags", "a column with one element of it can be compared; siena rules takes"),
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
