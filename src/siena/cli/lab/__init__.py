"""Commands of the laboratory: ``siena bench``."""
