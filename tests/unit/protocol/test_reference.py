"""The reference says what the code does: every operation, error and limit is in it."""

import re

from msgspec.structs import asdict

from repository import ROOT
from siena.block import BLOCK_BYTES_MAX
from siena.protocol import limits
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.protocol.handshake import Limits
from siena.protocol.peer_messages import TOLD
from siena.protocol.states import TABLE
from siena.protocol.text.requests import Requests

REFERENCE = ROOT / "docs/reference/protocol.md"
TEXT = REFERENCE.read_text()


def rows(header: str) -> list[list[str]]:
    """The rows of the table that begins with this header, cell by cell."""
    table = TEXT[TEXT.index(header) :].split("\n\n", 1)[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()[2:]
    ]


def test_operations() -> None:
    said = {name.strip("`"): int(code.strip("`"), 16) for name, code, *_ in
            rows("| operation |")}  # fmt: skip
    assert said == {op.name: op.value for op in Op}


def test_states() -> None:
    said = {}
    taken: set[str] = set()
    for state, takes, others in rows("| state |"):
        first, *rest = others.split("; ")
        refused = {
            name: int(part.split()[-1])
            for part in rest
            for name in re.findall(r"`(\w+)`", part)
        }
        taken = set(re.findall(r"`(\w+)`", takes)) | (
            taken if takes.startswith("the same") else set()
        )
        said[state.strip("`")] = taken, int(first), refused
    assert said == {
        state.name: (
            {Op(op).name for op in rule.allowed},
            rule.otherwise.number,
            {
                Op(op).name: fault.number
                for op, fault in rule.refused.items()
                if op not in rule.allowed
            },
        )
        for state, rule in TABLE.items()
    }


def test_errors() -> None:
    said = [
        (int(number), name.strip("`"), closes)
        for number, name, closes, _ in rows("| error |")
    ]
    assert said == [(f.number, f.name, "yes" if f.closes else "no") for f in Fault]


def test_limits() -> None:
    said = {
        name.strip("`"): int(value.replace(" ", ""))
        for name, value, *_ in rows("| limit |")
    }
    known = {n: v for n, v in vars(limits).items() if n.endswith("_MAX")}
    known["BLOCK_BYTES_MAX"] = BLOCK_BYTES_MAX
    assert said == known
    in_info = {
        info.strip("`"): int(value.replace(" ", ""))
        for _, value, info, _ in rows("| limit |")
        if info
    }
    assert in_info == asdict(Limits())


def test_requests_of_the_line_mode() -> None:
    said = {
        word
        for cell, _ in rows("| request |")
        for word in re.findall(r"`([a-z]+)[^`]*`", cell)
    }
    assert said == set(Requests()._verbs)


def test_verbs_between_brokers() -> None:
    said = {
        word for cell, _ in rows("| verb |") for word in re.findall(r"`([a-z]+)`", cell)
    }
    assert said == {message.__name__.lower() for message in TOLD}
