"""Motions that are followed beside the generators found: the readable ones, or the nearest candidates where none was found."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.words.describe import describe
from liegg.results.symmetries import Symmetries

MOST, CANDIDATES = 12, 3
"""Readable generators that are followed, and candidates: those graded weak, or the nearest one."""

PARALLEL = 1 - 1e-6
"""Cosine from which on two generators are the same motion at another speed."""


class Others(NamedTuple):
    """Further motions.

    Attributes:
        matrices: one to a motion.
        coefficients: the same, of the action's generators.
        words: what each does.
    """

    matrices: Float[Tensor, "k n n"]
    coefficients: Float[Tensor, "k g"]
    words: tuple[str, ...]


def others_of(sym: Symmetries) -> Others:
    """Readable generators that are not those found, or the nearest candidates where none was found; some of them.

    Args:
        sym: the result of `discover`.
    """
    if not sym.shown:
        return Others(
            sym.coefficients.new_zeros(0, *[sym.action.ambient] * 2), sym.coefficients[:0], ()
        )
    if sym.nullity:
        readable = sym.identification.readable
        told = list(zip(readable.generators.to(sym.generators), readable.words, strict=True))[:MOST]
        flat = sym.generators.flatten(1)
        told = [(matrix, words) for matrix, words in told if not _among(matrix.flatten(), flat)]
    else:
        weak = sum(grade == "weak" for grade in sym.grades)
        first = sym.decision.undecided
        matrices = sym.action.matrices(
            sym.solution.directions[first:][: min(max(weak, 1), CANDIDATES)]
        )
        told = [
            (matrix / matrix.norm(), words_of(sym, matrix / matrix.norm())) for matrix in matrices
        ]
    inside = [
        (matrix, row, words)
        for matrix, words in told
        if (row := _coefficients(sym, matrix)) is not None
    ]
    if not inside:
        return Others(sym.generators[:0], sym.coefficients[:0], ())
    matrices, rows, words = zip(*inside, strict=True)
    return Others(torch.stack(matrices), torch.stack(rows), words)


def words_of(sym: Symmetries, matrix: Float[Tensor, "n n"]) -> str:
    """What a generator does, with entries left out that its error explains."""
    error = sym.uncertainty if sym.nullity or sym.certainty is None else sym.certainty.angle
    close = min(max(1e-6, 5 * error / len(matrix)), 0.24)
    return describe(
        matrix, coordinates=sym.action.axes, homogeneous=sym.action.homogeneous, tolerance=close
    )


def _among(flat: Float[Tensor, " m"], others: Float[Tensor, "d m"]) -> bool:
    """Whether a motion is one of some others, at any speed."""
    return bool(((others @ flat).abs() >= PARALLEL * flat.norm() * others.norm(dim=1)).any())


def _coefficients(sym: Symmetries, matrix: Float[Tensor, "n n"]) -> Float[Tensor, " g"] | None:
    """Coefficients of a matrix; None if it is none of the action's: rounded entries may leave a restriction a little."""
    try:
        return sym.action.coefficients(matrix[None])[0].to(sym.coefficients)
    except ArgumentError:
        return None
