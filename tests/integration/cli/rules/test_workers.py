"""Worker processes: the same answers, in the same order, and none is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from siena.cli.rules import workers
from siena.cli.rules.workers import in_order, share_of
from siena.errors import SienaError
from siena.rules import ReadRule, RuleEntry, SetAside, pieces, read_rules
from siena.rules.pieces import pieces_of
from siena.rules.review import review_rules

TEXTS = [
    "x > 3",
    "x > 5 and y = 1",
    "x > 5 and x < 4",
    "integer z < 5",
    "integer z >= 5",
    "integer z any and y = 1",
    'name like "a*c" ignoring case',
    'name like "ab*c" ignoring case and name contains d',
    "x >",
    "x > 3",
]
# With residuals, of which the first covers the second.
SELECTORS = ["v > 1 AND w < y", "v > 2 AND w < y"]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes for a handful of rules, too."""
    monkeypatch.setattr(workers, "RULES_PER_JOB_MIN", 1)
    monkeypatch.setattr(pieces, "RULES_PER_PIECE", 3)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_two_processes_review_as_one_does(
    monkeypatch: pytest.MonkeyPatch, context: str
) -> None:
    monkeypatch.setattr(workers, "_CONTEXT", multiprocessing.get_context(context))
    entries = [RuleEntry(f"r{n}", text) for n, text in enumerate(TEXTS)]
    entries += [RuleEntry(text, text, "sql") for text in SELECTORS]
    share = share_of(len(entries), 2)
    assert share is not None
    one, two = (list(read_rules(entries, share=each)) for each in (None, share))
    assert one == two
    aside = [read for read in two if isinstance(read, SetAside)]
    assert [read.id for read in aside] == ["r8"]
    rules = [read for read in two if isinstance(read, ReadRule)]
    seen: list[int] = []
    alone = review_rules(rules, aside)
    shared = review_rules(
        rules, aside, share=share, on_progress=lambda n, _of: seen.append(n)
    )
    assert shared == alone
    assert shared.to_json() == alone.to_json()
    assert {"dead", "equal", "shadowed", "residual"} <= {
        f.kind.value for f in shared.findings
    }
    assert seen == list(range(1, len(rules) + 1))


def test_small_sets_stay_in_this_process() -> None:
    assert share_of(2 * workers.RULES_PER_JOB_MIN - 1, 8) is None
    assert share_of(2 * workers.RULES_PER_JOB_MIN, 8) is not None


def test_pieces_keep_the_order() -> None:
    items = range(100)
    assert [n for piece in pieces_of(items) for n in piece] == list(items)


def _end_itself(_piece: Sequence[int]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_an_error_and_no_wait_without_end() -> None:
    with pytest.raises(SienaError, match="worker process was ended"):
        list(in_order(_end_itself, [[1], [2]], jobs=2))


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(
    tmp_path: Path, blow: signal.Signals
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import time
            from siena.cli.rules.workers import in_order

            def task(piece):
                time.sleep(60 * piece)

            if __name__ == "__main__":
                for _ in in_order(task, [0, 1, 2], jobs=2):
                    print("one is done", flush=True)
            """
        )
    )
    # A terminal sends what is typed to all of them; so each is in one group.
    process = subprocess.Popen(
        [sys.executable, program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    if blow is signal.SIGINT:
        os.killpg(process.pid, blow)
    else:
        process.send_signal(blow)
    # The pipes are closed when the last process that has them has ended.
    process.communicate(timeout=20)
    assert process.returncode != 0
