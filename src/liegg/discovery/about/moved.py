"""Samples that are really moved: what each motion changes, sample by sample, and how far it moves them."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.discovery.verification.measure import Directions, Question


class Moved(NamedTuple):
    """What motions do to samples and outputs.

    Attributes:
        displacement: `[m]`, root mean square motion of the samples, in multiples of their spread.
        change: `[m, n]`, squared change of every output over the variance; infinite where an output
            is not finite.
        changed: `[m, n]`, whether another class is predicted; None without classes.
        classes: `[m, n]`, the predicted classes; None without classes.
    """

    displacement: Float[Tensor, " m"]
    change: Float[Tensor, "m n"]
    changed: Bool[Tensor, "m n"] | None
    classes: Int[Tensor, "m n"] | None


def move(question: Question, motions: Directions) -> Moved:
    """Move every sample by every motion.

    Args:
        question: the model and its samples.
        motions: coefficients of finite motions, and of the output's own.
    """
    shape, device = (len(motions.h), len(question.x)), question.y.device
    squares = torch.zeros(len(motions.h), dtype=torch.float64, device=device)
    change = torch.zeros(shape, dtype=torch.float64, device=device)
    classes = torch.zeros(shape, dtype=torch.int64, device=device)
    for part in question.parts:
        x = question.x[part].double()
        for rows, moved, complete in question.moved(motions.h, part):
            squares[rows] += (moved - x).flatten(1).square().sum(1)
            gaps = question.squares(complete, motions.rows(rows).k, part)
            change[rows, part] = gaps.nan_to_num(nan=torch.inf, posinf=torch.inf)
            classes[rows, part] = complete.argmax(2)
    displacement = (squares / len(question.x)).sqrt() / question.spread
    has_classes = question.has_classes
    return Moved(
        displacement.cpu(),
        (change / question.variance).cpu(),
        (classes != question.complete.argmax(1)).cpu() if has_classes else None,
        classes.cpu() if has_classes else None,
    )
