"""The same random scripts through the simulator and through real brokers.

A :mod:`worlds.script` is drawn from a seed by :mod:`worlds.drawing`;
:mod:`worlds.invariants` knows what must
come of it; :mod:`worlds.simulated` plays it in a simulated world, and
:mod:`worlds.live` with brokers and clients that speak frames, on one of the
:mod:`worlds.stages`: in virtual time over a network in memory, or over sockets.
:mod:`worlds.replay` plays one seed again and tells what happens.
"""
