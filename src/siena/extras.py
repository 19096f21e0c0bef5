"""Extras: packages that only some rooms need, and what to type to get them.

It is installed from a clone or from a wheel of one's own.  The name of the package
alone would make pip look it up in an index, which does not have it: what is there one
day under that name may be something else.
"""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKAGE = "siena-pubsub"


def how_to_get(extra: str) -> str:
    """What to type for an extra, as this package was installed."""
    # Slow to import, and asked for when something is missing only.
    from importlib.metadata import (  # noqa: PLC0415
        PackageNotFoundError,
        distribution,
    )

    try:
        origin = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:  # sources on a path, without an installation
        origin = None
    return command(extra, origin)


def command(extra: str, origin: str | None) -> str:
    """What to type, given what pip wrote down about where the package came from.

    >>> command("spark", None)  # a folder of wheels, or sources on a path
    "in a clone: pip install '.[spark]'"
    >>> command("spark", '{"url": "file:///gone/siena", "dir_info": {}}')
    "in a clone: pip install '.[spark]'"
    >>> command("spark", '{"url": "file:///", "dir_info": {"editable": true}}')
    "pip install -e '/[spark]'"
    """
    said = {} if origin is None else json.loads(origin)
    place = urlsplit(said.get("url", ""))
    path = Path(unquote(place.path))
    if place.scheme != "file" or not path.exists():
        return f"in a clone: pip install '.[{extra}]'"
    option = "-e " if said.get("dir_info", {}).get("editable") else ""
    return f"pip install {option}'{path}[{extra}]'"
