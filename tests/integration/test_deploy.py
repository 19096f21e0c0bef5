"""The files of ``deploy/``: what they tell a broker is understood, and schemas hold."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import httpx
import pytest

import siena
from repository import ROOT
from siena.broker.http.server import HttpServer
from siena.broker.settings import Log, Settings, as_settings, read_toml
from wire import serving

DEPLOY = ROOT / "deploy"
MANIFESTS = DEPLOY / "kubernetes" / "siena.yaml"


def test_a_broker_understands_the_settings() -> None:
    settings = as_settings(read_toml(DEPLOY / "siena.toml"))
    assert settings.log_format == "json"
    assert settings.log.path == "/var/lib/siena"


def test_a_broker_understands_the_settings_in_the_manifests(tmp_path: Path) -> None:
    text = MANIFESTS.read_text(encoding="utf-8")
    found = re.search(r"^  siena\.toml: \|\n((?:    .*\n)+)", text, re.MULTILINE)
    assert found is not None
    path = tmp_path / "siena.toml"
    path.write_text(dedent(found[1]), encoding="utf-8")
    settings = as_settings(read_toml(path))
    assert isinstance(settings, Settings)
    replicas = re.search(r"^  replicas: (\d+)$", text, re.MULTILINE)
    assert replicas is not None
    pods = [f"siena-{number}.siena-brokers" for number in range(int(replicas[1]))]
    for name in ("siena", *pods):
        assert {name, f"{name}.default.svc.cluster.local"} <= set(settings.http_hosts)


def test_the_container_is_not_root_and_says_how_it_is() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    said = re.findall(r"^([A-Z]+) (.*)$", text, re.MULTILINE)
    last = dict(said)
    assert last["USER"] == "10001"
    assert last["VOLUME"] == "/var/lib/siena"
    assert "/healthz" in text[text.index("HEALTHCHECK") :]
    for what, rest in said:
        if what == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source


def test_brokers_of_compose_are_asked_how_they_are_as_one_container_is() -> None:
    """Images in OCI's format, which is podman's own, keep no health check."""
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    broker = compose.partition("x-broker: &broker")[2].partition("\nservices:")[0]
    found = re.search(
        r'^  healthcheck:\n    test: \["CMD", (.*)\]$', broker, re.MULTILINE
    )
    assert found is not None
    container = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert f"CMD [{found[1]}]" in container


@pytest.mark.parametrize("file", ["deploy/Containerfile", "docs/guides/deploying.md"])
def test_podman_builds_an_image_that_keeps_its_health_check(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    said = re.findall(r"podman build\b.*", text)
    assert said
    assert all("--format docker" in each for each in said)


async def test_the_dashboard_asks_for_metrics_that_there_are(tmp_path: Path) -> None:
    """Of a broker that has everything: a log, with a durable subscription."""
    board = json.loads((DEPLOY / "grafana" / "siena.json").read_text(encoding="utf-8"))
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\bsiena_\w+", target["expr"])
    }
    settings = Settings(listen=("127.0.0.1:0",), log=Log(path=str(tmp_path)))
    async with serving(settings) as broker:
        server = HttpServer(broker, "127.0.0.1:0")
        await server.start()
        async with siena.connect(broker.addresses[0].url) as client:
            billing = client.subscribe("x any", durable="billing")
            await billing.settled()
            async with httpx.AsyncClient(trust_env=False) as asking:
                text = (await asking.get(f"{server.url}/metrics")).text
        await server.drain()
    has = set(re.findall(r"^(siena_\w+)[ {]", text, re.MULTILINE))
    assert len(asked) > 20
    assert asked - has == set()
    # No two panels lie on each other, and each says what it shows.
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["title"] and panel["targets"] for panel in board["panels"])


@pytest.mark.slow
def test_the_manifests_are_what_kubernetes_takes() -> None:
    pytest.importorskip("kubernetes_validate", reason="pip install .[deploy]")
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", str(MANIFESTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_compose_file_is_one() -> None:
    pytest.importorskip("check_jsonschema", reason="pip install .[deploy]")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    command += ["vendor.compose-spec", str(DEPLOY / "compose.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_workflow_is_one() -> None:
    pytest.importorskip("check_jsonschema", reason="pip install .[deploy]")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    workflow = ROOT / ".github" / "workflows" / "wheels.yml"
    command += ["vendor.github-workflows", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "machines"),
    [
        ("linux", ("manylinux_x86_64", "manylinux_aarch64")),
        ("macos", ("macosx_x86_64", "macosx_arm64")),
        ("windows", ("win_amd64",)),
    ],
)
def test_a_public_ci_would_build_these_wheels(
    system: str, machines: tuple[str, ...]
) -> None:
    pytest.importorskip("cibuildwheel", reason="pip install .[deploy]")
    command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers"]
    done = subprocess.run(
        [*command, "--platform", system, str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pythons = ("cp311", "cp312", "cp313", "cp314", "cp314t")
    expected = {f"{python}-{machine}" for python in pythons for machine in machines}
    assert set(done.stdout.split()) == expected


@pytest.mark.slow
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    analyse = shutil.which("systemd-analyze")
    if analyse is None:
        pytest.skip("there is no systemd-analyze")
    text = (DEPLOY / "siena.service").read_text(encoding="utf-8")
    unit = tmp_path / "siena.service"  # with a program that is there
    unit.write_text(text.replace("/opt/siena/bin/siena", "/bin/true"), encoding="utf-8")
    command = [analyse, "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    about = [line for line in done.stderr.splitlines() if "siena.service" in line]
    assert about == []


@pytest.mark.slow
def test_there_is_a_list_of_what_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py", reason="pip install .[deploy]")
    out = tmp_path / "siena.cdx.json"
    command = [sys.executable, "-m", "cyclonedx_py", "environment"]
    subprocess.run([*command, "--output-file", str(out)], check=True)
    names = {each["name"] for each in json.loads(out.read_text())["components"]}
    assert {"siena-pubsub", "msgspec", "numpy"} <= names
