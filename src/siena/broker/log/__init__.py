"""The log: what was published, on disk and by offset, until everybody has read it.

From the ground up: ``limits``, ``records`` (bytes) → ``segment`` (a file) → ``store``
(all files), ``memory`` (small things that outlive the process), ``sieve`` (a filter
over records) → ``readers`` (who has read how far) → ``journal`` (what a broker writes,
and how it slows those who publish too much), ``staging`` → ``sinks`` (batches that are
published once) → ``desk`` (what clients ask for).
"""
