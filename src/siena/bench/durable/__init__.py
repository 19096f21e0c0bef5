"""``siena bench durable``: publications acknowledged when they are on the disk.

``stores`` says how to talk to each server, ``flood`` does it and takes the time, and
``report`` prints the figures with those of the disk itself.
"""
