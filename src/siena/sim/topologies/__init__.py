"""Topologies to try things in: drawn by a rule, drawn by a seed, read from a text.

==================  =============================================================
``regular``         chains, stars, rings, trees
``drawn``           Barabási-Albert, Waxman, random trees and random graphs
``transit_stub``    the wide-area networks of the Siena study
``examples``        the small networks that our specification names
``text``            topologies as text, and shapes such as ``chain:4``
``json_form``       topologies as JSON, with what brokers take each other for
``gt_itm``          the specification files of GT-ITM
==================  =============================================================

All are connected, and the same seed gives the same network everywhere.
"""
