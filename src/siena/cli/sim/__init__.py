"""``siena sim``: networks of brokers, simulated."""
