"""Load balancing, at n servers and in the limit."""
