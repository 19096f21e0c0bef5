"""Targets of handlers: what a list allows, and what only looks as if it did."""

import pytest

from siena.broker.webhooks.targets import check_allowed, read_target
from siena.errors import SienaError

ALLOWED = ("http://hooks.example/hooks/",)


@pytest.mark.parametrize(
    "path",
    [
        "..;/x",
        "..;a=1/x",
        "../x",
        ".;/x",
        "%2e%2e/x",
        "a/..%3b/x",
        "..%2fx",
        "a\\..\\x",
    ],
)
def test_no_step_up_is_below_what_is_allowed(path: str) -> None:
    with pytest.raises(SienaError):
        check_allowed(read_target(f"http://hooks.example/hooks/{path}"), ALLOWED)


@pytest.mark.parametrize("path", ["", "x", "a/b;c=1", "a..b/c", "...;/x", "x?y=../z"])
def test_what_is_below_is_allowed(path: str) -> None:
    check_allowed(read_target(f"http://hooks.example/hooks/{path}"), ALLOWED)
