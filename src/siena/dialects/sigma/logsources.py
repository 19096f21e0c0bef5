"""Log sources: where the events of a rule come from, as constraints.

A rule says that it is about ``category: process_creation`` of ``product: windows``.
Events that are tagged so are selected by ``logsource.category`` and the like.  For
events of Windows themselves, which have a channel and a number instead, there is a
table.

Reference:
    Sigma's taxonomy appendix 2.1.0, "Windows Folder"; the events of Sysmon and of
    Windows' security log.
"""

from collections.abc import Callable
from typing import NamedTuple

from siena.model import Constraint, Operator
from siena.model.expression import TRUE, Expression, all_of, any_of

_SYSMON = "Microsoft-Windows-Sysmon/Operational"
_POWERSHELL = "Microsoft-Windows-PowerShell/Operational"
# Windows calls the channel so, and the taxonomy otherwise.
_DNS_CLIENT = (
    "Microsoft-Windows-DNS-Client/Operational",
    "Microsoft-Windows-DNS Client Events/Operational",
)
_SERVICE_BUS = (
    "Microsoft-ServiceBus-Client/Operational",
    "Microsoft-ServiceBus-Client/Admin",
)


class LogSource(NamedTuple):
    """What a rule says about the source of its events."""

    category: str | None = None
    product: str | None = None
    service: str | None = None


def as_attributes(source: LogSource) -> Expression:
    """Constraints on ``logsource.category``, ``.product`` and ``.service``.

    >>> from siena.model.expression import spell_expression
    >>> print(spell_expression(as_attributes(LogSource(product="linux"))))
    [logsource.product = linux]
    """
    return all_of(
        Constraint(f"logsource.{part}", Operator.EQ, value)
        for part, value in source._asdict().items()
        if value
    )


def as_nothing(_source: LogSource) -> Expression:
    """No constraint: the events are known to be of the right source."""
    return TRUE


def as_windows(source: LogSource) -> Expression:
    """Constraints on the channel and the number of a Windows event.

    What the table does not know is said as :func:`as_attributes` says it.
    """
    if source.product not in {None, "windows"}:
        return as_attributes(source)
    parts: list[Expression] = []
    if source.category:
        if source.category not in _CATEGORIES:
            return as_attributes(source)
        parts.append(any_of(map(_event, _CATEGORIES[source.category])))
    if source.service:
        if source.service not in _SERVICES:
            return as_attributes(source)
        parts.append(any_of(map(_channel, _SERVICES[source.service])))
    return all_of(parts)


WAYS: dict[str, Callable[[LogSource], Expression]] = {
    "attributes": as_attributes,
    "windows": as_windows,
    "none": as_nothing,
}


def _channel(name: str) -> Expression:
    return Constraint("Channel", Operator.EQ_FOLDED, name)


def _event(event: tuple[str, int | None]) -> Expression:
    channel, number = event
    if number is None:
        return Constraint("Provider_Name", Operator.EQ_FOLDED, channel)
    return all_of((_channel(channel), Constraint("EventID", Operator.EQ, number)))


# A channel and a number; or, where events are of no channel, who provides them.
_CATEGORIES: dict[str, tuple[tuple[str, int | None], ...]] = {
    "process_creation": ((_SYSMON, 1), ("Security", 4688)),
    "file_change": ((_SYSMON, 2),),
    "network_connection": ((_SYSMON, 3), ("Security", 5156)),
    "sysmon_status": ((_SYSMON, 4), (_SYSMON, 16)),
    "process_termination": ((_SYSMON, 5),),
    "driver_load": ((_SYSMON, 6),),
    "image_load": ((_SYSMON, 7),),
    "create_remote_thread": ((_SYSMON, 8),),
    "raw_access_thread": ((_SYSMON, 9),),
    "process_access": ((_SYSMON, 10),),
    "file_event": ((_SYSMON, 11),),
    "registry_add": ((_SYSMON, 12), ("Security", 4657)),
    "registry_delete": ((_SYSMON, 12), ("Security", 4657)),
    "registry_set": ((_SYSMON, 13), ("Security", 4657)),
    "registry_rename": ((_SYSMON, 14),),
    "registry_event": (
        *((_SYSMON, number) for number in (12, 13, 14)),
        ("Security", 4657),
    ),
    "create_stream_hash": ((_SYSMON, 15),),
    "pipe_created": ((_SYSMON, 17), (_SYSMON, 18)),
    "wmi_event": ((_SYSMON, 19), (_SYSMON, 20), (_SYSMON, 21)),
    "dns_query": ((_SYSMON, 22), *((name, 3008) for name in _DNS_CLIENT)),
    "file_delete": ((_SYSMON, 23), (_SYSMON, 26)),
    "file_delete_detected": ((_SYSMON, 26),),
    "file_access": (("Microsoft-Windows-Kernel-File", None),),
    "file_rename": (("Microsoft-Windows-Kernel-File", None),),
    "clipboard_capture": ((_SYSMON, 24),),
    "process_tampering": ((_SYSMON, 25),),
    "file_block_executable": ((_SYSMON, 27),),
    "file_block_shredding": ((_SYSMON, 28),),
    "file_executable_detected": ((_SYSMON, 29),),
    "sysmon_error": ((_SYSMON, 255),),
    "ps_module": ((_POWERSHELL, 4103), ("PowerShellCore/Operational", 4103)),
    "ps_script": ((_POWERSHELL, 4104), ("PowerShellCore/Operational", 4104)),
    "ps_classic_start": (("Windows PowerShell", 400),),
    "ps_classic_provider_start": (("Windows PowerShell", 600),),
    "ps_classic_script": (("Windows PowerShell", 800),),
}
_SERVICES: dict[str, tuple[str, ...]] = {
    "application": ("Application",),
    "security": ("Security",),
    "system": ("System",),
    "sysmon": (_SYSMON,),
    "powershell": (_POWERSHELL, "PowerShellCore/Operational"),
    "powershell-classic": ("Windows PowerShell",),
    "taskscheduler": ("Microsoft-Windows-TaskScheduler/Operational",),
    "wmi": ("Microsoft-Windows-WMI-Activity/Operational",),
    "windefend": ("Microsoft-Windows-Windows Defender/Operational",),
    "applocker": (
        "Microsoft-Windows-AppLocker/MSI and Script",
        "Microsoft-Windows-AppLocker/EXE and DLL",
        "Microsoft-Windows-AppLocker/Packaged app-Deployment",
        "Microsoft-Windows-AppLocker/Packaged app-Execution",
    ),
    "bits-client": ("Microsoft-Windows-Bits-Client/Operational",),
    "dns-server": ("DNS Server",),
    "dns-server-analytic": ("Microsoft-Windows-DNS-Server/Analytical",),
    "dns-server-audit": ("Microsoft-Windows-DNS-Server/Audit",),
    "dns-client": _DNS_CLIENT,
    "dhcp": ("Microsoft-Windows-DHCP-Server/Operational",),
    "driver-framework": ("Microsoft-Windows-DriverFrameworks-UserMode/Operational",),
    "firewall-as": (
        "Microsoft-Windows-Windows Firewall With Advanced Security/Firewall",
    ),
    "ntlm": ("Microsoft-Windows-NTLM/Operational",),
    "printservice-admin": ("Microsoft-Windows-PrintService/Admin",),
    "printservice-operational": ("Microsoft-Windows-PrintService/Operational",),
    "smbclient-security": ("Microsoft-Windows-SmbClient/Security",),
    "smbclient-connectivity": ("Microsoft-Windows-SmbClient/Connectivity",),
    "smbserver-connectivity": ("Microsoft-Windows-SMBServer/Connectivity",),
    "terminalservices-localsessionmanager": (
        "Microsoft-Windows-TerminalServices-LocalSessionManager/Operational",
    ),
    "codeintegrity-operational": ("Microsoft-Windows-CodeIntegrity/Operational",),
    "msexchange-management": ("MSExchange Management",),
    "iis-configuration": ("Microsoft-IIS-Configuration/Operational",),
    "servicebus-client": _SERVICE_BUS,
    "microsoft-servicebus-client": _SERVICE_BUS,  # its name in older rules
    "ldap": ("Microsoft-Windows-LDAP-Client/Debug",),
    "ldap_debug": ("Microsoft-Windows-LDAP-Client/Debug",),
    "security-mitigations": (
        "Microsoft-Windows-Security-Mitigations/Kernel Mode",
        "Microsoft-Windows-Security-Mitigations/User Mode",
    ),
    "diagnosis-scripted": ("Microsoft-Windows-Diagnosis-Scripted/Operational",),
    "shell-core": ("Microsoft-Windows-Shell-Core/Operational",),
    "openssh": ("OpenSSH/Operational",),
    "vhdmp": ("Microsoft-Windows-VHDMP/Operational",),
    "bitlocker": ("Microsoft-Windows-BitLocker/BitLocker Management",),
    "ntfs": ("Microsoft-Windows-Ntfs/Operational",),
    "sense": ("Microsoft-Windows-SENSE/Operational",),
    "hyper-v-worker": ("Microsoft-Windows-Hyper-V-Worker",),
    "kernel-event-tracing": ("Microsoft-Windows-Kernel-EventTracing",),
    "kernel-shimengine": (
        "Microsoft-Windows-Kernel-ShimEngine/Operational",
        "Microsoft-Windows-Kernel-ShimEngine/Diagnostic",
    ),
    "application-experience": (
        "Microsoft-Windows-Application-Experience/Program-Telemetry",
        "Microsoft-Windows-Application-Experience/Program-Compatibility-Assistant",
    ),
    "appmodel-runtime": ("Microsoft-Windows-AppModel-Runtime/Admin",),
    "appxdeployment-server": ("Microsoft-Windows-AppXDeploymentServer/Operational",),
    "lsa-server": ("Microsoft-Windows-LSA/Operational",),
    "appxpackaging-om": ("Microsoft-Windows-AppxPackaging/Operational",),
    "capi2": ("Microsoft-Windows-CAPI2/Operational",),
    "certificateservicesclient-lifecycle-system": (
        "Microsoft-Windows-CertificateServicesClient-Lifecycle-System/Operational",
    ),
}
