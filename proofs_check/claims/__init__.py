"""The statements: what is claimed, of which model, on whose word."""
