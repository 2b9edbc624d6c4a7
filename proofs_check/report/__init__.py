"""The report of a verification."""
