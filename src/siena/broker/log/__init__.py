"""The log: what was published, on disk and by offset, until its readers have read it.

From the ground up: ``limits``, ``records`` (bytes) → ``segment`` (a file) → ``store``
(all files), ``state_file`` (small things that outlive the process), ``given`` (offsets
that are not given again), ``filter_cache`` (a filter over records) → ``cursors`` (who
has read how far) → ``journal`` (what a broker writes, and how it slows those who
publish too much), ``batches`` (published once, however often they are tried) →
``service`` (what clients ask for).
"""
