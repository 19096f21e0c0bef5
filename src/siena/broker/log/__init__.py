"""The log: what was published, on disk and by offset, until its readers have read it.

From the ground up: ``limits``, ``files`` (all that is done to a disk), ``records``
(bytes) → ``segment_file``, ``salvage`` → ``segment`` (a file) → ``store``
(all files), ``state_file`` (small things that outlive the process), ``given`` (offsets
that are not given again), ``filter_cache`` (a filter over records) → the room
``stores`` (where else a log is kept) → ``cursors`` (who has read how far),
``group_commit`` (one sync for many) → ``journal`` (what a broker writes, and how it
slows those who publish too much), ``batches`` (published once, however often they are
tried) → ``service`` (what clients ask for).  ``offline`` looks through a log that no
broker has open.
"""
