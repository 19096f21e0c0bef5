"""What to type for an extra: from where this package came."""

import json
import tomllib
from pathlib import Path

import pytest

from repository import ROOT
from siena.extras import PACKAGE, command, how_to_get


@pytest.mark.parametrize(
    ("told", "option"),
    [({"dir_info": {}}, ""), ({"dir_info": {"editable": True}}, "-e ")],
)
def test_a_clone_is_installed_again(
    tmp_path: Path, told: dict[str, object], option: str
) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    origin = json.dumps({"url": clone.as_uri(), **told})
    assert command("spark", origin) == f"pip install {option}'{clone}[spark]'"


def test_a_wheel_of_ones_own_is_too(tmp_path: Path) -> None:
    wheel = tmp_path / "siena_pubsub-0.1.0-py3-none-any.whl"
    wheel.touch()
    origin = json.dumps({"url": wheel.as_uri(), "archive_info": {}})
    assert command("plot", origin) == f"pip install '{wheel}[plot]'"


@pytest.mark.parametrize(
    "url", ["file:///nowhere/siena", "https://example.org/siena.tar.gz"]
)
def test_what_is_gone_is_not_named(url: str) -> None:
    assert command("plot", json.dumps({"url": url})) == (
        "in a clone: pip install '.[plot]'"
    )


def test_the_installation_that_runs_is_asked() -> None:
    assert how_to_get("demo").endswith("[demo]'")


def test_all_of_them_are_all_that_developers_are_not_alone_in_needing() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = everything.removeprefix(f"{PACKAGE}[").removesuffix("]").split(",")
    of_developers = {"dev", "docs", "browser", "deploy", "all"}
    assert named == sorted(extras.keys() - of_developers)
