"""Tables of certain digits."""
