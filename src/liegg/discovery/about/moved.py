"""Samples that are really moved: what each motion changes, sample by sample, and how far it moves them."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.discovery.verification.measure import Directions, Question
from liegg.inputs.pieces import BATCH_ELEMENTS, BATCH_SIZE


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
    count, device = len(motions.h), question.y.device
    squares = torch.zeros(count, dtype=torch.float64, device=device)
    change = torch.zeros(count, len(question.x), dtype=torch.float64, device=device)
    classes = torch.zeros(count, len(question.x), dtype=torch.int64, device=device)
    for part in question.parts:
        x = question.x[part].double()
        room = min(BATCH_SIZE // len(x), question.capacity // x.numel())
        room = max(1, min(room, BATCH_ELEMENTS // max(1, question.complete[part].numel())))
        for start in range(0, count, room):
            rows = slice(start, start + room)
            h, k = motions.rows(rows)
            moved = question.action.act_all(h, x)
            squares[rows] += (moved - x).flatten(1).square().sum(1)
            replies = question.reply(moved.flatten(0, 1)).unflatten(0, moved.shape[:2])
            gaps = (question.taken(replies, part) - question.targets(k, part)).square().sum(2)
            change[rows, part] = gaps.nan_to_num(nan=torch.inf, posinf=torch.inf)
            classes[rows, part] = replies.argmax(2)
    displacement = (squares / len(question.x)).sqrt() / question.spread
    told = question.has_classes
    return Moved(
        displacement.cpu(),
        (change / question.variance).cpu(),
        (classes != question.complete.argmax(1)).cpu() if told else None,
        classes.cpu() if told else None,
    )
