"""Finite elements: matrices, grid motions and permutations that move whole samples at once."""
