"""Commands about who may come: tokens, users and certificates."""
