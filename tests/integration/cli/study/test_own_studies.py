"""Studies of one's own: a file, a scenario, a package, a notebook, other parameters."""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from repository import ROOT
from siena.cli.main import app
from siena.errors import SienaError
from siena.research.studies import template
from siena.research.studies.framework import registry
from siena.research.studies.framework.overriding import override
from siena.research.studies.framework.registry import find
from siena.research.studies.framework.sources import closure, code_version

SCENARIO = """servers = acyclic sub_fwd;
objects { event = "A"; number = 2; pub/adv = 2; time/pub = 20~30; cycles = 1; };
parties { pattern = "A"; number = 3; notif/sub = 2; cycles = 1; };
"""


@pytest.fixture(autouse=True)
def a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Modules of this folder are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def siena(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_new_study_is_checked_run_shown_and_reported() -> None:
    assert siena("study", "new", "bands").startswith("bands.py")
    assert "✓ fewer" in siena("study", "check", "bands.py")
    run = ["study", "run", "bands.py", "--quick", "--serial", "--seeds"]
    assert "one seed has no interval" in siena(*run, "1")
    assert "✓ fewer" in siena(*run, "3")
    assert "Found (quick, 3 seeds" in siena("study", "show", "bands.py")
    siena("study", "report", "bands.py", "-o", "bands.html")
    assert "Bands, wide and narrow" in Path("bands.html").read_text(encoding="utf-8")


def test_the_study_of_the_guide_holds_and_shows_what_the_guide_shows() -> None:
    example = ROOT / "examples" / "studies" / "reach.py"
    assert "✓ nearer" in siena("study", "check", str(example))
    run = ["study", "run", str(example), "--quick", "--serial"]
    assert "✓ nearer" in siena(*run, "--report", "reach.html")
    assert "in a star and in a chain" in Path("reach.html").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "guides" / "studies.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```python\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    text = example.read_text(encoding="utf-8")
    assert parts
    assert all(part in text for part in parts)


ALWAYS = """

def _always(margins: object) -> Answer:
    from siena.research.studies.framework.claim import decided

    return decided(True, str(margins))
"""


def test_a_claim_that_cannot_fail_is_found() -> None:
    siena("study", "new", "blind")
    text = Path("blind.py").read_text(encoding="utf-8")
    text = text.replace("return all_below(", "return _always(") + ALWAYS
    Path("blind.py").write_text(text, encoding="utf-8")
    said = siena("study", "check", "blind.py", code=1)
    assert "not refuted by wrong rows: all the same" in said


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            'return {"told": ',
            'return {"tell": ',
            "claim fewer: looks for 'told', which is not there",
        ),
        (
            'return {"told": len(poset.roots)}',
            'return {"told": poset.roots}',
            "the result told is a frozenset, and no text, number",
        ),
        ('"width": width, "seed": seed', '"width": width', "KeyError: 'seed'"),
    ],
    ids=["column", "result", "seed"],
)
def test_mistakes_in_a_study_of_ones_own_are_named_in_one_line(
    right: str, wrong: str, message: str
) -> None:
    siena("study", "new", "mistaken")
    text = Path("mistaken.py").read_text(encoding="utf-8")
    assert right in text
    Path("mistaken.py").write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(SienaError, match=message):
        siena("study", "check", "mistaken.py")


def test_rows_of_a_file_are_known_by_its_text_and_by_ours() -> None:
    siena("study", "new", "known")
    module = find("known.py").run.__module__
    assert {"known", "siena.algebra.poset.poset"} <= closure(module)
    before = code_version(module)
    with Path("known.py").open("a", encoding="utf-8") as file:
        file.write("another = True\n")
    code_version.cache_clear()
    assert code_version(module) != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no STUDY that is a Study"),
        ("1 / 0", "could not be imported: ZeroDivisionError"),
        ("STUDY = 3", "has no STUDY that is a Study"),
        (
            "from siena.research.studies.figures.fig5 import STUDY",
            "cannot be called 'fig5'",
        ),
    ],
)
def test_a_file_without_a_study_is_refused_in_one_line(text: str, message: str) -> None:
    Path("wrong.py").write_text(text, encoding="utf-8")
    with pytest.raises(SienaError, match=message):
        find("wrong.py")


def test_the_file_of_a_study_is_named_where_only_its_name_is_given() -> None:
    siena("study", "new", "bands")
    with pytest.raises(SienaError, match="there is no study 'bands'") as wrong:
        find("bands")
    assert wrong.value.hint == "did you mean bands.py?"


def test_a_file_that_would_hide_a_module_is_refused() -> None:
    Path("json.py").write_text("STUDY = 1", encoding="utf-8")
    with pytest.raises(SienaError, match="another module is called json"):
        find("json.py")
    with pytest.raises(SienaError, match="no such file"):
        find("absent.py")
    Path("a-b.py").touch()
    with pytest.raises(SienaError, match="is no name of a module"):
        find("a-b.py")


def test_a_scenario_becomes_a_report_in_one_command() -> None:
    Path("small.txt").write_text(SCENARIO, encoding="utf-8")
    run = ["study", "run", "small.txt", "--quick", "--serial", "--json"]
    (entry,) = json.loads(siena(*run, "--report", "small.html"))
    assert entry["rows"] == 12
    assert [f["verdict"] for f in entry["findings"]] == ["holds"]
    assert "small.txt" in Path("small.html").read_text(encoding="utf-8")


def test_a_scenario_with_faults_is_not_counted() -> None:
    faults = "faults { lost = 1; duplicated = 0; time = 0~20; };"
    Path("faulty.txt").write_text(SCENARIO + faults, encoding="utf-8")
    with pytest.raises(SienaError, match="faults are simulated, and not counted"):
        find("faulty.txt")


def test_a_parameter_is_set_in_all_rows_and_named() -> None:
    changed = override(template.STUDY, {"width": "10"})
    rows = changed.rows("quick")
    assert {row["width"] for row in rows} == {10}
    assert len(rows) == len(template.STUDY.rows("quick")) / len(template.WIDTHS)
    assert changed.name == "example_study@width=10"
    with pytest.raises(SienaError, match=r"no parameter 'hight' \(it has filters"):
        override(template.STUDY, {"hight": "10"})
    with pytest.raises(SienaError, match="width is int, and not 'wide'"):
        override(template.STUDY, {"width": "wide"})


def test_a_claim_about_other_rows_is_not_decided() -> None:
    siena("study", "new", "one")
    run = ["study", "run", "one.py", "--quick", "--serial", "--json"]
    (entry,) = json.loads(siena(*run, "--set", "width=10"))
    assert [f["verdict"] for f in entry["findings"]] == ["not decided"]


def test_a_package_brings_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "siena.research.studies.template", "siena.studies")
    monkeypatch.setattr(registry, "installed", lambda: {"theirs": point})
    assert find("theirs") is template.STUDY
    assert registry.names()[-1] == "theirs"


def test_the_notebook_runs_from_top_to_bottom() -> None:
    notebook = json.loads((ROOT / "examples/studies.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102 -- our own
    assert (Path("siena-studies") / "fig33@sites=200" / "rows.parquet").exists()
