"""Studies of covering: what it saves, what merging adds, who does without it."""
