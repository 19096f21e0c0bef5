"""Slow and obvious: what faster code must agree with, in a study as well."""
