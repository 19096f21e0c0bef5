"""Routing: what a broker tells which neighbour, and where a notification goes.

From the ground up: ``topology`` → ``trees`` → ``schemes``, ``cbcb``.  Nothing here
does any I/O: brokers and simulators call it, and carry what it says.
"""
