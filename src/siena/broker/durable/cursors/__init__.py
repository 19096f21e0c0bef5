"""Cursors: how far durable subscriptions are, and what the log has for them.

From the ground up: ``cursor`` (one of them) → ``record_form`` (small things, back to
back), ``record_file`` (the file of them) → ``registry`` (all of them, through
restarts), ``finder`` (what they select, for all together), ``blocks`` (what stands at
an offset).
"""
