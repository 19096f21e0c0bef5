"""Relations between filters, decided exactly.

From the ground up: ``keys`` → ``ordered``, ``strings`` → ``sat`` → ``pairwise`` →
``covering``, ``overlap`` → ``conditions`` → ``axis`` → ``shelf`` → ``poset`` →
``disjunction`` → ``relations``, ``simplify`` → ``hull`` → ``merging``; ``explanation``
and ``subnets`` stand on all of them.
Every relation has a witness for its interesting answer.
"""
