"""Two companies, one bridge: each says what it gives away, and what it believes.

Acme and Globex have a broker each, with people and roles of their own. Globex calls
Acme, and shows the token that Acme gave it. What crosses the bridge is what the
``export`` of one and the ``import`` of the other let pass, whatever anybody subscribes
to, and whatever the other company lets its own people say.

    python examples/two_companies.py
"""

import tempfile
import time
import tomllib
from pathlib import Path

import siena
from siena import testing
from siena.broker.access.credentials import Credentials, save_credentials
from siena.client.blocking_handles import Subscription
from siena.client.tokens import new_token
from siena.model import Notification

ACME = """
name = "acme"
accept_peers = true
[access]
credentials = "{folder}/acme.json"
[access.roles.desk]
publish = "from = acme"
subscribe = "[]"
[access.roles.partner.peer]
import = "from = globex and for = acme"
export = "from = acme and for = globex except internal = true"
"""

GLOBEX = """
name = "globex"
[access]
credentials = "{folder}/globex.json"
[access.roles.desk]
publish = "[]"    # Globex is careless
subscribe = "[]"
[access.roles.partner.peer]
import = "from = acme"
export = "for = acme"
[[links]]
url = "{acme}"
token_file = "{folder}/globex.token"
role = "partner"
"""


def give(folder: Path, company: str, **people: str) -> dict[str, str]:
    """Tokens for people with roles; ``siena token new`` does the same."""
    known, tokens = Credentials(), {}
    for name, role in people.items():
        token = new_token()
        known = known.with_token(token, name, (role,), made_at=0.0)
        tokens[name] = token.text
    save_credentials(folder / f"{company}.json", known)
    return tokens


def told(subscription: Subscription[Notification]) -> None:
    """Print what comes, up to the last of it."""
    while (came := subscription.get(timeout_s=10)).get("text") != "the end":
        print(f"  {came['from']}: {came['text']}")


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    ours = give(folder, "acme", ann="desk", globex="partner")
    theirs = give(folder, "globex", gus="desk")
    (folder / "globex.token").write_text(ours["globex"])
    with (
        testing.broker(**tomllib.loads(ACME.format(folder=folder))) as acme,
        testing.broker(
            **tomllib.loads(GLOBEX.format(folder=folder, acme=acme.url))
        ) as globex,
        siena.connect(acme.url, token=ours["ann"]) as ann,
        siena.connect(globex.url, token=theirs["gus"]) as gus,
    ):
        while not (acme.links and globex.links):
            time.sleep(0.01)
        at_acme = ann.subscribe("text any").settled()
        at_globex = gus.subscribe("text any").settled()
        for message in (
            {"for": "globex", "text": "an order"},
            {"for": "globex", "text": "what we think of you", "internal": True},
            {"for": "acme", "text": "lunch is at noon"},
            {"for": "globex", "text": "the end"},
        ):
            ann.publish({"from": "acme", **message})
        print("Globex hears:")
        told(at_globex)
        print("Acme heard of that:")
        told(at_acme)
        for message in (
            {"from": "globex", "for": "acme", "text": "an invoice"},
            {"from": "acme", "for": "acme", "text": "pay it twice"},
            {"from": "globex", "for": "globex", "text": "our own affair"},
            {"from": "globex", "for": "acme", "text": "the end"},
        ):
            gus.publish(message)
        print("Acme hears of Globex:")
        told(at_acme)
