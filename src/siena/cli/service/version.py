"""``siena version``: what is installed, for people and for bug reports."""

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version as version_of
from typing import Annotated, Any

import typer

# What else decides how it behaves, as far as it is installed.
BESIDE = ("cython", "httptools", "msgspec", "numpy", "pyarrow", "pyspark", "uvloop")


def version(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say which version this is, and with --json what it runs on.

    \b
    Examples:
      siena version
      siena version --json
    """  # noqa: D301 -- Typer needs the backspace itself
    if not as_json:
        print(f"siena {version_of('siena-pubsub')}")
        return
    print(json.dumps(_found()))


def _found() -> dict[str, Any]:
    import warnings

    from siena.protocol.handshake import VERSIONS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is said below
        from siena.matching import COMPILED
    return {
        "version": version_of("siena-pubsub"),
        "protocol": list(VERSIONS),
        "kernels": "compiled" if COMPILED else "plain",
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {name: _beside(name) for name in BESIDE},
    }


def _beside(name: str) -> str | None:
    try:
        return version_of(name)
    except PackageNotFoundError:
        return None
