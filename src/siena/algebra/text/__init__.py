"""Strings: whether one satisfies what is asked of it.

From the ground up: ``characters`` → ``automata`` → ``strings``.
"""
