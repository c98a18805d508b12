"""Claims of appendix A.2: how many samples the extraction needs."""

from statistics import mean
from typing import Any

from liegg.studies.claims.record import ONE, Claim, Outcome, Results, TooFewError
from liegg.studies.claims.statistics import two_digits

O5_SHARE, ROTMNIST_SHARE = 0.0025, 0.05
"""Shares of the samples that suffice according to the paper."""

SUFFICIENT_FACTOR, SUFFICIENT_SLACK = 1.5, 0.005
"""A share suffices if the mean bias is at most the factor times that of all samples, plus the slack.

For O(5) the variance, too, may differ from that of all samples by at most the factor; for rotated
MNIST the paper speaks of the bias only.
"""

Rows = dict[float, list[dict[str, Any]]]
"""Results for each share of the samples, one row per network."""


def o5(results: Results, reading: str) -> Outcome:
    """Mean variance and bias of the ten from 0.25 % of the samples against those from all."""
    rows = by_share(results["sample-complexity"]["o5"]["networks"], O5_SHARE)
    variance = {
        share: mean(row["mean_variance_of_ten"] for row in found) for share, found in rows.items()
    }
    bias = {share: mean(row["mean_bias_of_ten"] for row in found) for share, found in rows.items()}
    enough = {
        share: fine
        and variance[1.0] / SUFFICIENT_FACTOR
        <= variance[share]
        <= SUFFICIENT_FACTOR * variance[1.0]
        for share, fine in precise(bias).items()
    }
    return Outcome(
        first_enough(enough) <= O5_SHARE,
        f"{samples(rows, O5_SHARE)}: variance {two_digits(variance[O5_SHARE])}, bias {bias[O5_SHARE]:.3f}; "
        f"all: variance {two_digits(variance[1.0])}, bias {bias[1.0]:.3f}; enough from {samples(rows, first_enough(enough))}",
    )


def rotmnist(results: Results, reading: str) -> Outcome:
    """The networks' mean bias from 5 % of the images against that from all."""
    rows = by_share(results["sample-complexity"]["rotmnist"]["networks"], ROTMNIST_SHARE)
    bias = {
        share: mean(row["readings"][reading]["bias"] for row in found)
        for share, found in rows.items()
    }
    enough = precise(bias)
    return Outcome(
        first_enough(enough) <= ROTMNIST_SHARE,
        f"{samples(rows, ROTMNIST_SHARE)}: bias {bias[ROTMNIST_SHARE]:.3f} on the mean; all: {bias[1.0]:.3f}; enough from "
        f"{samples(rows, first_enough(enough))}",
    )


def precise(bias: dict[float, float]) -> dict[float, bool]:
    """For each share, whether its mean bias is at most about that of all samples.

    >>> precise({0.01: 0.07, 0.05: 0.06, 1.0: 0.04})
    {0.01: False, 0.05: True, 1.0: True}
    """
    return {
        share: value <= SUFFICIENT_FACTOR * bias[1.0] + SUFFICIENT_SLACK
        for share, value in bias.items()
    }


def by_share(networks: list[list[dict[str, Any]]], needed: float) -> Rows:
    """Rows by share; raises `TooFewError` without all samples or without the required share."""
    rows: Rows = {}
    for row in (row for network in networks for row in network):
        rows.setdefault(row["fraction"], []).append(row)
    for share in (needed, 1.0):
        if len(rows.get(share, [])) < max(len(networks), 1):
            raise TooFewError(f"the run did not take {100 * share:g} % of the samples")
    return rows


def first_enough(enough: dict[float, bool]) -> float:
    """Smallest share such that it and all larger ones suffice.

    >>> first_enough({0.01: True, 0.05: False, 0.1: True, 1.0: True})
    0.1
    """
    return min(
        share for share in enough if all(fine for other, fine in enough.items() if other >= share)
    )


def samples(rows: Rows, share: float) -> str:
    """A share as text.

    >>> samples({0.0025: [{"samples": 25}]}, 0.0025)
    '0.25 % (25 samples)'
    """
    return f"{100 * share:g} % ({rows[share][0]['samples']:,} samples)"


SAMPLE_CLAIMS = (
    Claim(
        name="samples-o5",
        statement="For the O(5) regression 0.25 % of the training samples give the symmetry as precisely as all of them.",
        section="A.2",
        study="sample-complexity",
        paper="0.25 % of the samples suffice",
        check=o5,
        readings=(ONE,),
    ),
    Claim(
        name="samples-rotmnist",
        statement="For rotated MNIST 5 % of the training images give a precise symmetry bias.",
        section="A.2",
        study="sample-complexity",
        paper="5 % of the images suffice",
        check=rotmnist,
    ),
)
"""In the paper's order."""
