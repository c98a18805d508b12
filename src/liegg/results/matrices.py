"""How large generators are as matrices: which are built, and which are printed. Everything else works on coefficients."""

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.polarization.memory import readable

LARGEST_SIZE = 2**27
"""Numbers in all generators up to which they are built as matrices: 1 GB."""

PRINTABLE_SIZE, PRINTABLE_SIDE = 2**21, 512
"""Numbers in all generators, and rows of one, up to which they are described, drawn and listed, which takes seconds."""


def generators_of(action: Action, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
    """Generators as matrices.

    Args:
        action: the candidate generators.
        coefficients: one row per generator.

    Raises:
        ArgumentError: the action has no matrices, or they are too large to be built.
    """
    if not isinstance(action, MatrixAction):
        raise ArgumentError(
            f"{action!r} has no matrices: its generators are vector fields. Use sym.coefficients and sym.words."
        )
    count, n = len(coefficients), action.ambient
    if count * n**2 > LARGEST_SIZE:
        raise ArgumentError(
            f"{count} generators of {n} × {n} take {readable(8 * count * n**2)} as matrices. Build a few of them with "
            "sym.action.matrices(sym.coefficients[:3])."
        )
    return action.matrices(coefficients)


def is_printable(count: int, side: int) -> bool:
    """Whether this many matrices of this side can be described, drawn and listed.

    >>> is_printable(10, 5), is_printable(3000, 3000), is_printable(1, 3000)
    (True, False, False)
    """
    return side <= PRINTABLE_SIDE and count * side**2 <= PRINTABLE_SIZE
