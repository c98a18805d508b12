"""Finite groups of matrices and of slots, as bare tensors: closing, tables, names, words."""

from liegg.algebra.finite.close import close
from liegg.algebra.finite.element_words import element_words
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup, permutation_group, permutation_words

__all__ = [
    "FiniteGroup",
    "SlotGroup",
    "close",
    "element_words",
    "permutation_group",
    "permutation_words",
]
