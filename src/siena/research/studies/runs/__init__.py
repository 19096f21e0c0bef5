"""What computes a row of a study: one module for each kind of run.

``schemes`` has the runs of routing schemes, ``large`` those of up to a million sites.
"""
