"""Ages of information: models, solvers, closed forms."""
