"""Sigma rules of ours, on generated events: a plain loop over pySigma's tree agrees."""

import random

import pytest
from sigma.rule import SigmaRule

from conformance.kit import load
from siena.dialects.factoring import factor
from siena.dialects.sigma.reader import SigmaSettings, read_sigma
from siena.errors import FilterError
from siena.model.expression import holds
from sigma_events import events_for
from sigma_loop import fires

RULES = {
    case["id"]: case["text"]
    for case in load("dialect-sigma")["cases"]
    if case["relation"] == "selects"
}
SETTINGS = SigmaSettings(logsource="none")


@pytest.mark.parametrize("text", RULES.values(), ids=RULES.keys())
def test_a_plain_loop_agrees(text: str) -> None:
    generator = random.Random(1)
    expression, plain = read_sigma(text, SETTINGS), SigmaRule.from_yaml(text)
    rule = factor(expression)
    for event in events_for(plain, generator, 50):
        expected = fires(plain, event)
        assert holds(expression, event) == expected, event
        assert rule.matches(event) == expected, event


RULE = RULES["endswith"]


@pytest.mark.parametrize(
    ("logsource", "wanted"),
    [
        ("none", 'Image *< "\\\\cmd.exe" ignoring case'),
        ("attributes", "logsource.product = windows"),
        ("windows", "Channel = security ignoring case and EventID = 4688"),
    ],
)
def test_a_log_source_is_what_is_asked_for(logsource: str, wanted: str) -> None:
    rule = factor(read_sigma(RULE, SigmaSettings(logsource=logsource)))
    assert wanted in str(rule)


def test_a_log_source_that_windows_does_not_have_stays_an_attribute() -> None:
    text = RULE.replace("product: windows", "product: linux")
    rule = factor(read_sigma(text, SigmaSettings(logsource="windows")))
    assert "logsource.product = linux" in str(rule)


def of_source(**source: str) -> str:
    """A rule about one source, that asks nothing else."""
    lines = "".join(f"    {part}: {value}\n" for part, value in source.items())
    detection = "detection:\n    s:\n        a: 1\n    condition: s\n"
    return (
        f"title: A rule of ours\nlogsource:\n    product: windows\n{lines}{detection}"
    )


CHANNELS = [
    ("servicebus-client", "Microsoft-ServiceBus-Client/Operational"),
    ("microsoft-servicebus-client", "Microsoft-ServiceBus-Client/Admin"),
    ("appmodel-runtime", "Microsoft-Windows-AppModel-Runtime/Admin"),
    ("dns-server-analytic", "Microsoft-Windows-DNS-Server/Analytical"),
    ("dns-server-audit", "Microsoft-Windows-DNS-Server/Audit"),
    ("dns-client", "Microsoft-Windows-DNS-Client/Operational"),
    ("dns-client", "Microsoft-Windows-DNS Client Events/Operational"),
    ("ldap", "Microsoft-Windows-LDAP-Client/Debug"),
    ("iis-configuration", "Microsoft-IIS-Configuration/Operational"),
    ("smbclient-connectivity", "Microsoft-Windows-SMBClient/Connectivity"),
    ("smbserver-connectivity", "Microsoft-Windows-SMBServer/Connectivity"),
    ("dhcp", "Microsoft-Windows-DHCP-Server/Operational"),
    ("bitlocker", "Microsoft-Windows-BitLocker/BitLocker Management"),
    ("hyper-v-worker", "Microsoft-Windows-Hyper-V-Worker"),
    ("kernel-event-tracing", "Microsoft-Windows-Kernel-EventTracing"),
    ("kernel-shimengine", "Microsoft-Windows-Kernel-ShimEngine/Diagnostic"),
    ("ntfs", "Microsoft-Windows-Ntfs/Operational"),
    ("sense", "Microsoft-Windows-SENSE/Operational"),
    (
        "application-experience",
        "Microsoft-Windows-Application-Experience/Program-Telemetry",
    ),
]


@pytest.mark.parametrize(("service", "channel"), CHANNELS)
def test_a_service_of_windows_is_its_channel(service: str, channel: str) -> None:
    text = of_source(service=service)
    rule = factor(read_sigma(text, SigmaSettings(logsource="windows")))
    assert rule.matches({"Channel": channel, "a": 1})
    assert not rule.matches({"Channel": "Security", "a": 1})


@pytest.mark.parametrize("category", ["file_access", "file_rename"])
def test_a_category_without_a_channel_is_its_provider(category: str) -> None:
    text = of_source(category=category)
    rule = factor(read_sigma(text, SigmaSettings(logsource="windows")))
    assert rule.matches({"Provider_Name": "Microsoft-Windows-Kernel-File", "a": 1})
    assert not rule.matches({"Provider_Name": "Microsoft-Windows-Sysmon", "a": 1})


def test_fields_that_are_referred_to_have_the_names_of_attributes() -> None:
    settings = SigmaSettings({"a": "one", "b": "other"}, "none")
    rule = factor(read_sigma(RULES["fields-of-different-kinds"], settings))
    assert rule.matches({"one": "x", "other": "X"})
    assert not rule.matches({"one": "x", "b": "X"})


@pytest.mark.parametrize("field", ["a", "a|gt", "'|all'"])
@pytest.mark.parametrize("number", [2**53 + 1, 10**23 - 1])
def test_an_integer_that_pysigma_rounds_is_refused(field: str, number: int) -> None:
    values = f"[{number}, 1]" if "all" in field else number
    text = of_source().replace("a: 1", f"{field}: {values}")
    with pytest.raises(FilterError, match="pySigma has rounded"):
        read_sigma(text, SETTINGS)
    rule = factor(read_sigma(of_source().replace("a: 1", f"a: {2**53}"), SETTINGS))
    assert rule.matches({"a": 2**53})
    assert not rule.matches({"a": 2**53 - 1})


def test_fields_have_the_names_of_attributes() -> None:
    rule = factor(read_sigma(RULE, SigmaSettings({"Image": "process.path"}, "none")))
    assert rule.matches({"process.path": "C:\\cmd.exe"})


def test_a_pipeline_is_applied() -> None:
    from sigma.processing.pipeline import ProcessingPipeline  # noqa: PLC0415 -- slow to load

    pipeline = ProcessingPipeline.from_yaml(
        "name: ours\npriority: 1\ntransformations:\n"
        "    - id: names\n      type: field_name_mapping\n      mapping:\n"
        "          Image: path\n"
    )
    settings = SigmaSettings(logsource="none", pipeline=pipeline)
    assert factor(read_sigma(RULE, settings)).matches({"path": "C:\\CMD.exe"})


def test_an_error_names_the_rule() -> None:
    text = RULE.replace("Image|endswith", "Image|expand").replace("\\cmd.exe", "%x%")
    with pytest.raises(FilterError, match="A rule of ours"):
        read_sigma(text)
