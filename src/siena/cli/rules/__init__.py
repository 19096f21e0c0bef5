"""Commands about rules: ``translate``."""
