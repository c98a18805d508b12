"""Claims of section 5.4: symmetries layer by layer, for different training regimes."""

from statistics import mean
from typing import Any

from liegg.studies.claims.record import Claim, Outcome, Results, TooFewError
from liegg.studies.claims.statistics import LEVEL, chance, smaller, two_digits

PLAIN, SUB, TUNED = "MLP-7", "sub MLP-3", ("MLP-7[F]", "MLP-7[L]")
"""Regimes: plain training, the sub-network by itself, and those that begin with it."""

CLOSE_FACTOR = 2.0
"""Means that differ by less than this factor are close.

The paper gives no number; earlier layers differ by a factor of up to ten.
"""

QUANTITIES = ("variance", "bias")


def values(results: Results, regime: str, reading: str, quantity: str) -> list[list[float]]:
    """A quantity of every network of a regime, layer by layer, the logits last."""
    networks: list[dict[str, Any]] = results["layerwise"]["networks"][regime]
    if not networks:
        raise TooFewError(f"no networks of {regime}")
    return [[layer[quantity] for layer in net["readings"][reading]] for net in networks]


def agree_at_the_end(results: Results, reading: str) -> Outcome:
    """Ratio of the largest to the smallest mean of the three complete networks in the last layers."""
    factors = {}
    for quantity in QUANTITIES:
        found = [values(results, regime, reading, quantity) for regime in (PLAIN, *TUNED)]
        means = [[mean(layer) for layer in zip(*networks, strict=True)] for networks in found]
        factors[quantity] = [max(layer) / min(layer) for layer in zip(*means, strict=True)]
    words = "; ".join(
        f"{quantity}: a factor of {found[-2]:.1f} before the logits, {found[-1]:.1f} at them, up to {max(found[:-2]):.1f} earlier"
        for quantity, found in factors.items()
    )
    return Outcome(
        all(factor < CLOSE_FACTOR for found in factors.values() for factor in found[-2:]), words
    )


def sub_network(results: Results, reading: str) -> Outcome:
    """The sub-network's last hidden layer has smaller variance and bias than that layer of MLP-7."""
    last = len(values(results, SUB, reading, "variance")[0]) - 2
    return _below(results, reading, (SUB,), last, end=last + 1)


def training(results: Results, reading: str) -> Outcome:
    """Fine-tuned and layer-wise training against plain training, mean over the inner layers."""
    return _below(
        results, reading, TUNED, 1, end=len(values(results, PLAIN, reading, "variance")[0]) - 2
    )


def _below(
    results: Results, reading: str, regimes: tuple[str, ...], first: int, *, end: int
) -> Outcome:
    """Whether regimes have significantly smaller variance and bias than plain training in layers."""
    holds, words = True, []
    for quantity in QUANTITIES:
        plain, *others = (
            [mean(layers[first:end]) for layers in values(results, regime, reading, quantity)]
            for regime in (PLAIN, *regimes)
        )
        chances = [smaller(other, plain) for other in others]
        holds = holds and max(chances) < LEVEL
        parts = [
            f"{two_digits(mean(other))} in {regime} ({chance(p)})"
            for other, regime, p in zip(others, regimes, chances, strict=True)
        ]
        words.append(f"{quantity} {', '.join(parts)}, {two_digits(mean(plain))} in {PLAIN}")
    where = (
        f"after hidden layer {end}" if end == first + 1 else f"hidden layers {first + 1} to {end}"
    )
    return Outcome(holds, f"{where}: {'; '.join(words)}")


LAYER_CLAIMS = (
    Claim(
        name="layers-agree-at-the-end",
        statement="In the last two layers variance and bias come close to each other, however the network was trained.",
        section="5.4",
        study="layerwise",
        paper="approximately the same",
        check=agree_at_the_end,
    ),
    Claim(
        name="layers-sub-network",
        statement="Trained by itself, a sub-network learns a more accurate symmetry and is more invariant than as part of "
        "the deep network.",
        section="5.4",
        study="layerwise",
        paper="smaller bias and variance",
        check=sub_network,
    ),
    Claim(
        name="layers-training",
        statement="Fine-tuning and layer-wise training give intermediate layers a smaller bias and variance than plain training.",
        section="5.4",
        study="layerwise",
        paper="smaller bias and variance",
        check=training,
    ),
)
"""In the paper's order."""
