"""Commands about who may come, and what they may."""
