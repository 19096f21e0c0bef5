"""Questions that the papers answer in words, a module each."""
