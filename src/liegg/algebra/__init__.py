"""Matrix Lie algebras as bare tensors: catalogue, spans, brackets, forms, invariants, names."""

from liegg._utils.arguments import check_functions
from liegg.algebra.bracket import (
    adjoint,
    bracket,
    closure_residual,
    jacobi_residual,
    killing_eigenvalues,
    killing_form,
    structure_constants,
)
from liegg.algebra.catalog import (
    aff,
    diagonal,
    direct_sum,
    gl,
    heis,
    o,
    scaling,
    se,
    shear,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.closure import Closure, Refined, closure, generated, nearest_closed
from liegg.algebra.finite.close import close
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.forms.commutant import complex_structures, hermitian_forms, invariant_subspaces
from liegg.algebra.forms.forms import Forms, preserved_forms, signature
from liegg.algebra.forms.frame import Standard, frame_of, standard_frame
from liegg.algebra.identification import Alternative, Identification
from liegg.algebra.identify import identify
from liegg.algebra.structure.abstract import Abstract, abstract_name
from liegg.algebra.structure.invariants import Invariants, Simple, invariants
from liegg.algebra.subspace import (
    canonical,
    distance_to_span,
    grassmann_distance,
    orthonormal,
    principal_angles,
    project,
)
from liegg.algebra.words.describe import describe
from liegg.algebra.words.latex import brackets_latex, generators_latex, matrix_latex
from liegg.algebra.words.readable import Readable, adapted
from liegg.algebra.words.sparse import sparse_basis
from liegg.algebra.words.vector_fields import vector_field, vector_field_latex

__all__ = [
    "Abstract",
    "Alternative",
    "Closure",
    "FiniteGroup",
    "Forms",
    "Identification",
    "Invariants",
    "Readable",
    "Refined",
    "Simple",
    "Standard",
    "abstract_name",
    "adapted",
    "adjoint",
    "aff",
    "bracket",
    "brackets_latex",
    "canonical",
    "close",
    "closure",
    "closure_residual",
    "complex_structures",
    "describe",
    "diagonal",
    "direct_sum",
    "distance_to_span",
    "frame_of",
    "generated",
    "generators_latex",
    "gl",
    "grassmann_distance",
    "heis",
    "hermitian_forms",
    "identify",
    "invariant_subspaces",
    "invariants",
    "jacobi_residual",
    "killing_eigenvalues",
    "killing_form",
    "matrix_latex",
    "nearest_closed",
    "o",
    "orthonormal",
    "preserved_forms",
    "principal_angles",
    "project",
    "scaling",
    "se",
    "shear",
    "signature",
    "sl",
    "so",
    "sp",
    "sparse_basis",
    "standard_frame",
    "structure_constants",
    "su",
    "translation",
    "u",
    "vector_field",
    "vector_field_latex",
]

check_functions(globals(), __all__)
