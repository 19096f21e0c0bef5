"""Studies: the figures and claims of the papers, computed by the code that runs.

From the ground up: ``rows`` → the runs (``disjunction``, ``architectures``, …), which
compute one row each → ``study`` and ``drawing`` → a module for each figure or question
→ ``registry``; beside them ``sources``, ``store``, ``runner``, ``results`` and
``report``, which know no single study.
"""
