"""Claims of section 5.3: networks of different width, depth and number of parameters."""

from functools import partial
from typing import Any, Literal

import numpy as np

from liegg.studies.claims.record import Claim, Outcome, Results, TooFewError
from liegg.studies.claims.statistics import LEVEL, chance, rank_correlation, smaller, two_digits
from liegg.studies.configurations import DEEPEST, MAIN_WINDOW, OTHER_WINDOW, SHALLOWEST

SUFFICIENT = 100_000
"""Parameters from which on a network counts as sufficiently parameterized.

The paper gives no number. This one leaves out the lowest three of the nine counts; the result for
all counts is reported as well.
"""

CORRELATION_LEVEL = 1e-4
"""The paper's level: its correlations with the accuracy have p < 1e-4."""

EQUAL_ACCURACY = 0.001
"""Largest difference of equal test accuracies: 50 of 50,000 digits."""

DIFFERENT_VARIANCE = 2.0
"""Factor above which two variances count as different."""

Quantity = Literal["variance", "bias"]


def networks(results: Results, reading: str) -> np.recarray:
    """The networks of the main window under one reading; raises `TooFewError` if there are none.

    Returns:
        A row per network: requested number of `parameters`, hidden layers (`depth`), `accuracy` on
        the test images, `variance` and `bias` of the smallest direction.
    """
    rows = [
        (
            net["parameters"],
            net["hidden_layers"],
            net["test_accuracy"],
            net["readings"][reading]["variance"],
            net["readings"][reading]["bias"][0],
        )
        for net in results["configurations"]["networks"]
        if SHALLOWEST <= net["hidden_layers"] <= DEEPEST
    ]
    if not rows:
        raise TooFewError(f"no networks with {SHALLOWEST} to {DEEPEST} hidden layers")
    columns = {"parameters": int, "depth": int, "accuracy": float, "variance": float, "bias": float}
    return np.rec.fromrecords(rows, dtype=[*columns.items()])


def more_parameters(results: Results, reading: str, *, quantity: Quantity) -> Outcome:
    """Among networks of the same depth, the quantity falls with the number of parameters."""
    nets = networks(results, reading)
    values = getattr(nets, quantity)
    order = rank_correlation(nets.parameters, values, nets.depth)
    few, many = nets.parameters.min(), nets.parameters.max()
    means = [two_digits(values[nets.parameters == count].mean()) for count in (few, many)]
    return Outcome(
        order.falls,
        f"{order}; clearly negative at {order.negative} of {order.groups} depths; {means[0]} on the mean with "
        f"{few:,} parameters, {means[1]} with {many:,}",
    )


def deeper(results: Results, reading: str) -> Outcome:
    """Among large networks with the same number of parameters, the variance falls with the depth."""
    nets = networks(results, reading)
    large = nets.parameters >= SUFFICIENT
    order = rank_correlation(nets.depth[large], nets.variance[large], nets.parameters[large])
    everywhere = rank_correlation(nets.depth, nets.variance, nets.parameters)
    counts = np.unique(nets.parameters[large])
    middle = nets.parameters == counts[len(counts) // 2]
    depths = np.unique(nets.depth[middle])
    means = " → ".join(
        two_digits(nets.variance[middle & (nets.depth == depth)].mean()) for depth in depths
    )
    return Outcome(
        order.falls,
        f"with {SUFFICIENT:,} parameters or more: {order}, clearly negative at {order.negative} of {order.groups} counts; "
        f"all counts: {everywhere}, clearly negative at {everywhere.negative} of {everywhere.groups}; "
        f"with {counts[len(counts) // 2]:,} parameters {means} on the mean from depth {depths[0]} to {depths[-1]}",
    )


def balanced(results: Results, reading: str) -> Outcome:
    """Networks of medium depth have smaller biases than the shallowest and than the deepest ones."""
    nets = networks(results, reading)
    depths = np.unique(nets.depth)
    if len(depths) < 3:
        raise TooFewError(f"too few depths: {len(depths)}, a depth between others needs 3")
    low, high = depths[0], depths[-1]
    shallow, deep = nets.bias[nets.depth == low], nets.bias[nets.depth == high]
    between = nets.bias[(nets.depth > low) & (nets.depth < high)]
    chances = [smaller(between.tolist(), outer.tolist()) for outer in (shallow, deep)]
    return Outcome(
        max(chances) < LEVEL,
        f"mean bias {shallow.mean():.3f} at depth {low}, {between.mean():.3f} between, {deep.mean():.3f} at depth {high}; "
        f"{chance(chances[0])} against depth {low}, {chance(chances[1])} against depth {high}; smallest cell {smallest_cell(nets)}",
    )


def smallest_cell(nets: np.recarray) -> str:
    """The configuration of the smallest mean bias, as text."""
    cells = np.unique(np.stack([nets.depth, nets.parameters], axis=1), axis=0)
    means = [
        nets.bias[(nets.depth == depth) & (nets.parameters == count)].mean()
        for depth, count in cells
    ]
    depth, count = cells[int(np.argmin(means))]
    return f"{min(means):.3f} with {depth} hidden {'layer' if depth == 1 else 'layers'} and {count:,} parameters"


def correlation(results: Results, reading: str, *, quantity: Quantity) -> Outcome:
    """Pearson's correlation with the test accuracy is negative, as stored."""
    stored = results["configurations"]["correlations"].get(reading, {})
    if MAIN_WINDOW not in stored:
        raise TooFewError(
            f"too few networks with {SHALLOWEST} to {DEEPEST} hidden layers: no correlation is stored"
        )
    rho, p = (stored[MAIN_WINDOW][quantity][key] for key in ("rho", "p"))
    ours = f"ρ = {rho:.2f}, {chance(p)}"
    if OTHER_WINDOW in stored:
        beside = stored[OTHER_WINDOW][quantity]
        ours += f"; with 2 to 6 hidden layers ρ = {beside['rho']:.2f}, {chance(beside['p'])}"
    others = [one["correlations"][reading][quantity]["rho"] for one in other_draws(results)]
    if others:
        ours += (
            f"; on {len(others)} other draws of the data ρ = {min(others):.2f} to {max(others):.2f}"
        )
    return Outcome(rho < 0 and p < CORRELATION_LEVEL, ours)


def other_draws(results: Results) -> list[dict[str, Any]]:
    """Results of other draws of the data; none if only they come from a quick run."""
    full = not results["configurations"]["quick"]
    if "draws" not in results or (results["draws"]["quick"] and full):
        return []
    return results["draws"]["draws"]


def not_strict(results: Results, reading: str) -> Outcome:
    """Two networks of equal accuracy have different variances."""
    nets = networks(results, reading)
    order = np.argsort(nets.variance)
    accuracy, variance = nets.accuracy[order], nets.variance[order]
    alike = (
        (abs(accuracy[:, None] - accuracy) <= EQUAL_ACCURACY)
        & (variance[:, None] > 0)
        & ~np.eye(len(order), dtype=bool)
    )
    if not alike.any():
        raise TooFewError(f"no two networks have accuracies within {EQUAL_ACCURACY:g}")
    factors = variance / np.where(alike, variance[:, None], np.inf)
    small, large = np.unravel_index(int(factors.argmax()), factors.shape)
    return Outcome(
        bool(factors.max() > DIFFERENT_VARIANCE),
        f"variance {two_digits(variance[small])} and {two_digits(variance[large])}, a factor of {factors.max():.1f}, "
        f"at accuracy {accuracy[small]:.4f} and {accuracy[large]:.4f}",
    )


CONFIGURATION_CLAIMS = (
    Claim(
        name="configurations-parameters-variance",
        statement="Networks with more parameters have a smaller symmetry variance.",
        section="5.3",
        study="configurations",
        paper="consistently smaller",
        check=partial(more_parameters, quantity="variance"),
    ),
    Claim(
        name="configurations-parameters-bias",
        statement="Networks with more parameters have a smaller symmetry bias.",
        section="5.3",
        study="configurations",
        paper="higher with fewer parameters",
        check=partial(more_parameters, quantity="bias"),
    ),
    Claim(
        name="configurations-depth-variance",
        statement=f"Of sufficiently large networks (here {SUFFICIENT:,} parameters or more) with equally many parameters, "
        "the deeper ones have the smaller symmetry variance.",
        section="5.3",
        study="configurations",
        paper="deeper networks are more invariant",
        check=deeper,
    ),
    Claim(
        name="configurations-balanced-bias",
        statement="Networks of balanced width and depth have the smallest symmetry bias.",
        section="5.3",
        study="configurations",
        paper="balanced width and depth",
        check=balanced,
    ),
    Claim(
        name="configurations-correlation-variance",
        statement="More accurate networks tend to have a smaller symmetry variance.",
        section="5.3",
        study="configurations",
        paper="ρ = -0.49, p < 1e-4",
        check=partial(correlation, quantity="variance"),
        beside=("draws",),
    ),
    Claim(
        name="configurations-correlation-bias",
        statement="More accurate networks tend to have a smaller symmetry bias.",
        section="5.3",
        study="configurations",
        paper="ρ = -0.31, p < 1e-4",
        check=partial(correlation, quantity="bias"),
        beside=("draws",),
    ),
    Claim(
        name="configurations-not-strict",
        statement="Networks that perform equally well may have learned the symmetry differently.",
        section="5.3",
        study="configurations",
        paper="the correlation is not strict",
        check=not_strict,
    ),
)
"""In the paper's order."""
