"""What is shown on a terminal and nowhere else."""
