"""The option about nested events may leave its value out."""

import pytest

from siena.cli.rules.event_options import with_values


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["sift", "--nested"], ["sift", "--nested=path"]),
        (["sift", "--nested", "-s", "x"], ["sift", "--nested=path", "-s", "x"]),
        (["sift", "--nested", "e.ndjson"], ["sift", "--nested=path", "e.ndjson"]),
        (["sift", "--nested", "windows"], ["sift", "--nested=windows"]),
        (["sift", "--nested", "path", "path"], ["sift", "--nested=path", "path"]),
        (["sift", "--nested=windows"], ["sift", "--nested=windows"]),
        (["sift", "--", "--nested"], ["sift", "--", "--nested"]),
        (["explain", "windows"], ["explain", "windows"]),
        ([], []),
    ],
)
def test_the_value_may_be_left_out(words: list[str], wanted: list[str]) -> None:
    assert with_values(words) == wanted
