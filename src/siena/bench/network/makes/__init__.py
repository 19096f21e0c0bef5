"""The makes of networks that are measured: ours, NATS and Redis."""
