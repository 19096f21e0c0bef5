"""``siena bench network``: networks of real brokers under load; large simulated ones.

From the ground up: ``layout`` (where brokers, publishers and subscribers are) →
``makes`` (how each make of server is started and linked) → ``running`` → ``floods``
(publications across links), ``shapes`` and ``pinging`` → ``settling`` (interests across
links, and who waits meanwhile) → ``report``.  ``crowd`` stands for itself: many clients
in a simulated network, judged by an oracle.
"""
