"""Symmetries of every layer of a network, from one forward-mode pass over the data."""
