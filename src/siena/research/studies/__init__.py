"""Studies: the figures and claims of the papers, computed by the code that runs.

``framework`` knows no single study: rows, runner, store; ``reporting`` makes of them
what readers get.  ``runs`` computes rows, and draws nothing; ``figures`` has a module
for each figure of the papers, ``architectures``, ``claims`` and ``covering`` one for
each other question.  ``template`` is a study of one's own to begin with, ``notebook``
the door for notebooks.
"""
