"""Large simulated networks: a ``crowd`` of clients, judged by an oracle."""
