"""Studies: the figures and claims of the papers, computed by the code that runs.

``framework`` knows no single study: rows, runner, store, report.  ``runs`` computes
rows, and draws nothing; ``figures`` has a module for each figure of the papers, and
``claims`` one for each other question.
"""
