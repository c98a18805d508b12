"""Rank of a result among those of other models on the same data."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.decision.controls import CONTROL_DRAWS, OWN_DEFECTS, RankTest, rank_test
from liegg.results.symmetries import Symmetries

SAME_DATA = 1e-4
"""Relative difference of the displacements up to which two results are of the same data, in other batches or another dtype."""


@checked()
def rank_among(sym: Symmetries, others: Sequence[Any]) -> RankTest:
    """Rank of a model among control models: were its symmetries learned from what the controls did not see?

    For controls that you trained yourself, such as the same network trained in the same way on shuffled targets. One test on the
    span of the symmetries (of the nearest direction if there is none), as for `controls="reinitialised"`.

    Args:
        sym: the result of `liegg.discover` for the model.
        others: results for the control models, with the same data and action; 19 or more for a verdict at the 5 % level.
            `controls="none"` saves time.

    Raises:
        ArgumentError: fewer than two, or a result for another action, another target or other data.
    """
    if len(others) < 2:
        raise ArgumentError(
            f"{len(others)} results of control models: expected at least 2, and {CONTROL_DRAWS} for a "
            "verdict at the 5 % level."
        )
    for number, other in enumerate(others, 1):
        _check(sym, other, number)
    count = min(max(sym.nullity, 1), len(sym.defects))
    compared = max(count, min(len(sym.defects), OWN_DEFECTS))
    directions = sym.accumulated.solution.directions[:count]
    thresholds = sym.decision.thresholds
    near_linear = [is_nearly_linear(other, thresholds.linear) for other in others]
    return rank_test(
        sym.defects[:compared],
        torch.stack([other.defect(directions) for other in others]),
        torch.stack([first_defects(other, compared) for other in others]),
        [sym.nullity, *(other.nullity for other in others)],
        floor=max(sym.decision.floor, thresholds.resolution),
        same_span_only=all(near_linear) and not is_nearly_linear(sym, thresholds.linear),
    )


def first_defects(sym: Symmetries, count: int) -> Float[Tensor, " k"]:
    """The smallest defects; NaN where there are fewer."""
    return torch.cat([sym.defects, sym.defects.new_full((count,), torch.nan)])[:count]


def is_nearly_linear(sym: Symmetries, threshold: float) -> bool:
    """Whether the model is nearly linear on the data, as far as that is known."""
    return (sym.settings["nonlinearity"] or 0.0) < threshold


def _check(sym: Symmetries, other: Any, number: int) -> None:
    """Raise `ArgumentError` for a result of another question or other data."""
    if not isinstance(other, Symmetries):
        raise ArgumentError(
            f"control {number} is a {type(other).__name__}; expected a result of liegg.discover()."
        )
    asked, answered = (
        (
            one.action.settings(),
            one.output_action and one.output_action.settings(),
            *(one.settings.get(name) for name in ("output", "target")),
            one.samples,
        )
        for one in (sym, other)
    )
    own, theirs = (one.accumulated.displacement.block for one in (sym, other))
    if asked != answered or float((own - theirs).norm()) > SAME_DATA * float(own.norm()):
        raise ArgumentError(
            f"control {number} is about another action, another target or other data. Analyse all models with the same "
            "arguments: liegg.discover(control, data, action)."
        )
