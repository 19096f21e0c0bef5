"""Acknowledged publications between brokers: each stores them before it says so.

From the ground up: ``relay`` (how far one neighbour is), ``assurance`` (whether all
that it goes to has a store) → ``relay_file`` (so that it outlives the broker) →
``sending``, ``receiving`` → ``relaying`` (links come and go).
"""
