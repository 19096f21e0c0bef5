"""Commands of the laboratory: ``siena study`` and ``siena bench``."""
