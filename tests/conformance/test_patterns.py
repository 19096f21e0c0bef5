"""What a pattern detects in a stream of notifications, and what it is cancelled by."""

from conformance.kit import (
    Case,
    CompoundMatcher,
    Pattern,
    PatternMatcher,
    covers,
    each,
    parse_compound,
    parse_notification,
    parse_pattern,
)


@each("patterns", "detects")
def test_a_pattern_detects_these_sequences_and_no_others(case: Case) -> None:
    check(PatternMatcher(parse_pattern(case["pattern"])), case)


@each("patterns", "detects-compound")
def test_a_compound_detects_these_combinations_and_no_others(case: Case) -> None:
    check(CompoundMatcher(parse_compound(case["compound"])), case)


def check(matcher: PatternMatcher | CompoundMatcher, case: Case) -> None:
    """Offer the inputs, and compare what comes out with the outputs."""
    inputs = [parse_notification(offered["notification"]) for offered in case["inputs"]]
    times = [offered["time"] for offered in case["inputs"]]
    emitted = []
    for at, (notification, time) in enumerate(zip(inputs, times, strict=True)):
        sequence = matcher.offer(notification, time)
        if sequence is not None:
            emitted.append((at, tuple(sequence)))
    assert emitted == [
        (output["at"], tuple(inputs[index] for index in output["sequence"]))
        for output in case["outputs"]
    ]


@each("unsubscription", "unsubscribes")
def test_an_unsubscription_cancels_what_it_covers(case: Case) -> None:
    cancelling = parse_pattern(case["unsubscribe"])
    remaining = [
        text
        for text in case["subscriptions"]
        if not cancels(cancelling, parse_pattern(text))
    ]
    assert remaining == case["remaining"]


@each("unsubscription", "unsubscribes", where=lambda case: "delivered" in case)
def test_what_remains_is_still_delivered(case: Case) -> None:
    remaining = [parse_pattern(text).steps[0] for text in case["remaining"]]
    for field, expected in (("delivered", True), ("not_delivered", False)):
        for text in case[field]:
            notification = parse_notification(text)
            delivered = any(step.matches(notification) for step in remaining)
            assert delivered is expected, text


def cancels(cancelling: Pattern, subscribed: Pattern) -> bool:
    """Whether unsubscribing the one ends the other: same length, step by step."""
    return len(cancelling) == len(subscribed) and all(
        covers(general, specific)
        for general, specific in zip(cancelling, subscribed, strict=True)
    )
