"""Random motions that move the samples as far as a named one does, for comparison."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.about.effort import Effort
from liegg.discovery.about.moved import move_each
from liegg.discovery.verification.follow import random_directions
from liegg.discovery.verification.measure import Directions, Question
from liegg.results.symmetries import Symmetries

TRIED_LENGTHS, LENGTH_SAMPLES = 9, 16
"""Lengths of each random motion at which its displacement is measured, and samples of a group on which it is."""

DIRECTION_GROUPS = 8
"""Groups of samples that have random directions of their own. Directions differ more than samples do: two that were the same for
all samples changed 9 to 44 % of the predictions of one network, by their seed."""


@dataclass(frozen=True, eq=False)
class RandomMotions:
    """What random motions change, by how far they move the samples.

    Attributes:
        displacement: `[l]`, displacements, ascending.
        change: `[l, n]`, squared change of every output over the variance, mean over the directions.
        changed: `[l, n]`, share of the directions that change a prediction; None without classes.
    """

    displacement: Float[Tensor, " l"]
    change: Float[Tensor, "l n"]
    changed: Float[Tensor, "l n"] | None

    def at(
        self, displacement: Float[Tensor, " t"]
    ) -> tuple[Float[Tensor, "t n"], Float[Tensor, "t n"] | None]:
        """Change and changed predictions of every sample at other displacements, interpolated."""
        places = torch.searchsorted(self.displacement, displacement).clamp(
            1, len(self.displacement) - 1
        )
        low, high = self.displacement[places - 1], self.displacement[places]
        share = ((displacement - low) / (high - low).clamp_min(1e-300)).clamp(0, 1)[:, None]

        def between(values: Tensor) -> Tensor:
            return values[places - 1] + share * (values[places] - values[places - 1])

        finite = self.change.isfinite().double()
        change = between(torch.where(self.change.isfinite(), self.change, 0.0)).clamp_min(0)
        change = torch.where(between(finite) < 1, torch.inf, change)
        return change, None if self.changed is None else between(self.changed)


def random_motions(
    question: Question, sym: Symmetries, displacements: Float[Tensor, " d"], effort: Effort
) -> RandomMotions:
    """Measure random directions of the candidates at displacements that span the given ones.

    Args:
        question: the model and its samples.
        sym: the analysis, whose displacement makes the directions comparable.
        displacements: of the named motions, in multiples of the data's spread.
        effort: how many directions, at how many displacements.
    """
    groups = min(DIRECTION_GROUPS, len(question.x))
    h = random_directions(
        sym.accumulated.displacement,
        effort.directions * groups,
        float(sym.settings["trivial_tolerance"]),
        sym.settings["seed"],
    ).unflatten(0, (groups, effort.directions))
    smallest, largest = float(displacements.min()), float(displacements.max())
    levels = torch.linspace(smallest, largest, effort.levels, dtype=torch.float64)
    found = _of_groups(
        [(question.share(which, groups), rows) for which, rows in enumerate(h)], sym, levels
    )
    displacement = torch.stack([one.displacement for one in found]).mean(0)
    order = displacement.argsort()
    samples = torch.cat([torch.arange(len(question.x))[which::groups] for which in range(groups)])

    def joined(parts: list[Tensor]) -> Tensor:
        return torch.cat(parts, dim=1)[:, samples.argsort()][order]

    changed = [one.changed for one in found if one.changed is not None]
    return RandomMotions(
        displacement[order],
        joined([one.change for one in found]),
        joined(changed) if changed else None,
    )


def _of_groups(
    groups: list[tuple[Question, Float[Tensor, "d g"]]],
    sym: Symmetries,
    levels: Float[Tensor, " l"],
) -> list[RandomMotions]:
    """What random directions do to each of several groups of samples, at every level of displacement."""
    asked, shape = [], (-1, len(levels))
    for question, h in groups:
        times = torch.stack([_lengths(question, row, levels) for row in h])  # [directions, levels]
        asked.append((question, Directions(h, sym.accumulated.partners(h)).along(times)))

    def mean(values: Tensor) -> Tensor:
        return values.double().unflatten(0, shape).mean(0)

    return [
        RandomMotions(
            mean(found.displacement),
            mean(found.change),
            None if found.changed is None else mean(found.changed),
        )
        for found in move_each(asked)
    ]


def _lengths(
    question: Question, h: Float[Tensor, " g"], levels: Float[Tensor, " l"]
) -> Float[Tensor, " l"]:
    """Lengths of a motion of unit speed that displace the samples as far as asked; the longest tried if none does."""
    x = question.x[:LENGTH_SAMPLES].double()
    spread = question.spread
    tried = spread * 2.0 ** torch.linspace(-6, 2, TRIED_LENGTHS, dtype=torch.float64)
    moved = question.action.act_all(tried[:, None] * h, x)
    reached = (moved - x).flatten(2).square().sum(2).mean(1).sqrt().cpu() / spread
    reached = reached.nan_to_num(nan=torch.inf).cummax(0).values
    known = reached.isfinite()
    reached, tried = ([0.0, *values[known].tolist()] for values in (reached, tried))
    return torch.from_numpy(np.interp(levels.numpy(), reached, tried))
