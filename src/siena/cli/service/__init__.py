"""Commands that run brokers, talk to them, and look at them."""
