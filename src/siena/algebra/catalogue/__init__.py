"""Catalogues: filters that come and go, and which of them cover a given one.

From the ground up: ``facet``, what one filter says about one attribute, with a place
in an order → ``profile``, all facets of a filter → ``box_tree``, ``operands`` and
``points``, which find places → ``attribute``, what stands under one name →
``catalogue``, which finds filters.

A catalogue proposes, by necessary conditions; the exact algebra decides.
"""
