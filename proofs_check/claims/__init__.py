"""The statements: what is claimed, of which model."""
