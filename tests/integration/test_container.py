"""The container file: its steps are done in clean roots, and what they make is run."""

import subprocess
from pathlib import Path
from time import sleep

import pytest

from container_steps import Root, can_mount, follow
from repository import ROOT

SECONDS, TRIES = 60, 60


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_container_serves_and_is_healthy(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("clean roots take a user who may mount")
    root = follow(ROOT / "deploy" / "Containerfile", ROOT, tmp_path)
    assert (root.user, root.entry[:2]) == ("10001", ["siena", "serve"])
    root.run(["python", "-c", "from siena.matching import COMPILED; assert COMPILED"])
    with subprocess.Popen(
        root.serving(), env=root.environment(), stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            for _ in range(TRIES):
                assert serving.poll() is None, serving.communicate()[1]
                if is_healthy(root, serving.pid):
                    break
                sleep(0.5)
            else:
                pytest.fail("it is not healthy")
            kept = list((root.folder / "var/lib/siena").iterdir())
            assert {path.stat().st_uid for path in kept} == {10_001}
        finally:
            serving.terminate()
            serving.communicate(timeout=SECONDS)
    assert serving.returncode == 0


def is_healthy(root: Root, process: int) -> bool:
    """Whether the health check of the file is content."""
    asking, environment = root.asking(process), root.environment()
    done = subprocess.run(asking, env=environment, capture_output=True, check=False)
    return done.returncode == 0
