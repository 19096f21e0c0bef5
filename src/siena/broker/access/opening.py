"""What the settings say about access, read and checked before anything changes."""

from pathlib import Path

from siena.broker.access.audit import Audit
from siena.broker.access.gate import Gate
from siena.broker.access.grants.roles import Roles, role_settings
from siena.broker.settings import Settings, read_toml
from siena.clock import Clock
from siena.errors import SienaError

# What whoever wants no roles can write.
HINT = (
    "[access.roles.NAME] says what those with that role may; this one may everything:\n"
    "  [access.roles.all]\n"
    '  publish = "[]"\n'
    '  subscribe = "[]"\n'
    '  inspect = "[]"\n'
    '  peer = { import = "[]", export = "[]" }\n'
    "  hold = true"
)


def read_roles(settings: Settings) -> Roles:
    """The roles of the settings, and of the file that they name: all, or an error.

    Raises:
        SienaError: if one cannot be read, with its place; or if there is none, for then
            no principal could do anything.
        OSError: if there is no such file.
    """
    if settings.access is None:
        return Roles()
    said = dict(settings.access.roles)
    if settings.access.roles_file is not None:
        path = Path(settings.access.roles_file)
        try:
            more = role_settings(read_toml(path))
        except SienaError as error:
            raise error.about(str(path)) from None
        twice = sorted(said.keys() & more.keys())
        if twice:
            raise SienaError(f"the role {twice[0]} is in {path}, too")
        said |= more
    if not said:
        raise SienaError("[access] has no roles: nobody could do anything", hint=HINT)
    return Roles.of(said)


def make_gate(settings: Settings, clock: Clock) -> Gate:
    """The gate of a broker.

    Raises:
        SienaError: if a role cannot be read.
        OSError: if there is no such file, or the audit log cannot be written.
    """
    audit = settings.audit
    path = None if audit.path is None else Path(audit.path)
    return Gate(
        read_roles(settings),
        Audit(path, clock, bytes_max=audit.bytes, files=audit.files),
    )
