"""Finite groups of matrices and of slots, as bare tensors: closing, tables, names, words."""
