"""Generators and algebras in words and LaTeX."""
