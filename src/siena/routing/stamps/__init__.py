"""Stamps of publications: which have been seen, and from where they may come.

``seen``, which knows copies; ``origins``, which knows the way of each broker's.
"""
