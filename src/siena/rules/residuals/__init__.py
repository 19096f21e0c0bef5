"""Residuals of many rules, decided for many events.

``needs`` (what an expression cannot be true without) → ``gate`` (which candidates may
hold at all, by one look at each event) → ``matching`` (which rules fire at blocks).
"""
