"""Saved servers: names for addresses, in a file of the user's configuration."""

import os
import re
import socket
import ssl
import sys
import tempfile
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import msgspec
from msgspec import Struct

from siena.client.connect import URL_VARIABLE, check_token, default_url, tls_context
from siena.client.tokens import TOKEN_CHARACTERS_MAX
from siena.errors import SienaError
from siena.protocol.address import Address, parse_address

# Names that nobody can mistake for an address.
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTEXTS_MAX = 1_000


class Server(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a broker is, and what it wants to see before it lets us in.

    ``ca``, ``cert`` and ``key`` are files for TLS: whom we believe, and who we are.
    """

    url: str
    token: str | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None

    @property
    def tls(self) -> "ssl.SSLContext | None":
        """For a connection to it."""
        if not parse_address(self.url).is_secure:
            return None
        return tls_context(self.ca, self.cert, self.key)

    def __repr__(self) -> str:
        return f"<Server {self.url}>"  # without its token


class Contexts(Struct, frozen=True, forbid_unknown_fields=True):
    """The saved servers, and the one that is meant if nothing is said.

    >>> saved = Contexts().add("work", Server("siena://hub"))
    >>> saved.use("work").current
    'work'
    >>> saved.use("home")
    Traceback (most recent call last):
    siena.errors.SienaError: there is no context home (saved are: work)
    """

    current: str | None = None
    servers: dict[str, Server] = {}

    def add(self, name: str, server: Server) -> "Contexts":
        """With this server besides, or instead of the one of that name."""
        if not NAME.fullmatch(name):
            raise SienaError(
                f"{name!r} cannot be the name of a context",
                hint="up to 64 letters, digits, - and _",
            )
        parse_address(server.url)
        servers = dict(sorted({**self.servers, name: server}.items()))
        if len(servers) > CONTEXTS_MAX:
            raise SienaError(f"more than {CONTEXTS_MAX} contexts")
        return Contexts(self.current, servers)

    def use(self, name: str) -> "Contexts":
        """With this one meant if nothing is said."""
        self.find(name)
        return Contexts(name, self.servers)

    def remove(self, name: str) -> "Contexts":
        """Without this one."""
        self.find(name)
        servers = {n: s for n, s in self.servers.items() if n != name}
        return Contexts(None if self.current == name else self.current, servers)

    def find(self, name: str) -> Server:
        """The server of that name."""
        if name not in self.servers:
            known = ", ".join(self.servers)
            hint = f"saved are: {known}" if known else "add one: siena context add"
            raise SienaError(f"there is no context {name}", hint=hint)
        return self.servers[name]


def contexts_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the file is: in the XDG folder for configuration.

    >>> str(contexts_path({"XDG_CONFIG_HOME": "/home/ann/.config"}))
    '/home/ann/.config/siena/contexts.json'
    """
    home = environment.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "siena/contexts.json"


def load_contexts(path: Path) -> Contexts:
    """What was saved; nothing if there is no file.

    Raises:
        SienaError: if it is not one of ours; it is left as it is.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Contexts)
    except FileNotFoundError:
        return Contexts()
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise SienaError(f"{path}: {error}", hint="mend it, or remove it") from None


def context_names(begun: str) -> list[str]:
    """The saved names that begin so, for the completion of shells."""
    try:
        saved = load_contexts(contexts_path()).servers
    except (SienaError, OSError):  # a shell that completes is not told of faults
        return []
    return [name for name in saved if name.startswith(begun)]


def save_contexts(path: Path, contexts: Contexts) -> None:
    """Write the file, whole or not at all; tokens are for its owner's eyes only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(contexts), indent=2) + b"\n"
    # Made readable for nobody else; renamed when it is complete.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".contexts-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def find_server(
    said: str | None, environment: Mapping[str, str] = os.environ
) -> Server:
    """The server that is meant: said, in ``SIENA_URL``, saved, or on this machine.

    What is said may be the name of a context, or an address.  The variables
    ``SIENA_TOKEN``, ``SIENA_TOKEN_FILE`` and ``SIENA_CA`` say what a context does not.
    """
    found = _find_server(said, environment)
    token, path = found.token, environment.get("SIENA_TOKEN_FILE")
    if token is None:
        token = environment.get("SIENA_TOKEN") or (
            read_token_file(path) if path else None
        )
    check_token(parse_address(found.url), token)
    ca = found.ca or environment.get("SIENA_CA") or None
    return Server(found.url, token, ca, found.cert, found.key)


def read_token_file(path: str) -> str:
    """A token from a file, or from the standard input if that is ``-``.

    Raises:
        SienaError: if there is none; what it says is not told.
    """
    if path.startswith(("siena1.", "eyJ")):
        raise SienaError(
            "a token in a command line can be read by everybody on this machine",
            hint="--token FILE; - for the standard input",
        )
    try:
        if path == "-":
            text = sys.stdin.read(TOKEN_CHARACTERS_MAX + 1)
        else:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(TOKEN_CHARACTERS_MAX + 1)
    except UnicodeDecodeError:
        raise SienaError(f"{path} has no token") from None
    text = text.strip()
    if not text or len(text) > TOKEN_CHARACTERS_MAX:
        raise SienaError(f"{path} has no token")
    return text


def _find_server(said: str | None, environment: Mapping[str, str]) -> Server:
    contexts = load_contexts(contexts_path(environment))
    if said is None and environment.get(URL_VARIABLE):
        return Server(default_url(environment))
    if said is None and contexts.current in contexts.servers:
        return contexts.servers[contexts.current]
    if said is None:
        return Server(default_url(environment))
    if said in contexts.servers:
        return contexts.servers[said]
    address = parse_address(said)
    if NAME.fullmatch(said) and not _is_host(address):
        raise _unknown(said, contexts)
    return Server(said)


def _is_host(address: Address) -> bool:
    """Whether there is one of that name."""
    try:
        socket.getaddrinfo(address.host, address.port)
    except OSError:
        return False
    return True


def _unknown(said: str, contexts: Contexts) -> SienaError:
    """Something short that is neither: most likely a context, mistyped."""
    near = get_close_matches(said, contexts.servers, n=1)
    if near:
        hint = f"did you mean {near[0]}?"
    elif contexts.servers:
        hint = f"saved are: {', '.join(contexts.servers)}"
    else:
        hint = "siena context add saves one"
    text = f"there is neither a context nor a host {said}"
    return SienaError(text, hint=hint)
