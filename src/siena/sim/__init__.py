"""Simulated worlds: what happens in them is decided by a seed.

From the ground up: ``words`` → ``workload``, the papers' workloads; ``flights`` and
``flight_subscriptions``, one that happened; ``topologies`` → ``architecture``;
``scheduler`` → ``network``; ``clients`` → ``moving``; all of these → ``world`` →
``steps`` → ``script``; ``random_world`` → ``judge`` → ``check``; ``scenario`` →
``behaviour`` → ``tally``, ``carried``; ``cbcb_world`` → ``cbcb_run``.  Nothing here
waits, reads a clock or touches a network, and two runs with one seed are the same run.
"""
