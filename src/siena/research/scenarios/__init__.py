"""Scenarios of CU-CS-888-99: objects publish, parties wait, and what it costs.

From the ground up: ``scenario`` (the file) → ``behaviour`` (its timeline) →
``router_service`` (carried by simulated brokers), ``cost_oracle`` (only counted) and
``fast_cost_oracle`` (counted along two paths, for large ones).
"""
