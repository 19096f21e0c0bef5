"""Settings from files, the environment and flags."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from repository import ROOT
from siena.broker.network import NetworkSettings
from siena.broker.settings import Settings, as_settings, gather
from siena.errors import SienaError

REFERENCE = ROOT / "docs" / "reference" / "serve.md"


def test_flags_count_more_than_the_environment_and_that_more_than_a_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "siena.toml"
    path.write_text(
        'name = "file"\nlisten = ["127.0.0.1:1"]\n[limits]\nconnections = 5'
    )
    environment = {"SIENA_NAME": "environment", "SIENA_LISTEN": "127.0.0.1:2 :3"}
    found = gather(path, environment, {"name": "flag", "listen": None})
    assert found.name == "flag"
    assert found.listen == ("127.0.0.1:2", ":3")
    assert found.limits.connections == 5
    assert gather(path, {}, {}).name == "file"
    assert gather(None, {}, {}) == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nmae = 1", "unknown field `nmae`"),
        ("name = 1", "Expected `str | null`, got `int` - at `$.name`"),
        ("[limits]\noutput_bytes = 1", "at `$.limits.output_bytes`"),
        ('[[links]]\nurl = "a"\nside = "child"', "at `$.links[0].side`"),
        ('[routing]\ncovering = "loose"', "at `$.routing.covering`"),
        ("nmae = 1", "did you mean name? there are: accept_peers, "),
        ("[log]\nsycn = 1", "did you mean sync? there are: bytes, "),
        ('[[links]]\nurl = "a"\nside = "child"', "there are: master, mesh, peer"),
        ('[routing]\ncovering = "pairwyse"', "did you mean pairwise? there are"),
        ("name = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "siena.toml"
    path.write_text(text)
    with pytest.raises(SienaError) as caught:
        gather(path, {}, {})
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_reference_shows_the_defaults() -> None:
    one, network = re.findall(r"```toml\n(.*?)```", REFERENCE.read_text(), re.DOTALL)
    form = tomllib.loads(one)
    assert len(form.pop("links")) == 1
    assert form.pop("name") == "b1"
    assert form["log"].pop("path")
    assert as_settings(form) == Settings()
    msgspec.convert(tomllib.loads(network), NetworkSettings).check()
