"""What computes a row of a study: one module for each kind of run."""
