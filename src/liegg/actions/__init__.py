"""How candidate generators move a sample: one file per kind of input."""

from liegg._utils.arguments import check_functions
from liegg.actions.base import Action, MatrixAction
from liegg.actions.displacement import Displacement
from liegg.actions.grid.color import Channels, Color
from liegg.actions.grid.grid import Grid
from liegg.actions.grid.image import Image, Sequence, Volume
from liegg.actions.grid.stencils import smooth
from liegg.actions.linear import Affine, Linear
from liegg.actions.motion import Motion
from liegg.actions.product import Product
from liegg.actions.registry import action_from_settings, register
from liegg.actions.representations.irrep import Irrep
from liegg.actions.representations.tensor import Tensor
from liegg.actions.restricted import Restricted
from liegg.actions.slots import Slots
from liegg.actions.structured.constructors import Banded, Blocks, Weights
from liegg.actions.structured.kronecker import KroneckerSum
from liegg.actions.structured.sparse import Sparse

__all__ = [
    "Action",
    "Affine",
    "Banded",
    "Blocks",
    "Channels",
    "Color",
    "Displacement",
    "Grid",
    "Image",
    "Irrep",
    "KroneckerSum",
    "Linear",
    "MatrixAction",
    "Motion",
    "Product",
    "Restricted",
    "Sequence",
    "Slots",
    "Sparse",
    "Tensor",
    "Volume",
    "Weights",
    "action_from_settings",
    "register",
    "smooth",
]

check_functions(globals(), __all__)
