"""Samples that are really moved: what each motion changes, sample by sample, and how far it moves them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.discovery.verification.measure import Directions, Question
from liegg.inputs.task import predicted


class Moved(NamedTuple):
    """What motions do to samples and outputs.

    Attributes:
        displacement: `[m]`, root mean square motion of the samples, in multiples of their spread.
        change: `[m, n]`, squared change of every output over the variance; infinite where an output
            is not finite.
        changed: `[m, n]`, whether another class is predicted; None without classes.
        classes: `[m, n]`, the predicted classes, −1 where an output is NaN; None without classes.
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
    return move_each([(question, motions)])[0]


def move_each(asked: Sequence[tuple[Question, Directions]]) -> list[Moved]:
    """Move the samples of every question by its motions; samples of several questions share a call of the model.

    Args:
        asked: questions to one model, each with its motions.
    """
    tallies = [_Tally(question, motions) for question, motions in asked]
    waiting: list[tuple[_Tally, slice, slice, Tensor]] = []
    count = 0
    for tally in tallies:
        for part in tally.question.parts:
            for rows, ends in tally.question.ends(tally.motions.h, part):
                size = len(ends) * ends.shape[1]
                if count + size > tally.question.room:
                    _reply(waiting)
                    waiting, count = [], 0
                waiting.append((tally, rows, part, ends))
                count += size
    _reply(waiting)
    return [tally.moved() for tally in tallies]


class _Tally:
    """What the motions of one question do, summed part by part."""

    def __init__(self, question: Question, motions: Directions) -> None:
        self.question, self.motions = question, motions
        shape, device = (len(motions.h), len(question.x)), question.y.device
        self._squares = torch.zeros(len(motions.h), dtype=torch.float64, device=device)
        self._change = torch.zeros(shape, dtype=torch.float64, device=device)
        self._classes = torch.zeros(shape, dtype=torch.int64, device=device)

    def add(
        self,
        rows: slice,
        part: slice,
        ends: Float[Tensor, "r b ..."],
        complete: Float[Tensor, "r b k"],
    ) -> None:
        """Add some samples after some motions, with their complete outputs."""
        question = self.question
        x = question.x[part].double()
        self._squares[rows] += (ends - x).flatten(1).square().sum(1)
        gaps = question.squares(complete, self.motions.rows(rows).k, part)
        self._change[rows, part] = gaps.nan_to_num(nan=torch.inf, posinf=torch.inf)
        self._classes[rows, part] = predicted(complete)

    def moved(self) -> Moved:
        """What was added."""
        question = self.question
        displacement = (self._squares / len(question.x)).sqrt() / question.spread
        has_classes = question.has_classes
        return Moved(
            displacement.cpu(),
            (self._change / question.variance).cpu(),
            (self._classes != question.complete.argmax(1)).cpu() if has_classes else None,
            self._classes.cpu() if has_classes else None,
        )


def _reply(waiting: list[tuple[_Tally, slice, slice, Tensor]]) -> None:
    """Evaluate moved samples of several questions in one call of the model."""
    if not waiting:
        return
    samples = [ends.flatten(0, 1) for *_, ends in waiting]
    replies = waiting[0][0].question.reply(torch.cat(samples))
    for (tally, rows, part, ends), complete in zip(
        waiting, replies.split([len(some) for some in samples]), strict=True
    ):
        tally.add(rows, part, ends, complete.unflatten(0, ends.shape[:2]))
