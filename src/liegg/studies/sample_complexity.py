"""The paper's appendix on sample complexity: from how few samples can the symmetries of a trained network be extracted?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.algebra.catalog import so
from liegg.studies import datasets, ensemble, images, o5, rotmnist
from liegg.studies.ensemble.order import permutations
from liegg.studies.reading import read_stack

FRACTIONS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
SEEDS = tuple(range(1, 9))
FEWEST = 5
"""Samples below which a fraction is left out."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any] | None:
    """The numbers of the study, for O(5) regression and for the deep network of rotated MNIST.

    Args:
        how: where to train, and what to keep on the way.
        quick: two seeds, a small training set, few epochs and the digits that come with the package; needs no data set.

    Returns:
        The results to be stored; None in every process but the first.
    """
    seeds = SEEDS[:2] if quick else SEEDS
    vectors = _o5(_part(how, "o5"), seeds, 1_000 if quick else o5.MAIN)
    digits = datasets.rotated_mnist_sample() if quick else datasets.rotated_mnist()
    pictures = _rotmnist(_part(how, "rotmnist"), seeds, digits, 20 if quick else rotmnist.EPOCHS)
    if vectors is None or pictures is None:
        return None
    return {
        "seeds": list(seeds),
        "o5": {"samples": 1_000 if quick else o5.MAIN, "networks": vectors},
        "rotmnist": {"images": len(digits.train), "networks": pictures},
    }


def _part(how: ensemble.Work, name: str) -> ensemble.Work:
    """The same run with a folder of its own for one of its two outer_factors."""
    return replace(how, folder=None if how.folder is None else how.folder / name)


def _o5(how: ensemble.Work, seeds: Sequence[int], samples: int) -> list[Any] | None:
    members = o5.members([samples], seeds)

    def describe(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        inputs = [o5.samples_of(members[place]).to(how.device) for place in places]
        return [
            {"fractions": of_vectors(trained.stack.network(i), x)} for i, x in enumerate(inputs)
        ]

    rows = ensemble.work(
        members,
        lambda places: o5.regression([members[place] for place in places], how.device),
        describe,
        o5.SCHEDULE,
        how,
    )
    return None if rows is None else [row["fractions"] for row in rows]


def _rotmnist(
    how: ensemble.Work, seeds: Sequence[int], digits: datasets.RotatedMnist, epochs: int
) -> list[Any] | None:
    pictures = images.smooth_digits(digits, how.device)
    members = [
        ensemble.Member(rotmnist.NETWORKS["deep"], seed, len(digits.train), epochs)
        for seed in seeds
    ]

    def describe(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        return [
            {
                "fractions": of_images(
                    trained.stack.single(i), pictures.train[0], members[place].seed
                )
            }
            for i, place in enumerate(places)
        ]

    rows = ensemble.work(
        members, lambda _: images.classification(pictures), describe, images.SCHEDULE, how
    )
    return None if rows is None else [row["fractions"] for row in rows]


def of_vectors(network: nn.Module, inputs: Float[Tensor, "n 10"]) -> list[dict[str, Any]]:
    """Mean variance and bias of the last ten directions from the first so many samples, for each fraction."""
    algebra, rows = so(5), []
    for fraction, count in parts_of(len(inputs)):
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


def of_images(
    stack: ensemble.Stack, pictures: Float[Tensor, "n h w"], seed: int
) -> list[dict[str, Any]]:
    """Variance of the smallest direction and its bias from so many images in a random order of the seed, for each fraction."""
    one = torch.tensor([seed], device=pictures.device)
    order = permutations(
        one, torch.zeros_like(one), torch.full_like(one, len(pictures)), len(pictures)
    )[0]
    rows = []
    for fraction, count in parts_of(len(pictures)):
        found = read_stack(
            stack, pictures[order[:count]].flatten(1), tuple(pictures.shape[1:]), images.READINGS
        )[0]
        readings = {
            name: {"variance": sym.variance, "bias": float(sym.bias(so(2))[0])}
            for name, sym in found.items()
        }
        rows.append({"fraction": fraction, "samples": count, "readings": readings})
    return rows


def parts_of(samples: int) -> list[tuple[float, int]]:
    """Fractions with the number of samples that each is.

    >>> parts_of(200)
    [(0.025, 5), (0.05, 10), (0.1, 20), (0.25, 50), (0.5, 100), (1.0, 200)]
    """
    return [
        (fraction, round(fraction * samples))
        for fraction in FRACTIONS
        if round(fraction * samples) >= FEWEST
    ]


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figures `sample-complexity-o5` and `sample-complexity-rotmnist` as PNG and SVG."""
    from liegg.studies.sample_figures import draw

    return draw(results, out)


def table(results: dict[str, Any]) -> str:
    """Means over networks for every fraction, to be read on a terminal."""
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
