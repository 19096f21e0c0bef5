"""Patterns in the network: ``factoring`` says which part is looked for where.

``monitors`` look for the parts that are looked for here.
"""
