"""Plumbing that knows nothing of symmetries."""
