"""Commands about who may what: ``siena may`` and ``siena grants``."""
