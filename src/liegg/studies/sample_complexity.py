"""The paper's appendix A.2: how many samples does the extraction of the symmetries need?"""

from statistics import mean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.algebra.catalog import so
from liegg.studies import ensemble, images, o5, rotmnist
from liegg.studies.ensemble.training import permutations

FRACTIONS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
MINIMUM_SAMPLES = 5
"""Fractions with fewer samples are left out."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results for O(5) regression and for the deep network of rotated MNIST.

    Args:
        how: where the networks are trained.
        quick: two seeds, a small training set, few epochs and the digits of the package.

    Returns:
        The results to be stored.
    """
    seeds = images.SEEDS[:2] if quick else images.SEEDS
    samples = 1_000 if quick else o5.MAIN
    data = images.smoothed(images.digits(quick), how.device)
    epochs = images.QUICK_EPOCHS if quick else images.EPOCHS
    deep = images.members([rotmnist.NETWORKS["deep"]], seeds, data, epochs)

    def describe(member: ensemble.Member, network: nn.Module) -> dict[str, Any]:
        return {"fractions": of_vectors(network, o5.samples_of(member).to(how.device))}

    def describe_images(some: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        return [
            {"fractions": of_images(trained.stack.single(i), data.train.images, member.seed)}
            for i, member in enumerate(some)
        ]

    vectors = o5.train_all(o5.members([samples], seeds), describe, how.part("o5"))
    digits = images.train_all(deep, data, describe_images, how.part("rotmnist"))
    return {
        "seeds": list(seeds),
        "o5": {"samples": samples, "networks": [row["fractions"] for row in vectors]},
        "rotmnist": {"images": len(data.train), "networks": [row["fractions"] for row in digits]},
    }


def of_vectors(network: nn.Module, inputs: Float[Tensor, "n 10"]) -> images.Rows:
    """Mean variance and bias of the last ten directions from the first samples, per fraction."""
    algebra, rows = so(5), []
    for fraction, count in counts(len(inputs)):
        sym = o5.extract(network, inputs[:count])
        rows.append(
            {
                "fraction": fraction,
                "samples": count,
                "mean_variance_of_ten": float(sym.spectrum.values[:10].mean()),
                "mean_bias_of_ten": float(sym.bias(algebra)[:10].mean()),
                "nullity": sym.nullity,
            }
        )
    return rows


def of_images(stack: ensemble.Stack, digits: Float[Tensor, "n h w"], seed: int) -> images.Rows:
    """Variance and bias of the smallest direction from images in random order, per fraction."""
    order = permutations(torch.tensor([seed], device=digits.device), 0, len(digits))[0]
    rows = []
    for fraction, count in counts(len(digits)):
        some = digits[order[:count]].flatten(1)
        symmetries = images.read_stack(stack, some, tuple(digits.shape[1:]), images.READINGS)[0]
        readings = {
            name: {"variance": float(sym.spectrum.values[0]), "bias": float(sym.bias(so(2))[0])}
            for name, sym in symmetries.items()
        }
        rows.append({"fraction": fraction, "samples": count, "readings": readings})
    return rows


def counts(samples: int) -> list[tuple[float, int]]:
    """Fractions with their numbers of samples.

    >>> counts(200)
    [(0.025, 5), (0.05, 10), (0.1, 20), (0.25, 50), (0.5, 100), (1.0, 200)]
    """
    rounded = ((fraction, round(fraction * samples)) for fraction in FRACTIONS)
    return [(fraction, count) for fraction, count in rounded if count >= MINIMUM_SAMPLES]


def table(results: dict[str, Any]) -> str:
    """Means over networks for every fraction, as text for a terminal."""
    lines = [
        f"O(5), {results['o5']['samples']:,} samples",
        "   share   samples   variance of ten   bias of ten   ten found",
    ]
    for rows in zip(*results["o5"]["networks"], strict=True):
        variance, bias = (
            mean(row[key] for row in rows) for key in ("mean_variance_of_ten", "mean_bias_of_ten")
        )
        found = f"{sum(row['nullity'] == 10 for row in rows)} of {len(rows)}"
        lines.append(
            f"{100 * rows[0]['fraction']:>6g} %   {rows[0]['samples']:>7,}   {variance:>15.2e}   {bias:>11.4f}   {found:>9}"
        )
    lines += [
        "",
        f"Rotated MNIST, {results['rotmnist']['images']:,} images",
        "   share    images   reading       variance     bias",
    ]
    for rows in zip(*results["rotmnist"]["networks"], strict=True):
        for reading in ("paper, sum", "paper, each"):
            variance, bias = (
                mean(row["readings"][reading][key] for row in rows) for key in ("variance", "bias")
            )
            lines.append(
                f"{100 * rows[0]['fraction']:>6g} %   {rows[0]['samples']:>7,}   {reading:<11}   {variance:>8.2e}   {bias:>6.3f}"
            )
    return "\n".join(lines)
