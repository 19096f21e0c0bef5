"""Five brokers, one that asks who is there, and a browser for both."""

from collections.abc import Iterator
from typing import Any

import pytest

from served import process, ready
from siena.broker.access.credentials import (
    Credentials,
    UserRecord,
    save_credentials,
)
from siena.broker.access.passwords import hash_password
from siena.client.tokens import new_token

# Playwright's own, of which nothing is known where it is missing.
Browser = Any
Page = Any

NETWORK = """
brokers = [
  { name = "one", listen = "127.0.0.1:0" },
  { name = "two" }, { name = "three" }, { name = "four" }, { name = "five" },
]
links = [
  { from = "two", to = "one" }, { from = "three", to = "two" },
  { from = "four", to = "one" }, { from = "five", to = "four" },
]
"""
GUARDED = """
name = "store"
listen = ["127.0.0.1:0"]
http = "127.0.0.1:0"
[log]
path = "FOLDER/log"
[access]
credentials = "credentials.json"
[access.roles.desk]
publish = "tenant = a"
subscribe = "tenant = a"
inspect = "[]"
[access.roles.root]
publish = "[]"
subscribe = "[]"
inspect = "[]"
hold = true
"""


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where each broker is, and the HTTP side of the first."""
    path = tmp_path_factory.mktemp("network") / "network.toml"
    path.write_text(NETWORK, encoding="utf-8")
    arguments = ("--network", str(path), "--http", "127.0.0.1:0", "--json")
    with process(*arguments) as found:
        said = [ready(found) for _ in range(5)]
        urls = {each["broker"]: each["urls"][0] for each in said}
        yield {**urls, "http": said[0]["http"]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A broker with a log that asks for credentials, and tokens for it."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "broker.toml").write_text(
        GUARDED.replace("FOLDER", str(folder)), encoding="utf-8"
    )
    known, tokens = Credentials(), {}
    for name in ("desk", "root"):
        token = new_token()
        known = known.with_token(token, f"{name}-id", (name,), made_at=0.0)
        tokens[name] = token.text
    tokens["user"] = "søren:лозинка ☃"  # in no script that a header may have
    name, _, password = tokens["user"].partition(":")
    record = UserRecord(password=hash_password(password), roles=("root",))
    save_credentials(folder / "credentials.json", known.with_user(name, record))
    with process("--config", str(folder / "broker.toml"), "--json") as found:
        said = ready(found)
        yield {**tokens, "url": said["urls"][0], "http": said["http"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Skips where there is none: not at the import of what tests have in common.
    from browsing import chromium  # noqa: PLC0415

    with chromium() as found:
        yield found


@pytest.fixture(params=["light", "dark", "narrow"])
def page(
    request: pytest.FixtureRequest, browser: Browser, brokers: dict[str, str]
) -> Iterator[Page]:
    from browsing import opened  # noqa: PLC0415 -- as above

    with opened(browser, brokers["http"], request.param) as found:
        yield found
