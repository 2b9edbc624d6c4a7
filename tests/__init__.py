"""Tests, in the order of the packages; ``data`` holds published and independent numbers with their source."""
