"""The report in a real browser, and its sibling for repositories."""

import json
import re
import subprocess
from base64 import b64decode
from gzip import decompress
from html import unescape
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from siena.research.studies.framework.claim import Finding, Verdict
from siena.research.studies.framework.registry import GROUPS, NAMES, find_all
from siena.research.studies.framework.results import conclude
from siena.research.studies.framework.runner import missing, run_here, tasks_of
from siena.research.studies.framework.store import Store
from siena.research.studies.reporting.markdown import decide_again, write_pages
from siena.research.studies.reporting.report import page
from siena.research.studies.reporting.summary import kind, sentence

FEW = ("fig33", "pruning")

# Asks the page about itself, when it has been loaded, and leaves the answer in it.
QUESTIONS = """
<script>
addEventListener("load", async () => {
  const images = [...document.images];
  await Promise.all(images.map(image => image.decode().catch(() => null)));
  const light = colour => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(part => {
      part /= 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const texts = [...document.querySelectorAll("h1, p, td, th, a, summary")];
  const contrasts = texts.map(e => {
    const ink = light(getComputedStyle(e).color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  });
  const found = {
    sections: [...document.querySelectorAll("section")].map(s => s.id),
    widths: images.map(image => image.naturalWidth),
    lost: [...document.querySelectorAll("a")].filter(
      a => !a.download && !document.getElementById(a.hash.slice(1))).length,
    fetched: performance.getEntriesByType("resource").map(e => e.name)
      .filter(name => !name.startsWith("data:")),
    overflow: document.documentElement.scrollWidth - innerWidth,
    paper, contrast: Math.min(...contrasts),
  };
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify(found);
  document.body.append(answer);
});
</script>
"""


@pytest.fixture(scope="module")
def results(store: Store) -> Store:
    """A store in which two studies have been run."""
    studies = find_all(FEW)
    run_here(missing(tasks_of(studies, "test", None), store), store, lambda *_: None)
    for study in studies:
        conclude(study, store, "test", None)
    return store


def ask(html: str, folder: Path, *options: str) -> dict[str, Any]:
    """Open a page in a browser, and ask it about itself."""
    browser = which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    path = folder / "report.html"
    path.write_text(html.replace("</body>", QUESTIONS + "</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--virtual-time-budget=5000", f"--user-data-dir={folder / 'profile'}"),
            *options,
            path.as_uri(),
        ],
        capture_output=True,
        check=True,
        text=True,
        timeout=120,
    )
    found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr
    answer: dict[str, Any] = json.loads(unescape(found[1]))
    return answer


@pytest.mark.parametrize(
    ("options", "paper"),
    [
        (("--window-size=1100,900",), "light"),
        (("--window-size=520,900", "--blink-settings=preferredColorScheme=0"), "dark"),
    ],
    ids=["wide", "narrow and dark"],
)
def test_a_browser_shows_everything(
    options: tuple[str, ...], paper: str, results: Store, tmp_path: Path
) -> None:
    found = ask(page(find_all(FEW), results), tmp_path, *options)
    assert found["sections"] == list(FEW)
    assert len(found["widths"]) == len(FEW)
    assert min(found["widths"]) > 300
    assert found["lost"] == 0
    assert found["fetched"] == []
    assert found["overflow"] <= 0
    assert found["contrast"] >= 4.5
    assert ("dark" if found["paper"] < 0.2 else "light") == paper


def test_what_was_not_run_is_named(results: Store) -> None:
    html = page(find_all(["fig33", "fig5"]), results)
    assert "<h2>Not run yet</h2><p><code>fig5</code></p>" in html


def test_every_study_has_its_place() -> None:
    assert [name for names in GROUPS.values() for name in names] == list(NAMES)


def test_markdown_has_figures_claims_and_how_to_run_it(
    results: Store, tmp_path: Path
) -> None:
    text = write_pages(find_all(FEW), results, tmp_path).read_text(encoding="utf-8")
    for name in FEW:
        assert f"![{find_all([name])[0].title}]({name}.svg)" in text
        assert (tmp_path / f"{name}.svg").stat().st_size > 10_000
        assert f"`siena study run {name}`" in text
        assert (tmp_path / "data" / f"{name}.csv").stat().st_size > 1000
        assert (tmp_path / "data" / f"{name}.parquet").stat().st_size > 1000
        assert f"(data/{name}.parquet)" in text
        assert find_all([name])[0].parameters[0].value in text
    assert "| T-C20 |" in text
    assert "| F33a |" in text


def test_markdown_names_what_was_not_run(results: Store, tmp_path: Path) -> None:
    page_ = write_pages(find_all(["fig33", "fig5"]), results, tmp_path)
    assert "Not run yet: `fig5`." in page_.read_text(encoding="utf-8")


def test_markdown_keeps_what_was_found_earlier(results: Store, tmp_path: Path) -> None:
    both = write_pages(find_all(FEW), results, tmp_path / "page").read_text()
    empty = Store(tmp_path / "empty")
    again = write_pages(find_all(FEW), empty, tmp_path / "page").read_text()
    assert again == both
    other = write_pages(find_all(FEW), empty, tmp_path / "other").read_text()
    assert "Not run yet: `fig33`, `pruning`." in other


def test_rows_beside_a_page_are_decided_and_drawn_again(
    results: Store, tmp_path: Path
) -> None:
    """As they are after a change of a claim or a drawing; what rows are of, stays."""
    studies, empty = find_all(FEW), Store(tmp_path / "empty")
    page_ = write_pages(studies, results, tmp_path / "page")
    text = page_.read_text()
    picture, kept = page_.parent / "fig33.svg", page_.parent / "data" / "fig33.json"
    drawn, found = picture.read_bytes(), kept.read_text()
    before = json.loads(found)
    before["findings"][0] |= {"verdict": "differs", "found": "as it was decided once"}
    kept.write_text(json.dumps(before))
    picture.write_text("as it was drawn once")
    assert (
        "as it was decided once"
        in write_pages(studies, empty, page_.parent).read_text()
    )
    decide_again(studies, page_.parent)
    assert write_pages(studies, empty, page_.parent).read_text() == text
    assert kept.read_text() == found
    assert picture.read_bytes() == drawn


def test_a_page_says_which_rows_are_of_older_code(
    results: Store, tmp_path: Path
) -> None:
    studies, empty = find_all(FEW), Store(tmp_path / "empty")
    page_ = write_pages(studies, results, tmp_path / "page")
    assert "All rows are of the code that wrote this page." in page_.read_text()
    kept = page_.parent / "data" / "fig33.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "code": "older"}))
    text = write_pages(studies, empty, page_.parent).read_text()
    assert "may depend on has changed since for fig33, and the end of" in text
    assert "code `older`. Something that these rows may depend on has" in text


def test_claims_name_the_columns_that_select_their_rows(
    results: Store, tmp_path: Path
) -> None:
    text = write_pages(find_all(FEW), results, tmp_path).read_text(encoding="utf-8")
    assert "(data/fig33.csv), `architecture = hs; parties = 0`." in text
    html = page(find_all(FEW), results)
    assert "<code>architecture = hs; parties = 0</code>" in html


def test_of_many_rows_markdown_has_parquet_alone(
    results: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fig33.csv").write_text("of an earlier run")
    monkeypatch.setattr("siena.research.studies.reporting.markdown.CSV_MAX", 1000)
    text = write_pages(find_all(["fig33"]), results, tmp_path).read_text(
        encoding="utf-8"
    )
    names = {path.name for path in (tmp_path / "data").iterdir()}
    assert names == {"fig33.parquet", "fig33.json"}
    assert "data/fig33.parquet" in text
    assert "fig33.csv" not in text


@pytest.mark.parametrize(
    ("findings", "words", "kind_"),
    [
        ("A holds", "Of 1 claim 1 holds.", "holds"),
        ("A holds, B not decided", "1 is not decided by this data (B).", "undecided"),
        ("A holds, B differs", "1 holds, 1 differs (B).", "differs"),
        ("A differs, B differs, B differs", "3 differ (A, B).", "differs"),
        ("A left open", "1 is left open by the paper (A).", "open"),
        ("A holds, B holds, C left open", "2 hold, 1 is left open", "holds"),
        ("", "Nothing is claimed about these runs.", "open"),
    ],
)
def test_a_study_is_summed_up(findings: str, words: str, kind_: str) -> None:
    """Claims that fail no run count like all others."""
    pairs = (each.split(" ", 1) for each in findings.split(", ") if each)
    found = [
        Finding(claim, "says", Verdict(verdict), "found", is_gating=False)
        for claim, verdict in pairs
    ]
    assert words in sentence(found)
    assert kind(found) == kind_


def test_rows_are_two_clicks_away_from_the_summary(results: Store) -> None:
    html = page(find_all(FEW), results)
    for name in FEW:
        assert f'<a href="#{name}">' in html
        assert f'<a href="#{name}-rows">' in html
        found = re.search(rf'id="{name}-rows" [^>]*base64,([^"]+)"', html)
        assert found
        rows = decompress(b64decode(found[1])).decode()
        assert rows == (results.of(name) / "rows.csv").read_text(encoding="utf-8")
