"""Tensors and irreducible representations: values that a linear map of space moves in their own way."""
