"""Routing schemes of "Understanding Content-Based Routing Schemes", Lugano 2006/05.

A scheme says, for every broker, what header a message gets and to which neighbours it
is forwarded.  From the ground up: ``network`` → ``scheme``, ``memory`` → the schemes,
and beside them ``delivery``, ``ideal`` and ``assessment``, which judge any scheme.

=================  ==================================================================
``psf``            per-source forwarding: a table for every source
``ips``            the same with one table for sources that cannot be told apart
``pif``            per-interface forwarding: one table for all sources
``drp``            dynamic receiver partitioning: the receivers travel in the header
``flooding``       everything to all brokers
``link_matching``  Gryphon's search for links, with all interests at every broker
=================  ==================================================================
"""
