"""Figures of tables: enclosures as bands, exact points marked, the same bytes every time."""
