"""Symmetries of a function whose level set is what the data lies on."""

from dataclasses import replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.discover import discover
from liegg.discovery.run import Run
from liegg.results.symmetries import Symmetries

NO_EFFECT = 1e12
"""Threshold of the effect that nothing exceeds: the function may be constant on the data, so that an effect relative to its spread has
no meaning."""


def level_set_symmetries(
    function: Any,
    x: Float[Tensor, "b ..."],
    action: Action,
    *,
    thresholds: Thresholds,
    held_out: Float[Tensor, "h ..."] | None,
    groups: Any,
    seed: int,
    subject: str,
    facts: dict[str, Any],
) -> Symmetries:
    """Analyse the function on the data, as a model.

    Args:
        function: a differentiable function.
        x: the samples.
        action: the candidate generators.
        thresholds: what counts as a symmetry; the effect does not.
        held_out: samples to verify on.
        groups: label of every sample.
        seed: as for `liegg.discover`.
        subject: what the result is about, in words.
        facts: further settings of the result.
    """
    sym = discover(
        function,
        x,
        action,
        thresholds=replace(thresholds, effect=NO_EFFECT),
        held_out=held_out,
        run=Run(groups=groups, seed=seed),
        about=(),
        controls="random",
    )
    return replace(sym, model=subject, settings=sym.settings | facts)
