"""Runs of routing schemes: what they would store, with what disjunction saves."""
