"""Questions that people have about a broker, answered over all that is wanted there.

From the ground up: ``interest_index`` (each distinct filter and constraint once) →
``following`` (the index, while it is asked about), ``viewing`` (what one principal sees
of it) → ``why_not``, ``relating``, ``listing`` (answers from the index), ``past`` (from
the log), ``wanting`` (who wants this one), ``granted`` (about roles), ``reading`` (what
a page sends), ``turns`` (one question after the other) → ``over_http``, the front.
"""
