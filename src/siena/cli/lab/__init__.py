"""Commands of the laboratory: ``siena bench`` and ``siena chaos``."""
