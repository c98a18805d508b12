"""Structured inputs: trees of tensors, graphs and ragged clouds as rows of one tensor, and back."""
