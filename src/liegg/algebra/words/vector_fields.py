r"""Generators as vector fields, as text and as LaTeX: $x_1 \partial_2 - x_2 \partial_1$."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Num
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.algebra.words.latex import number_latex, symbol_latex
from liegg.algebra.words.wording import CONSTANTS, SUBSCRIPTS, coordinate_names

MAX_TERMS = 24
"""Terms that are written; of more, the largest, and dots."""

DIGITS = 3
"""Significant digits of a coefficient."""

SMALLEST, LARGEST = 1e-4, 1e6
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
    n = _side(generator, homogeneous)
    names = coordinate_names(n, coordinates)
    found, more = _terms(generator, names, homogeneous, tolerance)
    named = coordinates is not None
    symbols = [name if SIMPLE_NAME.fullmatch(name) else f"[{name}]" for name in names]
    pieces = []
    for term in found:
        along = symbols[term.along] if named else _subscript(term.along)
        factor = "" if term.factor is None else symbols[term.factor] + " " * named
        size = number_text(abs(term.coefficient))
        pieces.append(f"{'' if size == '1' else f'{size} '}{factor}∂{along}")
    return _signed(found, pieces, "−") + " + …" * more


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
    n = _side(generator, homogeneous)
    names = coordinate_names(n, coordinates)
    found, more = _terms(generator, names, homogeneous, tolerance)
    symbols = [symbol_latex(name) for name in names]
    pieces = []
    for term in found:
        along = symbols[term.along] if coordinates is not None else str(term.along + 1)
        along = along if len(along) == 1 else f"{{{along}}}"
        factor = "" if term.factor is None else f"{symbols[term.factor]} "
        size = _number_latex(abs(term.coefficient))
        pieces.append(rf"{'' if size == '1' else f'{size} '}{factor}\partial_{along}")
    return _signed(found, pieces, "-") + r" + \ldots" * more


def _signed(terms: list[Term], pieces: list[str], minus: str) -> str:
    """The sum of the terms, which are written without their signs; 0 for none."""
    text = ""
    for term, piece in zip(terms, pieces, strict=True):
        sign = minus if term.coefficient < 0 else "+" if text else ""
        text += f" {sign} {piece}" if text else f"{sign}{piece}"
    return text or "0"


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
    if not SMALLEST <= value < LARGEST:
        return f"{value:.{DIGITS}g}"
    rounded = float(f"{value:.{DIGITS}g}")
    return (
        f"{rounded:.{_decimals(value)}f}".rstrip("0").rstrip(".")
        if rounded % 1
        else f"{rounded:.0f}"
    )


def _number_latex(value: float) -> str:
    """The same as LaTeX; simple fractions and their roots exactly."""
    if SMALLEST <= value < LARGEST:
        return number_latex(value, digits=_decimals(value))
    mantissa, _, exponent = f"{value:.{DIGITS - 1}e}".partition("e")
    return rf"{float(mantissa):g} \cdot 10^{{{int(exponent)}}}"


def _decimals(value: float) -> int:
    """Decimals that leave three significant digits."""
    exponent = int(f"{value:e}".partition("e")[2])
    return max(0, DIGITS - 1 - exponent)


def _side(generator: Tensor, homogeneous: bool) -> int:
    """Number of coordinates; raise `ArgumentError` unless the generator is a real square matrix."""
    square = generator.ndim == 2 and generator.shape[0] == generator.shape[1]
    if not square or generator.is_complex() or not bool(generator.isfinite().all()):
        raise ArgumentError(
            f"the generator has shape {tuple(generator.shape)} and is {generator.dtype}; expected one "
            "real matrix [n, n] of finite numbers."
        )
    if homogeneous and (not len(generator) or bool(generator[-1].any())):
        raise ArgumentError(
            "the last row of the generator is not zero; expected zeros, as homogeneous matrices have."
        )
    return len(generator) - homogeneous


def _terms(
    generator: Tensor, names: Sequence[str], homogeneous: bool, tolerance: float
) -> tuple[list[Term], bool]:
    """Terms of the field, column by column and constants last; and whether more are left out."""
    matrix = generator.detach().to("cpu", torch.float64)
    n = len(names)
    constant = [i for i, name in enumerate(names) if not homogeneous and name in CONSTANTS]
    # The axes of a product that are always 1 do not move; if they do, they are not.
    constant = [] if bool(matrix[constant].any()) else constant
    shift = matrix[:n, [*constant, *range(n, len(matrix))]].sum(1)
    columns = [j for j in range(n) if j not in constant]
    values = torch.cat([matrix[:n, columns], shift[:, None]], dim=1)
    largest = float(values.abs().max()) if values.numel() else 0.0
    kept = (values.abs() > tolerance * largest) & (values != 0)
    if more := int(kept.sum()) > MAX_TERMS:
        least = values.abs().flatten().sort(descending=True).values[MAX_TERMS - 1]
        kept &= values.abs() >= least
    factors = [*columns, None]
    places = kept.mT.nonzero().tolist()[:MAX_TERMS]
    return [Term(float(values[i, j]), factors[j], i) for j, i in places], more


def _subscript(place: int) -> str:
    return str(place + 1).translate(SUBSCRIPTS)
