"""The changelog begins with the version that the package has."""

import re
import tomllib

from repository import ROOT


def test_the_newest_entry_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+?),? ", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1].rstrip(",") == project["project"]["version"]
