"""What is no interval of ranks: patterns and folded case, negations, and absence.

``codes`` → ``atoms``, which are found once for each value, and ``checks``, which are
made of the few filters that have been found otherwise.
"""
