"""The frames of what must not be lost: publications with a receipt, durable reading."""
