"""Relations between filters, decided exactly.

From the ground up: ``points``, ``keys`` → ``ordered``, the room ``text`` → ``sat`` →
``pairwise`` → ``covering``, ``overlap`` → the room ``poset`` → ``disjunction`` →
``relations`` and
``simplify`` → the room ``catalogue``, ``hull`` → ``merging``; ``explanation`` stands on
all of them.
Every relation has a witness for its interesting answer.
"""
