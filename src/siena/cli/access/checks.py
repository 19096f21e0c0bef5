"""What ``siena doctor --config`` looks at: certificates, keys and credentials."""

import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from siena.broker.access.certificates import Certificates
from siena.broker.access.credentials import Credentials, load_credentials
from siena.broker.access.grants.roles import Roles
from siena.broker.access.opening import read_roles
from siena.broker.access.settings import Access, Tls
from siena.broker.network import NetworkSettings, read_network
from siena.broker.settings import Settings, gather, read_toml
from siena.cli.service.doctor import Finding
from siena.clock import Clock, SystemClock
from siena.errors import SienaError

# A certificate that ends sooner is one to renew.
SOON_SECONDS = 14 * 86_400.0


def access_findings(path: Path, clock: Clock | None = None) -> Iterator[Finding]:
    """What there is to say of the settings of a broker, or of a network."""
    try:
        if "brokers" in read_toml(path):
            network: NetworkSettings = read_network(path)
            tls, access = network.tls, network.access
            names = [broker.name for broker in network.brokers]
        else:
            settings = gather(path, {}, {})
            tls, access = settings.tls, settings.access
            names = [settings.name or ""]
    except SienaError as error:
        yield Finding("settings", "bad", str(error))
        return
    except OSError as error:
        yield Finding("settings", "bad", f"{path}: {error.strerror}")
        return
    now = (clock or SystemClock()).now()
    if tls is None:
        yield Finding("TLS", "note", "none", "siena cert makes certificates, for tests")
    else:
        for name in names:
            yield _certificate(tls.of(name), now)
    yield _access(access)


def _certificate(tls: Tls, now: float) -> Finding:
    try:
        found = Certificates(tls)
    except SienaError as error:
        return Finding("TLS", "bad", str(error))
    assert found.expires_at is not None
    end = datetime.fromtimestamp(found.expires_at, UTC).date().isoformat()
    fix = "renew it (siena cert --renew, for tests); SIGHUP takes it over"
    if found.expires_at <= now:
        return Finding("TLS", "bad", f"{tls.cert} has ended, {end}", fix)
    if found.expires_at <= now + SOON_SECONDS:
        return Finding("TLS", "note", f"{tls.cert} ends soon, {end}", fix)
    if stat.S_IMODE(Path(tls.key).stat().st_mode) & 0o077:
        said = f"{tls.key} can be read by others"
        return Finding("TLS", "note", said, f"chmod 600 {tls.key}")
    return Finding("TLS", "ok", f"{tls.cert}, until {end}")


def _access(access: Access | None) -> Finding:
    if access is None:
        said = "nobody is asked who they are"
        return Finding("access", "note", said, "[access] in the settings")
    path = access.credentials
    try:
        roles = read_roles(Settings(access=access))
    except SienaError as error:
        return Finding("access", "bad", str(error))
    except OSError as error:
        return Finding("access", "bad", f"{error.filename}: {error.strerror}")
    try:
        found = load_credentials(Path(path)) if path else Credentials()
    except SienaError as error:
        return Finding("access", "bad", error.message, error.hint or "")
    unknown = _unknown_roles(found, access, roles)
    if unknown:
        said = f"there is no role {', '.join(unknown)}"
        return Finding("access", "note", said, "[access.roles] in the settings")
    if path is None:
        return Finding("access", "ok", f"{len(access.identities)} identities")
    said = f"{len(found.tokens)} tokens, {len(found.users)} users"
    return Finding("access", "ok", f"{path}: {said}")


def _unknown_roles(found: Credentials, access: Access, roles: Roles) -> list[str]:
    """Say which roles are given to a holder, and missing in the settings.

    >>> _unknown_roles(Credentials(), Access(identities={"b1": ("brokr",)}), Roles())
    ['brokr (of b1)']
    """
    named = [(record.identity, record.roles) for record in found.tokens.values()]
    named += [(name, record.roles) for name, record in found.users.items()]
    named += access.identities.items()
    holders = {role: who for who, roles in named for role in roles}
    missing = sorted(holders.keys() - roles.by_name.keys())
    return [f"{role} (of {holders[role]})" for role in missing]
