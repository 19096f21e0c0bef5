"""The papers' matchers, behind the protocol of :mod:`siena.matching.matcher`.

``counting`` is the algorithm of SIGCOMM 2003, on ``constraint_index``, ``string_index``
and ``counting_table``; ``tree`` and ``link_matching`` are Gryphon's, on ``search_tree``
with ``tree_node``, ``attribute_order`` and ``factoring``; ``poset_matcher`` goes from
the general to the special.  ``papers_only`` refuses what the papers do not know;
the inner loops are in ``kernels``.
"""
