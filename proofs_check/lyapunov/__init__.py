"""Drift engine: from a routing rule to cells, from cells to exact drift constants, from constants to certificates."""
