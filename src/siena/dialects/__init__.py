"""Rules in the languages of others: read into rules of ours, and written back.

``cesql``, ``cloudevents``, ``sql``, ``aws`` and ``sigma`` each read one family into an
expression; ``factoring`` makes a rule of it, exactly or with a residual; ``registry``
is the room's front, by name of dialect.  ``writing`` goes the other way.
``json_places`` finds a place in JSON again.
"""

from siena.dialects.registry import (
    DIALECTS,
    check_pipeline,
    read_expression,
    read_rule,
)

__all__ = ["DIALECTS", "check_pipeline", "read_expression", "read_rule"]
