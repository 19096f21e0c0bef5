"""Event patterns of Amazon EventBridge, and filter policies of Amazon SNS.

``conditions`` (one entry of a list) → ``patterns`` (objects of lists) → ``events`` (the
JSON that they are matched with, by paths).

Reference:
    Amazon EventBridge user guide, "Event patterns"; Amazon SNS developer guide,
    "Subscription filter policies"; the README of github.com/aws/event-ruler.
"""

from siena.dialects.aws.patterns import read_eventbridge, read_sns

__all__ = ["read_eventbridge", "read_sns"]
