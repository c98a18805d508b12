"""Finite differences along the candidates, for models without derivatives."""
