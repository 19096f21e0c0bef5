"""Strings: whether one satisfies what is asked of it.

From the ground up: ``characters``, ``allowance`` → ``automata`` → ``strings``, which
tries ``guessing`` first.
"""
