"""The kernels are compiled where they can be, from what stands in the sources."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import siena.bench.broker.kernels
import siena.matching
import siena.protocol.fast.kernels
import siena.research.matchers.kernels
from kernels import KERNELS, plain
from repository import ROOT

COMPILER = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER[0]) is None, reason="there is no C compiler"
)


@needs_compiler
def test_the_kernels_are_compiled() -> None:
    assert siena.matching.COMPILED, "run `make setup`"
    assert siena.protocol.fast.kernels.COMPILED
    assert siena.research.matchers.kernels.COMPILED
    assert siena.bench.broker.kernels.COMPILED


@needs_compiler
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_is_compiled_from_what_stands_there(name: str) -> None:
    """Only in the source tree, where a kernel may have been edited since."""
    folder = KERNELS[name].parent
    if not (ROOT / "setup.py").exists() or ROOT not in folder.parents:
        pytest.skip("installed, not edited")
    (made,) = folder.glob(f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    sources = folder.glob(f"{name}.p*")
    newest = max(source.stat().st_mtime for source in sources)
    assert made.stat().st_mtime >= newest, "run `make setup`"


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_the_twin_is_plain_python(name: str) -> None:
    assert plain(name).__file__ == str(KERNELS[name])
    assert plain(name) not in sys.modules.values()


def test_a_room_without_kernels_is_light() -> None:
    """Whoever imports the package, or its patterns, does not wait for NumPy."""
    script = "import sys, siena.matching.pattern as p; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "cython"} & set(done.stdout.split())


@pytest.mark.slow
@needs_compiler
@pytest.mark.timeout(300)
def test_a_wheel_has_machine_code_and_no_c(tmp_path: Path) -> None:
    names = wheel(tmp_path, {**os.environ, "SIENA_BENCH": ""})
    for path in KERNELS.values():
        name = path.relative_to(ROOT / "src").with_suffix("").as_posix()
        is_compiled = any(n.startswith(f"{name}.cpython") for n in names)
        assert is_compiled == (not name.startswith("siena/bench/"))
        assert f"{name}.py" in names
    assert not [n for n in names if n.endswith((".c", ".html"))]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_wheel_without_a_compiler_is_python_and_says_so(tmp_path: Path) -> None:
    names = wheel(tmp_path, {**os.environ, "CC": str(tmp_path / "no-compiler")})
    assert not [n for n in names if n.endswith(".so")]
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from siena.research.matchers.counting import CountingMatcher as C;"
        "from siena import Filter, matching; m = C(); m.add(5, Filter());"
        "print(matching.COMPILED, *m.match({}))"
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        archive.extractall(tmp_path / "installed")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "installed")],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["False", "5"]
    assert "RuntimeWarning: the matching kernels are not compiled" in done.stderr


def wheel(folder: Path, environment: "os._Environ[str] | dict[str, str]") -> list[str]:
    """Build one from a copy of the sources, and list what is in it."""
    source = folder / "source"
    source.mkdir()
    for name in ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, source)
    skipped = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", source / "src", ignore=skipped)
    # What pip would call; itself it may be missing, where uv made the environment.
    script = (
        "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
    )
    command = [sys.executable, "-c", script, str(folder)]
    subprocess.run(
        command, check=True, env=environment, cwd=source, capture_output=True
    )
    (made,) = folder.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        return archive.namelist()
