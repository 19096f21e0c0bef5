"""What a command has to do with its terminal: colours, escapes, completion, its end."""
