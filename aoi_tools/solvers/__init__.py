"""Age solvers."""
