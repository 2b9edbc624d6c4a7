"""Confronts results with claims, papers and simulators."""
