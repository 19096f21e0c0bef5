"""``siena study``: list, run, show and report."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from siena.cli.main import app
from siena.errors import SienaError
from siena.research.studies.framework.registry import NAMES

RUN = ["study", "run", "fig33", "--quick", "--seeds", "1", "--serial"]


def siena(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_studies_are_listed(tmp_path: Path) -> None:
    listed = json.loads(siena("study", "list", "--json", "--store", str(tmp_path)))
    assert [entry["name"] for entry in listed] == list(NAMES)
    assert all(0 < entry["quick_rows"] <= entry["rows"] for entry in listed)
    assert "fig5 " in siena("study", "list", "--store", str(tmp_path))


def test_a_study_is_run_shown_and_reported(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path)]
    assert "Not run yet: siena study run fig33" in siena(
        "study", "show", "fig33", *store
    )
    assert "✓ F33c" in siena(*RUN, *store)
    (entry,) = json.loads(siena(*RUN, "--json", *store))
    assert entry["name"] == "fig33"
    # What is told with an interval, one seed does not confirm.
    assert {f["claim"]: f["verdict"] for f in entry["findings"]} == {
        "F33a": "holds",
        "F33b": "not decided",
        "F33c": "holds",
    }
    assert "run (quick): 3 hold, 1 not decided" in siena("study", "list", *store)
    assert "Found (quick, 1 seeds" in siena("study", "show", "fig33", *store)
    path = Path(siena("study", "report", *store).strip())
    page = path.read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in page
    assert "siena study run fig33 --quick --seeds 1" in page
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched


def test_two_stores_are_compared_claim_by_claim(tmp_path: Path) -> None:
    """The verdicts of one are made others, and one claim is taken away."""
    stores = [str(tmp_path / name) for name in ("before", "after")]
    for store in stores:
        siena(*RUN, "--store", store)
    assert "0 of 4 claims of 1 studies" in siena("study", "compare", *stores)
    path = Path(stores[1]) / "fig33" / "result.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    result["findings"][0] |= {"verdict": "differs", "found": "it falls"}
    del result["findings"][3]
    path.write_text(json.dumps(result), encoding="utf-8")
    said = CliRunner().invoke(app, ["study", "compare", *stores])
    assert said.exit_code == 1
    assert "fig33 F33a: no party: hs costs the same" in said.stdout
    assert "  differs: it falls" in said.stdout
    assert "  not claimed: " in said.stdout
    assert "2 of 4 claims" in said.stdout
    found = CliRunner().invoke(app, ["study", "compare", *stores, "--json"])
    changes = json.loads(found.stdout)
    assert [c["after"] for c in changes] == [
        "differs",
        "holds",
        changes[2]["before"],
        "",
    ]


def test_mistakes_are_said_in_one_line(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path)]
    for words, message in (
        (["study", "run"], "name the studies to run, or say --all"),
        (["study", "run", "fig34"], r"no study 'fig34' \(did you mean fig3"),
        (["study", "show", "nothing"], "see siena study list"),
        (["study", "report", *store], "no study has been run"),
        (["study", "report", "--again", *store], "--again is for rows beside a page"),
        (["study", "compare", str(tmp_path), str(tmp_path)], "has been run in both"),
    ):
        with pytest.raises(SienaError, match=message):
            CliRunner().invoke(app, words, catch_exceptions=False)
