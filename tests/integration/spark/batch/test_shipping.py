"""Which table a worker has, and which one it is given; without Spark."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

from siena.errors import SienaError
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    compile_rows,
    open_compiled,
)
from siena.spark.batch.shipping import load
from siena.spark.rules import compile_rules, compiled


def of(text: str) -> CompiledSubscriptions:
    return compile_rows(pa.table({"subscriber": ["ann"], "filter": [text]}))


def test_a_worker_sees_that_a_table_was_compiled_anew(tmp_path: Path) -> None:
    """Workers live longer than a query, and a query names the file."""
    path = tmp_path / "table.siena"
    for text, value in (("x = 1", 1), ("x = 2", 2), ("x = 1", 1)):
        of(text).keep(path)
        table = load(str(path)).table
        assert load(str(path)).table is table
        assert [v for v in range(4) if table.match({"x": v})] == [value]


def test_a_worker_sees_that_rules_were_compiled_anew(tmp_path: Path) -> None:
    path = tmp_path / "00000001.siena"
    for text, value in (("x = 1", 1), ("x = 2", 2)):
        compile_rules([{"id": "r", "text": text}]).keep(path)
        table = compiled.load(str(path)).table
        assert [v for v in range(4) if table.match({"x": v})] == [value]


def test_what_a_worker_has_is_named_by_its_contents(tmp_path: Path) -> None:
    """Such a file is not looked at again, and may be gone by then."""
    path = tmp_path / of("x = 3").named().name
    of("x = 3").keep(path)
    found = load(str(path))
    path.unlink()
    assert load(str(path)) is found


@pytest.mark.parametrize("is_looked_at", [False, True])
def test_what_was_opened_is_not_something_else_later(
    tmp_path: Path, *, is_looked_at: bool
) -> None:
    """The driver plans by what it has opened; workers must not get another table."""
    path = tmp_path / "table.siena"
    made = of("x = 1")
    made.keep(path)
    made.path.unlink()  # as if another process had made it
    opened = open_compiled(path)
    if is_looked_at:
        assert opened.named().exists()
    of("y = 1").keep(path)
    if is_looked_at:
        assert load(str(opened.named())).table.attributes() == ["x"]
    else:
        with pytest.raises(SienaError, match="another table than when it was opened"):
            opened.named()
    assert not [p for p in tmp_path.iterdir() if p != path]


def test_queries_that_begin_at_once_are_given_one_file() -> None:
    """As if another thread stood between its link and the name."""
    found = of("x = 4")
    named = found.path
    moved = CompiledSubscriptions(named.rename(named.with_name("elsewhere.siena")))
    os.link(moved.path, named.with_name(f".{named.name}"))
    assert moved.named() == named
