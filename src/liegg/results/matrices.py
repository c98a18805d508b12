"""How large generators are as matrices: which are made, and which are shown. All else works on their coefficients."""

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.polarization.memory import readable

LARGEST = 2**27
"""Numbers in all generators up to which they are made as matrices: 1 GB."""

SHOWN, SHOWN_SIDE = 2**21, 512
"""Numbers in all generators, and rows of one, up to which they are told in words, drawn, and written down: seconds."""


def generators_of(action: Action, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
    """Generators as matrices.

    Args:
        action: the candidate generators.
        coefficients: one row to a generator.

    Raises:
        ArgumentError: they are too many or too large to be held as matrices.
    """
    if not isinstance(action, MatrixAction):
        raise ArgumentError(
            f"the generators of {action!r} are not matrices. Read sym.coefficients and sym.words."
        )
    count, n = len(coefficients), action.ambient
    if count * n**2 > LARGEST:
        raise ArgumentError(
            f"{count} generators of {n} × {n} take {readable(8 * count * n**2)} as matrices. Make a few of them with "
            "sym.action.matrices(sym.coefficients[:3])."
        )
    return action.matrices(coefficients)


def shown(count: int, side: int) -> bool:
    """Whether so many matrices of this side are few and small enough to be told in words, drawn and written down.

    >>> shown(10, 5), shown(3000, 3000), shown(1, 3000)
    (True, False, False)
    """
    return side <= SHOWN_SIDE and count * side**2 <= SHOWN
