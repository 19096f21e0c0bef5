"""Slow and obvious: what faster code must agree with."""
