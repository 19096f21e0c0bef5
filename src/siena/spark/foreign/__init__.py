"""Subscriptions in the languages of others, and what filters cannot say of them.

The driver reads them into our own language (``reading``), in which a residual stands
behind the filters; a task asks it of what the filters let through (``deciding``).
"""
