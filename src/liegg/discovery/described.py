"""The result of an analysis: what was decided, with its tower, its words and the paper's spectrum."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.actions import Action
from liegg.algebra.identification import Identification
from liegg.decision.controls import Controls, RandomControl
from liegg.decision.decide import Decision
from liegg.decision.distribution_test import DistributionTest
from liegg.results.account import account_of
from liegg.results.accumulated import Accumulated
from liegg.results.symmetries import Symmetries
from liegg.results.tower import tower_of
from liegg.spectrum.spectrum import paper_spectrum

STORED_SPECTRUM = 512
"""Candidates up to which the paper's spectrum is solved for and stored with the result."""


def described(
    action: Action,
    accumulated: Accumulated,
    decision: Decision,
    *,
    model: str,
    coefficients: Float[Tensor, "d g"],
    intervals: Float[Tensor, "r 2"],
    identification: Identification,
    settings: dict[str, Any],
    output_action: Action | None = None,
    random: RandomControl | None = None,
    notes: tuple[Remark, ...] = (),
    distribution: DistributionTest | None = None,
) -> Symmetries:
    """The record of what was decided.

    Args:
        action: the candidate generators.
        accumulated: sums over the data.
        decision: how many directions are symmetries.
        model: what was analysed, in words.
        coefficients: the symmetries.
        intervals: of the defects.
        identification: name of the algebra.
        settings: how the analysis ran, as JSON values.
        output_action: action on the outputs; None for invariance.
        random: random directions for comparison; None if there are none.
        notes: what the reader should know of the run.
        distribution: tests of a data set; None for a model.
    """
    spectrum, bottom = None, accumulated.bottom
    if action.size <= STORED_SPECTRUM:
        count = None if bottom is None else bottom.requested
        spectrum = paper_spectrum(
            accumulated.factor, action.size, accumulated.samples, smallest=count
        )
    return Symmetries(
        model=model,
        action=action,
        output_action=output_action,
        samples=accumulated.samples,
        decision=decision,
        coefficients=coefficients,
        intervals=intervals,
        identification=identification,
        tower=tower_of(action, accumulated, decision, identification),
        controls=Controls(random),
        verification=None,
        accumulated=accumulated,
        account=account_of(
            action,
            accumulated,
            decision,
            output_action=output_action,
            coefficients=coefficients,
            intervals=intervals,
            spectrum=spectrum,
            identification=identification,
        ),
        settings=settings,
        notes=notes,
        distribution=distribution,
        _spectrum=spectrum,
    )
