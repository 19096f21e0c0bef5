"""Print what some extras of the package consist of, a requirement a line.

    python tools/list_extras.py browser docs

So they can be installed beside an editable install, which stays as it is.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Print those of the extras that are named."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        known = tomllib.load(file)["project"]["optional-dependencies"]
    for name in sys.argv[1:]:
        print(*known[name], sep="\n")


if __name__ == "__main__":
    main()
