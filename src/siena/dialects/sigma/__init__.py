"""Sigma detection rules, read by pySigma.

``numbers`` → ``values`` (what a field is compared with) → ``logsources``,
``conditions`` → ``reader``;
``windows`` makes attributes of Windows events.  All but
``windows`` and ``logsources`` need the extra ``sigma``.

Reference:
    The Sigma rule specification, 2.0; pySigma's tree of conditions.
"""
