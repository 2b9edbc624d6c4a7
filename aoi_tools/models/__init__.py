"""Age models: codes, schemes, sources, channels."""
