"""Asyncio without a machine below it: time and connections that a test controls.

From the ground up: :mod:`virtual.pipe` is one direction of a connection, with delays,
cuts and a bounded window; :mod:`virtual.transport` is one end of it, as protocols see
it; :mod:`virtual.network` knows who listens, who may reach whom, and whether anything
is on its way; :mod:`virtual.loop` is the event loop, whose time passes only when there
is nothing to do.  There is no thread and nothing is sent over a socket, so that a run
follows from its seed.
"""
