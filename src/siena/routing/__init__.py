"""What a broker decides: pure, and the same in production and in simulation.

From the ground up: ``options`` → ``order`` → ``interest`` → ``demand`` with its slow
twin ``declarative`` → ``announcing``, ``merging`` → ``neighbour``; ``spreading`` →
``link_state`` → ``mesh``; all of these → ``tables`` → ``forwarding``, ``settling``;
``mailbox`` and ``quenching`` are about clients, ``factoring`` → ``monitors`` about
patterns; ``router`` puts them together.

Beside it, for comparison: ``topology`` → ``trees`` → ``schemes``, ``cbcb``.
"""
