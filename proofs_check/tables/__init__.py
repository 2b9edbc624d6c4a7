"""Tables whose every printed digit is certain: specifications, values, notations, writers, and their JSON twins."""
