"""Solvers for load balancing: fixed points, enclosures of infinite systems, trajectories."""
