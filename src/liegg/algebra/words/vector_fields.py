r"""Generators as vector fields, as text and as LaTeX: $x_1 \partial_2 - x_2 \partial_1$."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Num
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.algebra.subspace import checked_matrix
from liegg.algebra.words.latex import number_latex, symbol_latex
from liegg.algebra.words.wording import CONSTANTS, SUBSCRIPTS, coordinate_names, signed_sum

SHOWN_TERMS = 24
"""Terms that are written; of more, the largest, and dots."""

FIELD_DIGITS = 3
"""Significant digits of a coefficient."""

SMALLEST_PLAIN, LARGEST_PLAIN = 1e-4, 1e6
"""Coefficients outside are written with a power of ten."""

SIMPLE_NAME = re.compile(r"[^\W\d_][\w′'.]*")
"""Names that need no brackets in a formula."""


class Term(NamedTuple):
    r"""A term $c\, x_j\, \partial_i$ of a vector field.

    Attributes:
        coefficient: c.
        factor: number j of the coordinate; None for a constant, whose term is a translation.
        along: number i of the coordinate.
    """

    coefficient: float
    factor: int | None
    along: int


@checked()
def vector_field(
    generator: Num[Tensor, "..."],
    *,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    tolerance: float = 1e-6,
) -> str:
    r"""The vector field of the motion x' = Ax: $\sum_{ij} A_{ij}\, x_j\, \partial_i$.

    A point with coordinates x moves with the velocity $A x$, so that $f$ changes along its path by
    the field applied to $f$. The rotation that takes the first axis towards the second is
    $x_1 \partial_2 - x_2 \partial_1$. An affine motion $x' = Lx + t$ has the constants $t_i$ as
    coefficients of $\partial_i$.

    Unlike words, the formula has the generator's size and sign.

    Args:
        generator: the matrix A.
        coordinates: names of the coordinates; x₁, x₂, ... otherwise.
        homogeneous: whether A is `[[L, t], [0, 0]]`.
        tolerance: entries below this share of the largest are left out.

    Returns:
        The formula, with coefficients of three digits; "0" for no motion.

    Raises:
        ArgumentError: not a real square matrix of finite numbers, or a wrong number of names.

    Examples:
        >>> from liegg.algebra import se, so
        >>> vector_field(so(2)[0])
        'x₁∂₂ − x₂∂₁'
        >>> vector_field(so(2)[0], coordinates=("m1", "m2"))
        'm1 ∂m2 − m2 ∂m1'
        >>> [vector_field(h, coordinates=("x", "y"), homogeneous=True) for h in se(2)]
        ['x ∂y − y ∂x', '∂x', '∂y']
    """
    terms, names, more = _terms(generator, coordinates, homogeneous, tolerance)
    named = coordinates is not None
    symbols = [name if SIMPLE_NAME.fullmatch(name) else f"[{name}]" for name in names]
    words = []
    for term in terms:
        along = symbols[term.along] if named else str(term.along + 1).translate(SUBSCRIPTS)
        factor = "" if term.factor is None else symbols[term.factor] + " " * named
        words.append((term.coefficient, f"{factor}∂{along}"))
    text = signed_sum(words, number_text)
    return (text or "0") + " + …" * more


@checked()
def vector_field_latex(
    generator: Num[Tensor, "..."],
    *,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    tolerance: float = 1e-6,
) -> str:
    r"""The same as LaTeX; see `vector_field`.

    >>> from liegg.algebra import so
    >>> print(vector_field_latex(so(2)[0]))
    x_1 \partial_2 - x_2 \partial_1
    >>> print(vector_field_latex(so(2)[0] / 3, coordinates=("m1", "speed")))
    \tfrac{1}{3} m_1 \partial_{\mathrm{speed}} - \tfrac{1}{3} \mathrm{speed} \partial_{m_1}
    """
    terms, names, more = _terms(generator, coordinates, homogeneous, tolerance)
    symbols = [symbol_latex(name) for name in names]
    words = []
    for term in terms:
        along = symbols[term.along] if coordinates is not None else str(term.along + 1)
        along = along if len(along) == 1 else f"{{{along}}}"
        factor = "" if term.factor is None else f"{symbols[term.factor]} "
        words.append((term.coefficient, rf"{factor}\partial_{along}"))
    text = signed_sum(words, _number_latex, "-")
    return (text or "0") + r" + \ldots" * more


def number_text(value: float) -> str:
    """A positive coefficient with three significant digits and no trailing zeros.

    >>> (
    ...     number_text(1.0),
    ...     number_text(0.70711),
    ...     number_text(12.0),
    ...     number_text(1234.5),
    ...     number_text(3e-7),
    ... )
    ('1', '0.707', '12', '1230', '3e-07')
    """
    if not SMALLEST_PLAIN <= value < LARGEST_PLAIN:
        return f"{value:.{FIELD_DIGITS}g}"
    return np.format_float_positional(
        value, precision=FIELD_DIGITS, unique=False, fractional=False, trim="-"
    )


def _number_latex(value: float) -> str:
    """The same as LaTeX; simple fractions and their roots exactly."""
    if SMALLEST_PLAIN <= value < LARGEST_PLAIN:
        exponent = int(f"{value:e}".partition("e")[2])
        return number_latex(value, digits=max(0, FIELD_DIGITS - 1 - exponent))
    mantissa, _, exponent = f"{value:.{FIELD_DIGITS - 1}e}".partition("e")
    return rf"{float(mantissa):g} \cdot 10^{{{int(exponent)}}}"


def _terms(
    generator: Tensor, coordinates: Sequence[str] | None, homogeneous: bool, tolerance: float
) -> tuple[list[Term], tuple[str, ...], bool]:
    """Terms of the field, column by column and constants last; the names; whether more are left out."""
    matrix = checked_matrix(generator, "generator").detach().cpu()
    if homogeneous and (not len(matrix) or bool(matrix[-1].any())):
        raise ArgumentError(
            "the last row of the generator is not zero; expected zeros, as homogeneous matrices have."
        )
    n = len(matrix) - homogeneous
    names = coordinate_names(n, coordinates)
    constant = [i for i, name in enumerate(names) if not homogeneous and name in CONSTANTS]
    # The axes of a product that are always 1 do not move; if they do, they are not.
    constant = [] if bool(matrix[constant].any()) else constant
    shift = matrix[:n, [*constant, *range(n, len(matrix))]].sum(1)
    columns = [j for j in range(n) if j not in constant]
    values = torch.cat([matrix[:n, columns], shift[:, None]], dim=1)
    largest = float(values.abs().max()) if values.numel() else 0.0
    kept = (values.abs() > tolerance * largest) & (values != 0)
    if more := int(kept.sum()) > SHOWN_TERMS:
        least = values.abs().flatten().sort(descending=True).values[SHOWN_TERMS - 1]
        kept &= values.abs() >= least
    factors = [*columns, None]
    places = kept.mT.nonzero().tolist()[:SHOWN_TERMS]
    return [Term(float(values[i, j]), factors[j], i) for j, i in places], names, more
