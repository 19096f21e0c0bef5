"""The settings of a broker: what a file, the environment and the command line say.

Of two that say something about the same thing, the later of these counts.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from siena.broker.access.audit import AUDIT_BYTES, AUDIT_FILES
from siena.broker.access.quotas import Quotas
from siena.broker.access.settings import Access, Name, Strict, Tls
from siena.broker.limits import (
    BATCH_SECONDS_MAX,
    CONNECTIONS_MAX,
    OUTPUT_BYTES_MAX,
    TURN_BYTES_MAX,
)
from siena.broker.log.limits import (
    LOG_BYTES,
    READER_SECONDS,
    SEGMENT_BYTES,
    SEGMENT_BYTES_MIN,
    SEGMENTS_MIN,
    SPOOL_SECONDS,
    STAGED_BYTES,
)
from siena.broker.logs import LogFormat
from siena.broker.peers.pulse import PULSE_SECONDS, PULSE_SECONDS_MAX
from siena.broker.settings_errors import explained
from siena.errors import SienaError
from siena.protocol.address import PORT
from siena.routing.options import Covering, Forwarding, Merging, Options, Paths

Side = Literal["master", "peer", "mesh"]
Weight = Annotated[float, Meta(gt=0)]


class Routing(Strict, frozen=True):
    """How brokers work together; all of a network make the same choices."""

    forwarding: Forwarding = "subscription"
    covering: Covering = "exact"
    merging: Merging = "none"
    paths: Paths = "tree"
    quench: bool = True
    # What is announced to neighbours waits so long, and goes together; 0: at once.
    batch_seconds: Annotated[float, Meta(ge=0, le=BATCH_SECONDS_MAX)] = 0.0

    def options(self) -> Options:
        """As the router wants them."""
        return Options(
            forwarding=self.forwarding,
            covering=self.covering,
            merging=self.merging,
            paths=self.paths,
            quench=self.quench,
            batching=self.batch_seconds > 0,
        )


class Limits(Strict, frozen=True):
    """How much a broker takes on."""

    connections: Annotated[int, Meta(ge=1, le=10 * CONNECTIONS_MAX)] = CONNECTIONS_MAX
    output_bytes: Annotated[int, Meta(ge=TURN_BYTES_MAX, le=2**32)] = OUTPUT_BYTES_MAX


class Log(Strict, frozen=True):
    """What is kept of what is published, and for how long."""

    path: str | None = None  # a folder; without one nothing is kept
    bytes: Annotated[int, Meta(ge=SEGMENTS_MIN * SEGMENT_BYTES_MIN)] = LOG_BYTES
    segment_bytes: Annotated[int, Meta(ge=SEGMENT_BYTES_MIN)] = SEGMENT_BYTES
    # What nobody needs is deleted after so long; 0: when there is no room.
    retain_seconds: Annotated[float, Meta(ge=0)] = 0.0
    reader_seconds: Annotated[float, Meta(gt=0)] = READER_SECONDS
    sync: Literal["never", "second", "always"] = "second"
    staged_bytes: Annotated[int, Meta(ge=SEGMENT_BYTES_MIN)] = STAGED_BYTES
    # A stream of others that keeps it as well: nats://HOST:PORT/STREAM, or
    # kafka://HOST:PORT/TOPIC.  `path` is its working copy then.  And a file with what
    # its servers are shown.
    store: str | None = None
    store_credentials: str | None = None

    def __post_init__(self) -> None:
        if self.store is not None and self.path is None:
            raise ValueError("a store needs a folder for its working copy: `path`")
        if self.store is not None and self.sync != "second":
            raise ValueError(
                'with a `store`, `sync` is "second": what is acknowledged waits for '
                "the store in any case"
            )
        if self.segment_bytes * SEGMENTS_MIN > self.bytes:
            raise ValueError(
                f"a log has room for {SEGMENTS_MIN} segments at least: `bytes` is less "
                f"than {SEGMENTS_MIN} times `segment_bytes`"
            )

    def at(self, folder: Path) -> "Log":
        """With the credentials that this name means in a folder."""
        credentials = self.store_credentials and str(folder / self.store_credentials)
        return msgspec.structs.replace(self, store_credentials=credentials)


class Durable(Strict, frozen=True):
    """What it takes for something to be acknowledged."""

    # A receipt waits for the disk; or it does not, and what was acknowledged in the
    # last second or so is lost with the machine, though not with the process.
    sync: Literal["always", "second"] = "always"
    # What is acknowledged is kept for a neighbour whose link is broken: for so long,
    # and up to so much of the log; unless it is said, half of `bytes` of the log.
    spool_seconds: Annotated[float, Meta(ge=0)] = SPOOL_SECONDS
    spool_bytes: Annotated[int, Meta(ge=SEGMENT_BYTES_MIN)] | None = None


class LinkSettings(Strict, frozen=True):
    """A broker to connect to, and what to take it for."""

    url: str
    side: Side = "peer"
    weight: Weight = 1.0
    # Whose `peer` says what the neighbour may bring and get; without one, everything.
    role: str | None = None
    # What it is shown, read from a file at every call; and who it must be, if it shows
    # a certificate.
    token_file: str | None = None
    identity: Name | None = None


class HandlerSettings(Strict, frozen=True):
    """Where notifications may be sent for those who are not connected."""

    allow: tuple[str, ...] = ()  # web hooks and what is below them; mailboxes
    smtp: str = "127.0.0.1:25"
    sender: str = "siena@localhost"


class AuditLog(Strict, frozen=True):
    """Where it is written down who came, and what was refused."""

    path: str | None = None
    bytes: Annotated[int, Meta(ge=4_096)] = AUDIT_BYTES
    files: Annotated[int, Meta(ge=1, le=1_000)] = AUDIT_FILES

    def at(self, folder: Path) -> "AuditLog":
        """With the file that this name means in a folder."""
        path = self.path and str(folder / self.path)
        return msgspec.structs.replace(self, path=path)


class Settings(Strict, frozen=True):
    """What a broker is told at its start.

    >>> Settings().listen
    ('127.0.0.1:2606',)
    """

    name: Name | None = None  # by default the address that it listens to
    listen: tuple[str, ...] = (f"127.0.0.1:{PORT}",)
    insecure_listen: bool = False
    http: str | None = None
    http_hosts: tuple[str, ...] = ()  # its names, beside addresses and localhost
    log_format: LogFormat = "text"  # of what it says on standard error
    accept_peers: bool = False  # a neighbour hears everything that it asks for
    digest_seconds: Annotated[float, Meta(gt=0)] = 30.0
    # How long it is waited for neighbours that are asked whether something is in force.
    settle_seconds: Annotated[float, Meta(gt=0)] = 30.0
    # Neighbours hear of each other so often, and five times that is too long.
    pulse_seconds: Annotated[float, Meta(gt=0, le=PULSE_SECONDS_MAX)] = PULSE_SECONDS
    routing: Routing = field(default_factory=Routing)
    limits: Limits = field(default_factory=Limits)
    handlers: HandlerSettings = field(default_factory=HandlerSettings)
    log: Log = field(default_factory=Log)
    durable: Durable = field(default_factory=Durable)
    links: tuple[LinkSettings, ...] = ()
    tls: Tls | None = None
    access: Access | None = None  # without it nobody is asked who they are
    audit: AuditLog = field(default_factory=AuditLog)
    quotas: Quotas = field(default_factory=Quotas)

    def linked_to(self, links: Iterable[Mapping[str, Any]]) -> "Settings":
        """These settings, with more links.

        >>> Settings().linked_to([{"url": "siena://b2", "side": "mesh"}]).links[0].url
        'siena://b2'
        """
        more = tuple(msgspec.convert(link, LinkSettings) for link in links)
        return msgspec.structs.replace(self, links=self.links + more)

    def at(self, folder: Path) -> "Settings":
        """With the files of ``[tls]``, ``[access]`` and others that lie in a folder."""
        links = (
            msgspec.structs.replace(
                link, token_file=link.token_file and str(folder / link.token_file)
            )
            for link in self.links
        )
        return msgspec.structs.replace(
            self,
            links=tuple(links),
            tls=self.tls and self.tls.at(folder),
            access=self.access and self.access.at(folder),
            audit=self.audit.at(folder),
            log=self.log.at(folder),
        )


def as_settings(form: Mapping[str, Any]) -> Settings:
    """Settings of a form that TOML may have.

    >>> as_settings({"limits": {"connections": 0}})
    Traceback (most recent call last):
    siena.errors.SienaError: Expected `int` >= 1 - at `$.limits.connections`
    >>> as_settings({"routing": {"covering": "exat"}})
    Traceback (most recent call last):
    siena.errors.SienaError: Invalid enum value 'exat' - at `$.routing.covering`
    (did you mean exact? there are: exact, none, pairwise)
    """
    try:
        return msgspec.convert(form, Settings)
    except msgspec.ValidationError as error:
        raise explained(error, Settings) from None


def read_toml(path: Path) -> dict[str, Any]:
    """What a file says.

    Raises:
        SienaError: if it is not TOML.
        OSError: if it cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SienaError(f"{path} is not TOML: {error}") from None


# What the environment may say, and where it goes.
VARIABLES = {
    "SIENA_NAME": "name",
    "SIENA_LISTEN": "listen",
    "SIENA_HTTP": "http",
    "SIENA_LOG_FORMAT": "log_format",
}


def gather(
    path: Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Settings:
    """The settings of a file, changed by the environment, changed by flags.

    >>> gather(None, {"SIENA_LISTEN": ":0 :1"}, {"name": "b1"}).listen
    (':0', ':1')
    """
    form = read_toml(path) if path else {}
    if "brokers" in form:
        hint = "siena serve --network FILE runs it"
        raise SienaError(f"{path} is the file of a network", hint=hint)
    for variable, name in VARIABLES.items():
        if environment.get(variable):
            said = environment[variable]
            form[name] = said.split() if name == "listen" else said
    for name, value in flags.items():
        if isinstance(value, dict):  # some keys of a table
            form[name] = {**form.get(name, {}), **value}
        elif value is not None:
            form[name] = value
    try:
        settings = as_settings(form)
        return settings.at(path.parent) if path else settings
    except SienaError as error:
        raise error.about(str(path)) if path else error from None
