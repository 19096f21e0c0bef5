"""``siena doctor --config``: what would keep people out is said before they come."""

from pathlib import Path

import pytest

from siena.broker.access.credentials import Credentials, save_credentials
from siena.broker.settings import gather
from siena.cli.access.checks import access_findings
from siena.client.tokens import new_token
from siena.errors import SienaError

DESK = '[access.roles]\ndesk = { publish = "symbol any" }\n'
WITH_TOKENS = f'[access]\ncredentials = "credentials.json"\n{DESK}'


def said_of(path: Path) -> tuple[str, str]:
    *_, last = access_findings(path)
    return last.state, last.found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = Credentials().with_token(new_token(), "ann", ("desk",), made_at=0.0)
    save_credentials(tmp_path / "credentials.json", found)
    path = tmp_path / "broker.toml"
    path.write_text(WITH_TOKENS)
    return path


def test_tokens_with_roles_that_there_are(path: Path) -> None:
    state, said = said_of(path)
    assert state == "ok"
    assert said.endswith("credentials.json: 1 tokens, 0 users")


def test_a_token_with_a_role_that_there_is_not(path: Path) -> None:
    path.write_text(WITH_TOKENS.replace("desk =", "deks ="))
    assert said_of(path) == ("note", "there is no role desk (of ann)")


def test_roles_in_a_file_of_their_own_count(path: Path) -> None:
    path.write_text(
        '[access]\ncredentials = "credentials.json"\nroles_file = "roles.toml"\n'
    )
    state, said = said_of(path)
    assert state == "bad"
    assert said == f"{path.parent / 'roles.toml'}: No such file or directory"
    (path.parent / "roles.toml").write_text('[desk]\npublish = "symbol any"\n')
    assert said_of(path)[0] == "ok"


def test_a_role_that_cannot_be_read(path: Path) -> None:
    path.write_text(WITH_TOKENS.replace("symbol any", "symbol anyy"))
    state, said = said_of(path)
    assert state == "bad"
    assert said.startswith("role desk, publish, column 8: expected an operator")


def test_identities_without_credentials(path: Path) -> None:
    path.write_text(f'[access]\nidentities = {{ b1 = ["desk"] }}\n{DESK}')
    assert said_of(path) == ("ok", "1 identities")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert said_of(path) == ("bad", f"{path}: No such file or directory")


def test_the_file_of_a_network_is_not_that_of_a_broker(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    path.write_text("brokers = []\n")
    with pytest.raises(SienaError, match=r"of a network \(siena serve --network"):
        gather(path, {}, {})
