"""The entry of guests: where they come in, and from where they are shown out."""

from typing import NamedTuple

from siena.broker.access.principal import Principal
from siena.broker.broker import Broker
from siena.broker.clients.client import Client
from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.limits import GUESTS_MAX
from siena.protocol.control_frames import Connect, Policy
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import GRANTS, VERSIONS
from siena.protocol.text.transcripts import Transcript


class InProcessSession(NamedTuple):
    """A guest in place of a connection, and the client that it is to the broker."""

    in_process_client: InProcessClient
    client: Client


class InProcessEntry:
    """All guests of a broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.is_draining = False
        self.guests: set[InProcessClient] = set()

    def __len__(self) -> int:
        return len(self.guests)

    def enter(
        self,
        *,
        principal: Principal,
        name: str | None = None,
        identity: str | None = None,
        policy: Policy = "drop",
        transcript: Transcript | None = None,
    ) -> InProcessSession:
        """Let a client in, which is to :meth:`leave` in the end.

        Who has a transcript reads what that writes, and otherwise frames.

        Raises:
            ProtocolError: if there is no room, the identity is taken, or its credential
                counts no more.
        """
        if self.is_draining:
            raise ProtocolError(Fault.DRAINING, "this broker ends")
        if len(self.guests) >= GUESTS_MAX:
            text = f"more than {GUESTS_MAX} guests"
            raise ProtocolError(Fault.TOO_MANY_CONNECTIONS, text)
        in_process_client = InProcessClient(
            self.broker.settings.limits.output_bytes, transcript
        )
        # It may have come with a request whose body came later.
        in_process_client.principal = self.broker.access.current(principal)
        # Lines and events say whatever there is to say.
        features = () if transcript is None else (GRANTS,)
        connect = Connect(VERSIONS[1], name, identity, policy, features=features)
        client, _ = self.broker.admit(in_process_client, connect)
        self.guests.add(in_process_client)
        return InProcessSession(in_process_client, client)

    def show(self, in_process_session: InProcessSession, principal: Principal) -> None:
        """A client that is there shows another credential, which counts now."""
        broker, client = self.broker, in_process_session.in_process_client
        broker.leases.end(client)
        client.principal = in_process_session.client.session.principal = principal
        broker.leases.begin(client, in_process_session.client.session)
        broker.granting.renew(in_process_session.client.session)

    def leave(self, in_process_session: InProcessSession) -> None:
        """A client has left; one with an identity may come back."""
        self.guests.discard(in_process_session.in_process_client)
        self.broker.leases.end(in_process_session.in_process_client)
        in_process_session.in_process_client.leave()
        in_process_session.client.gone()

    def drain(self) -> None:
        """Let no client in any more, and say good-bye to those who are there."""
        self.is_draining = True
        for in_process_client in list(self.guests):
            in_process_client.fail(ProtocolError(Fault.DRAINING, "this broker ends"))
