"""Relations between filters, decided exactly.

From the ground up: ``keys`` → ``ordered``, ``strings`` → ``sat`` → ``pairwise`` →
``covering``, ``overlap`` → ``disjunction`` → ``relations``, ``simplify``, ``merging``,
``subnets``, ``poset``.  Every relation has a witness for its interesting answer.
"""
