"""What the pages of ``siena serve`` see of the network: ``looking_around``."""
