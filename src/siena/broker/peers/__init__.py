"""Neighbouring brokers, and identities that move between them.

From the ground up: ``link`` (one neighbour, once both have agreed) → ``dialer`` (one
attempt to link) → ``links`` (all of them); ``handoff_source`` (the broker that an
identity leaves) → ``handoff`` (the one where it arrives).
"""
