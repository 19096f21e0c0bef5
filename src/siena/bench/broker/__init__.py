"""``siena bench broker``: servers under load, every delivery checked.

From the ground up: ``workload`` (what is published, and who must get what) →
``kernels`` → ``contenders`` (how each server is started and spoken to), ``processes``
→ ``loadgen`` (the process that floods, paces and checks) → ``rounds`` → ``report``.
"""
