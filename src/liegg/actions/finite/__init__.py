"""Finite elements: matrices, grid motions and permutations that move complete samples."""
