"""Grants of clients: given when they come, and anew when the roles change."""

from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import Principal
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.state import BrokerState
from siena.protocol.control_frames import Policy
from siena.protocol.error_codes import Fault


class Granting:
    """Lets what clients do be compared with what they may."""

    def __init__(
        self, state: BrokerState, publications: PublishBatch, requests: Requests
    ) -> None:
        self._state = state
        self._publications = publications
        self._requests = requests

    def check(self, principal: Principal, policy: Policy) -> None:
        """Let a client in, if there is room for it, and as it wants to be served.

        Raises:
            ProtocolError: if not.
        """
        gate, accounts = self._state.gate, self._state.accounts
        if policy == "block" and not gate.grant(principal).may_hold:
            fault = Fault.BAD_CONNECT
            raise gate.refuse(principal, "hold", "policy block", fault=fault)
        most = accounts.quotas.connections
        identity = principal.identity
        if most and identity and accounts.of(identity).connections >= most:
            raise accounts.refuse("connections", fault=Fault.OVER_QUOTA)

    def begin(self, session: Session, *, is_known: bool) -> None:
        """A client has come; with another credential, perhaps, than before."""
        accounts, who = self._state.accounts, session.sink
        holder = holder_of(session)
        if isinstance(who, Connection):
            if holder is not None or who.account is None:
                who.account = accounts.of(holder)
            session.account = who.account
        else:
            session.account = accounts.of(holder)
        session.account.connections += 1
        self._license(session)
        if is_known:
            self._requests.renew(session)

    def reload(self, roles: Roles) -> None:
        """Other roles count from now on, for all who are there and what is kept.

        A client may have other roles, too, than before.
        """
        gate = self._state.gate
        self._publications.flush()  # what was published before
        if roles != gate.book.roles:
            gate.book.open(roles)
            gate.audit.write("grants changed", None, roles=sorted(roles.by_name))
        for session in list(self._state.sessions.values()):
            self.renew(session)
        for link in self._state.links.values():
            link.permit()

    def renew(self, session: Session) -> None:
        """Let what a session may count, if that has changed."""
        if session.grant is not self._state.gate.grant(session.principal):
            self._license(session)
            self._requests.renew(session)

    def _license(self, session: Session) -> None:
        """Let what a connection publishes be compared with its grant, in bulk."""
        session.grant = self._state.gate.grant(session.principal)
        who = session.sink
        if isinstance(who, Connection):
            licences = self._state.licences
            before = who.licence
            who.licence = licences.take(session.grant.publish)
            licences.give(before)


def holder_of(session: Session) -> str | None:
    """Whose account is drawn from: of strangers at one address, all of them have one.

    At a broker without ``[access]`` each connection has its own, but for what its
    requests take.
    """
    principal = session.principal
    if principal.identity is not None or principal.is_local:
        return principal.identity
    who = session.sink
    host = who.host if isinstance(who, Connection) else ""
    return f"anonymous at {host}"
