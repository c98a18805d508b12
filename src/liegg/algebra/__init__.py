"""Matrix Lie algebras as bare tensors: catalogue, spans, brackets. Knows no model and no data."""

from liegg.algebra.bracket import bracket, closure_residual
from liegg.algebra.catalog import aff, diagonal, gl, o, scaling, se, shear, sl, so, sp, su, translation, u
from liegg.algebra.subspace import distance_to_span, orthonormal, principal_angles

__all__ = [
    "aff",
    "bracket",
    "closure_residual",
    "diagonal",
    "distance_to_span",
    "gl",
    "o",
    "orthonormal",
    "principal_angles",
    "scaling",
    "se",
    "shear",
    "sl",
    "so",
    "sp",
    "su",
    "translation",
    "u",
]
