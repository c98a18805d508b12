"""Motions that are followed beside the symmetries: a readable basis, or the nearest candidates."""

from contextlib import suppress
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import MatrixAction
from liegg.results.account import direction_error, is_printable, words_of
from liegg.results.symmetries import Symmetries

MAX_READABLE, MAX_CANDIDATES = 12, 3
"""Readable generators that are followed, and candidates: those graded weak, or the nearest one."""

SAME_MOTION_COSINE = 1 - 1e-6
"""Cosine from which on two generators are the same motion at another speed."""


class Others(NamedTuple):
    """Further motions.

    Attributes:
        coefficients: one row per motion.
        words: what each does.
    """

    coefficients: Float[Tensor, "k g"]
    words: tuple[str, ...]


def others_of(sym: Symmetries) -> Others:
    """Readable generators that are not among the symmetries; the nearest candidates if there are none.

    Args:
        sym: the result of `discover`.
    """
    action = sym.action
    rows, words = sym.coefficients[:0], ()
    too_large = isinstance(action, MatrixAction) and not is_printable(sym.nullity, action.ambient)
    if not sym.nullity and not too_large:
        first, weak = sym.decision.undecided, sym.decision.grades.count("weak")
        rows = sym.accumulated.solution.directions[first:][: min(max(weak, 1), MAX_CANDIDATES)]
        rows = rows / rows.norm(dim=1, keepdim=True)
        words = words_of(action, rows, direction_error(sym.decision))
    elif isinstance(action, MatrixAction) and not too_large:
        rows, words = _readable(sym, action)
    return Others(rows, words)


def _readable(
    sym: Symmetries, action: MatrixAction
) -> tuple[Float[Tensor, "k g"], tuple[str, ...]]:
    """Readable generators that the action has and that are not among the symmetries at any speed."""
    rows, words = [sym.coefficients[:0]], []
    readable = sym.identification.readable
    for matrix, text in list(zip(readable.generators, readable.words, strict=True))[:MAX_READABLE]:
        with suppress(ArgumentError):  # rounded entries may leave a restriction slightly
            row = action.coefficients(matrix[None].to(sym.coefficients))
            if not bool(
                ((sym.coefficients @ row.mT).abs() >= SAME_MOTION_COSINE * row.norm()).any()
            ):
                rows.append(row)
                words.append(text)
    return torch.cat(rows), tuple(words)
