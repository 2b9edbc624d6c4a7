"""Finds certificates; nothing here is trusted."""
