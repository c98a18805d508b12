"""Symmetries of every layer of a network, from one forward-mode pass over the data."""

from liegg.layers.assembly import discover_layers
from liegg.layers.record import LayerResult, LayerSymmetries

__all__ = ["LayerResult", "LayerSymmetries", "discover_layers"]
