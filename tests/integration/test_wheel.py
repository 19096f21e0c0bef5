"""The wheel, in an environment of its own: it installs, and its commands work.

Kernels are those that ``make`` has compiled, and packages that it depends on those of
this environment: nothing is fetched, and nothing compiled twice.  What is installed is
the wheel alone, and not the sources beside it.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

from repository import ROOT

PARTS = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "src")
SECONDS = 100
# What a newcomer is promised.
FIRST_MILE_SECONDS_MAX = 60


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources, so that nothing is left in them."""
    source = tmp_path_factory.mktemp("source")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, source / part)
    if (ROOT / "build" / "kernels").is_dir():  # C that is as new as the kernels
        shutil.copytree(ROOT / "build" / "kernels", source / "build" / "kernels")
    # Kernels that are compiled already stand where the build would put them: newer
    # than their sources, so that it leaves them alone.
    tag = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    built = source / "build" / f"lib.{tag}"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for kernel in (ROOT / "src").rglob(f"kernels/*{suffix}"):
        place = built / kernel.relative_to(ROOT / "src")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kernel, place)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*command, "--wheel-dir", out, source], check=True)
    (found,) = out.glob("siena_pubsub-*.whl")
    return found


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of an otherwise empty environment are."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python")]
    command += ["install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*command, str(wheel)], check=True)
    # What it depends on is beside us; siena itself is not found there: an editable
    # install is behind a .pth file, and those of a folder on the path are not read.
    here = sysconfig.get_path("purelib")
    (packages / "dependencies.pth").write_text(f"{here}\n", encoding="utf-8")
    # Cython compiled the kernels, and is not needed any more; nor is a compiler, since
    # commands find nothing on their path.
    refusal = "raise ImportError('Cython is not there at run time')\n"
    for name in ("cython.py", "Cython.py"):
        (packages / name).write_text(refusal, encoding="utf-8")
    return folder / "bin"


def run(commands: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [commands / "siena", *arguments],
        cwd=commands,  # and not where the sources are
        env={"PATH": "", "LC_ALL": "C.UTF-8", "HOME": str(commands)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.slow  # it measures time, beside nothing else that it waits for
def test_the_first_mile_takes_less_than_a_minute(commands: Path) -> None:
    """From an empty environment to the first delivery: doctor, serve, sub, pub."""
    began = perf_counter()
    done = subprocess.run(
        [commands / "python", ROOT / "benchmarks" / "first_mile.py"],
        cwd=commands,
        env={"PATH": "", "LC_ALL": "C.UTF-8", "HOME": str(commands)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert perf_counter() - began < FIRST_MILE_SECONDS_MAX, done.stdout


def test_the_wheel_has_what_is_needed_at_run_time(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("/METADATA")]
        said = archive.read(metadata).decode()
    for extra in ("all", "demo", "plot", "spark", "studies"):
        assert f"Provides-Extra: {extra}\n" in said
    assert "siena/py.typed" in names
    assert any(name.startswith("siena/spark/conf/") for name in names)
    assert any(name.startswith("siena/matching/kernels/match.") for name in names)
    assert "siena/web/static/pages/network.js" in names
    assert "siena/web/static/vendor/LICENSES" in names
    assert not any(name.startswith(("tests/", "examples/")) for name in names)


def test_the_wheel_says_for_which_python_and_system_it_is(wheel: Path) -> None:
    _, _, python, abi, platform = wheel.stem.split("-")
    number = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert (python, abi) == (number, number + sys.abiflags)
    assert platform == sysconfig.get_platform().replace("-", "_").replace(".", "_")


def test_the_version_says_what_is_installed(commands: Path) -> None:
    done = run(commands, "version", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["executable"].startswith(str(commands))
    assert run(commands, "version").stdout == f"siena {said['version']}\n"


def test_the_doctor_finds_the_installed_package(commands: Path) -> None:
    done = run(commands, "doctor", "--no-spark", "--json")
    assert done.returncode == 0, done
    checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
    assert str(commands.parent) in checks["siena"]["found"]
    if shutil.which("gcc"):
        assert checks["kernels"]["found"] == "compiled"


@pytest.fixture
def url(commands: Path) -> Iterator[str]:
    serving = subprocess.Popen(
        [commands / "siena", "serve", "--listen", "127.0.0.1:0", "--json"],
        cwd=commands,
        env={**os.environ, "SIENA_URL": ""},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    try:
        yield json.loads(serving.stdout.readline())["urls"][0]
    finally:
        serving.terminate()
        serving.communicate(timeout=SECONDS)


def test_serve_sub_and_pub_work_from_it(commands: Path, url: str) -> None:
    subscribing = subprocess.Popen(
        [commands / "siena", "sub", "-S", url, "x > 3", "--count", "1"],
        cwd=commands,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert subscribing.stderr is not None
    assert "subscribed" in subscribing.stderr.readline()
    assert run(commands, "pub", "-S", url, "x=4").returncode == 0
    out, _ = subscribing.communicate(timeout=SECONDS)
    assert (subscribing.returncode, out) == (0, "x = 4\n")
