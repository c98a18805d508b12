"""Point groups of space in Schoenflies notation."""

import numpy as np
from jaxtyping import Float

from liegg.algebra.finite.multiplication import Table, element_orders
from liegg.algebra.words.wording import SUBSCRIPTS

POLYHEDRAL = {12: ("T", 3, 8), 24: ("O", 4, 6), 60: ("I", 5, 24)}
"""Rotation groups of the polyhedra by order: name, and how many elements of one order they have."""

WITH_INVERSION = {"T": "T_h", "O": "O_h", "I": "I_h"}


def schoenflies(elements: Float[np.ndarray, "m 3 3"], table: Table) -> str:
    r"""The point group of orthogonal matrices of space, such as "C₂v", "D₃d" or "O_h".

    The rotations R of a group G are known by their number and orders. Without inversion, G has the structure
    of the rotation group R ∪ −(G \ R), and the pair of rotation groups is the point group.

    >>> one = np.eye(3)
    >>> schoenflies(np.stack([one, np.diag([-1.0, 1, 1])]), np.array([[0, 1], [1, 0]]))
    'C_s'
    """
    proper = np.linalg.det(elements) > 0
    orders = element_orders(table)
    kind, n = _rotations(orders[proper])
    if proper.all():
        return _text(kind, n)
    inversion = bool((abs(elements + np.eye(3)).max((1, 2)) < 1e-6).any())
    if kind in WITH_INVERSION:
        return WITH_INVERSION[kind] if inversion else "T_d"
    if kind == "C" and n == 1:
        return "C_i" if inversion else "C_s"
    horizontal = (n % 2 == 0) == inversion  # whether a mirror is perpendicular to the main axis
    if kind == "D":
        return _text("D", n, "h" if horizontal else "d")
    # A rotoreflection h has an even order, and the rotation −h the same one unless −1 is a power of h.
    if not inversion and _rotations(orders)[0] == "D":
        return _text("C", n, "v")
    return _text("C", n, "h") if horizontal else _text("S", 2 * n)


def _rotations(orders: np.ndarray) -> tuple[str, int]:
    """The kind of a rotation group and its n, from the orders of its elements."""
    m = len(orders)
    if m in POLYHEDRAL:
        name, order, count = POLYHEDRAL[m]
        if int((orders == order).sum()) == count and orders.max() < 6:
            return name, 0
    largest = int(orders.max())
    return ("C", m) if largest == m else ("D", m // 2)


def _text(kind: str, n: int, further: str = "") -> str:
    return kind + (str(n).translate(SUBSCRIPTS) if n else "") + further
