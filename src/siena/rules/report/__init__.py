"""The report of a review: one page with its picture in it, and nothing to fetch.

``graph`` draws who covers whom, ``page`` is the rest.
"""

from siena.rules.report.page import review_page

__all__ = ["review_page"]
