"""Whether the samples constrain all that such samples can: half of them constrain as many directions as all of them."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.discovery.problem import Problem
from liegg.polarization import r_factor
from liegg.polarization.rows import ROW_ELEMENTS, polarize, rows_per_sample
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.streaming import PassPlan
from liegg.spectrum.defects import Defects

SEEN_SHARE = 1e-6
"""Share of a direction's squared change that half of the samples must show; samples that add no constraint show 0."""

FEWEST_IN_A_HALF = 2
"""Fewest samples in each half: what one sample leaves open says little of others."""

Halves = Callable[[], Sequence[Float[Tensor, "_ p"]]]
"""Factors of the rows of both halves of some samples; none if there are too few."""


def saturated(problem: Problem, solution: Defects, floor: float, halves: Halves | None) -> bool:
    """Whether each half of the samples constrains every direction above the floor, so that the others are not just unseen.

    While constraints are missing, other samples add some; the two halves then leave different directions open. For equivariance
    the output generators are directions too.

    Args:
        problem: the problem.
        solution: all of its directions.
        floor: defect below which a direction is exact.
        halves: the factors, if there are no blocks of samples; called only then.
    """
    parts = problem.sums.parts
    if parts is not None and min(sum(parts.samples[k::2]) for k in (0, 1)) >= FEWEST_IN_A_HALF:
        factors = [[block.r for block in parts.rows[k::2]] for k in (0, 1)]
    elif parts is None and halves is not None and (both := halves()):
        factors = [[half] for half in both]
    else:
        return False
    columns = _constrained(problem, solution, floor)
    if not len(columns):
        return False
    squares = torch.stack([_seen(problem.action, half, columns) for half in factors])
    scale = squares.sum(0).diagonal().clamp_min(torch.finfo(squares.dtype).tiny).rsqrt()
    shares = torch.linalg.eigvalsh(scale[:, None] * squares * scale)
    return bool((shares[:, 0] > SEEN_SHARE).all())


def carrying_blocks(problem: Problem, directions: Float[Tensor, "d g"]) -> Float[Tensor, " d"]:
    """Number of equal blocks of samples that would carry what each direction changes; infinite without blocks.

    Args:
        problem: the problem.
        directions: coefficients of the directions.
    """
    parts = problem.sums.parts
    if parts is None:
        return torch.full((len(directions),), torch.inf, dtype=torch.float64)
    factors = [block.r for block in parts.rows]
    changes = _changes(problem.action, torch.cat(factors), _with_partners(problem, directions))
    owner = torch.arange(len(factors)).repeat_interleave(torch.tensor([len(r) for r in factors]))
    squares = changes.new_zeros(len(factors), len(directions))
    squares.index_add_(0, owner, changes.square())
    return squares.sum(0).square() / squares.square().sum(0).clamp_min(
        torch.finfo(torch.float64).tiny
    )


def _with_partners(problem: Problem, directions: Float[Tensor, "d g"]) -> Float[Tensor, "d p"]:
    """Directions with the output generators that suit them best, in the columns of the rows."""
    if problem.partner is None:
        return directions
    return torch.cat([directions @ problem.partner.mT, directions], dim=1)


def _constrained(problem: Problem, solution: Defects, floor: float) -> Float[Tensor, "q p"]:
    """Directions above the floor with their output generators, and the output generators that are known at all."""
    above = solution.directions[solution.values > floor]
    if problem.elimination is None:
        return above
    outputs = problem.n_output_generators
    axes = torch.linalg.svd(problem.rows.r[:, :outputs], full_matrices=False).Vh
    known = axes[: problem.elimination.rank]
    return torch.cat(
        [
            _with_partners(problem, above),
            torch.cat([known, known.new_zeros(len(known), above.shape[1])], dim=1),
        ]
    )


def _seen(
    action: Action, factors: Sequence[Float[Tensor, "_ w"]], columns: Float[Tensor, "q p"]
) -> Float[Tensor, "q q"]:
    """Products of the changes that directions make to the samples of some factors."""
    changes = _changes(action, torch.cat(list(factors)), columns)
    return changes.mT @ changes


def _changes(
    action: Action, rows: Float[Tensor, "m w"], columns: Float[Tensor, "q p"]
) -> Float[Tensor, "m q"]:
    """Changes that directions make to the samples of some rows."""
    restricted = action.row_action is not action
    return (action.project(rows) if restricted else rows) @ columns.mT


def halves_of(steps: PassPlan) -> list[Float[Tensor, "p p"]]:
    """Factors of the rows of two halves of the first batch, as many samples as there is room for; empty if these are too few.

    Copies of a sample are in one half.

    Args:
        steps: how the pass was made.
    """
    room = ROW_ELEMENTS // (steps.columns * rows_per_sample(steps.row_plan.outputs, steps.model))
    x = steps.first[:room]
    side = (sample_hashes(x) & 1).bool()
    if min(int(side.sum()), int((~side).sum())) < FEWEST_IN_A_HALF:
        return []
    rows, _ = polarize(
        steps.model, steps.action, x, steps.row_plan, output_action=steps.output_action
    )
    return [
        r_factor.update(r_factor.init(steps.columns), rows[half].flatten(0, 1).cpu()).r
        for half in (side, ~side)
    ]
