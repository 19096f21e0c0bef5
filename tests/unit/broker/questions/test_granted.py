"""What a viewer is told of roles."""

from questioning import OneSession
from siena.broker.access.gate import Gate
from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.questions.granted import myself, roles, who_may
from siena.model import Notification

ROLES = {
    "desk": {"subscribe": "to = ${identity}"},
    "all": {"subscribe": "[]", "publish": "[]"},
}


class Broker(OneSession):
    """Sessions, links and a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(Roles.from_form(ROLES))


def test_one_knows_what_is_granted_to_oneself() -> None:
    said = myself(Broker(), Principal("ann", ("desk",)), is_asking=True)  # type: ignore[arg-type]
    assert (said["identity"], said["subscribe"]) == ("ann", "to = ann")
    assert myself(Broker(), LOCAL, is_asking=False)["unlimited"]  # type: ignore[arg-type]


def test_the_roles_of_others_are_for_who_may_hear_everything() -> None:
    broker = Broker()
    ann, root = Principal("ann", ("desk",)), Principal("root", ("all",))
    for who, names in ((ann, ["desk"]), (root, ["desk", "all"])):
        said = roles(broker, broker.gate.sight(who))  # type: ignore[arg-type]
        assert [role["name"] for role in said["roles"]] == names


def test_who_may_see_something_is_said_by_role_and_by_who_is_here() -> None:
    broker = Broker()
    broker.sessions[1].principal = Principal("ann", ("desk",))
    sight = broker.gate.sight(Principal("root", ("all",)))
    said = who_may(broker, sight, Notification({"to": "ann"}), "subscribe")  # type: ignore[arg-type]
    assert said["roles"] == [
        {"role": "desk", "as": {"identity": "ann"}},
        {"role": "all", "as": {}},
    ]
    assert said["clients"] == ["ann"]
    said = who_may(broker, sight, Notification({"to": "bob"}), "publish")  # type: ignore[arg-type]
    assert (len(said["roles"]), said["clients"]) == (1, [])
