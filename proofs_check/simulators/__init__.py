"""Simulators: reference and validation."""
