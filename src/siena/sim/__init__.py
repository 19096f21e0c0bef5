"""Simulated worlds: what happens in them is decided by a seed.

From the ground up: ``words`` → ``workload``, the papers' workloads; ``flights`` and
``flight_subscriptions``, one that happened; ``topologies`` → ``architecture``;
``scheduler`` → ``network``; ``clients``; all of these → ``world`` →
``steps`` → ``script``; ``random_world`` → ``invariants`` → ``check``; ``picture`` draws
a world.  Nothing here waits, reads a clock or touches a network, and two runs with one
seed are the same run.
"""
