"""The laboratory: the papers' algorithms, and what they claim, computed and checked.

``matchers`` (counting, Gryphon's tree), ``schemes`` (TR 2006/05), ``cbcb`` (INFOCOM
2004), ``scenarios`` (CU-CS-888-99), ``oracles`` and ``studies``.  Nothing of the
product imports any of it.
"""
