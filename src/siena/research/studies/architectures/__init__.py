"""Questions about architectures that no figure of the papers answers, a module each."""
