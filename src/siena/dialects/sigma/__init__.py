"""Sigma detection rules, read by pySigma.

``values`` (what a field is compared with) → ``logsources``, ``conditions`` →
``reader``; ``windows`` makes attributes of Windows events.  Needs the extra ``sigma``.

Reference:
    The Sigma rule specification, 2.0; pySigma's tree of conditions.
"""

from siena.dialects.sigma.reader import read_sigma

__all__ = ["read_sigma"]
