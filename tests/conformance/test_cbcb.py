"""Who learns what by advertisements and requests, and what is lost by pruning."""

from conformance.cbcb import play
from conformance.kit import Case, each


@each("cbcb", "learns")
def test_brokers_learn_and_deliver_what_the_script_says(case: Case) -> None:
    play(case["id"])
