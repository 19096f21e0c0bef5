"""A second opinion on the filter language, by brute force.

Nothing here imports ``siena``: a mistake in the product cannot hide in a helper that
both sides share.  :mod:`brute_force.language` says what filters mean,
:mod:`brute_force.universe` which values suffice to tell them apart,
:mod:`brute_force.evaluator` decides the relations by trying those values,
:mod:`brute_force.drawing` and :mod:`brute_force.spelling` make up questions and write
them down, and :mod:`brute_force.compare` puts them to ``siena explain --stdin``.
"""
