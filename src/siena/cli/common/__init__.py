"""What commands share: options, progress, and reading what people write."""
