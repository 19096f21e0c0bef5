"""The reference of HTTP says what the code does."""

import re

from repository import ROOT
from siena.broker.broker import Broker
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http import limits as http_limits
from siena.broker.http.app import make_app
from siena.broker.http.publish import PATH
from siena.broker.limits import GUESTS_MAX
from siena.broker.webhooks import limits as handler_limits
from siena.broker.webhooks.mapping import Handlers
from siena.protocol.limits import LINE_BYTES_MAX

TEXT = (ROOT / "docs/reference/http.md").read_text("utf-8")


def test_limits() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([0-9 ]+) \|", TEXT, re.MULTILINE)
    known = {
        **vars(handler_limits),
        **vars(http_limits),
        "GUESTS_MAX": GUESTS_MAX,
        "LINE_BYTES_MAX": LINE_BYTES_MAX,
    }
    assert len(rows) == 10
    for name, value in rows:
        assert known[name] == int(value.replace(" ", "")), name


def test_paths() -> None:
    entry = InProcessEntry(Broker())
    app = make_app(entry, Handlers(entry), ())
    assert f"`{PATH}" in TEXT
    for route in app.routes:
        path = re.sub(r"\{.*\}", "NAME", getattr(route, "path", ""))
        assert f"`{path}" in TEXT, path
