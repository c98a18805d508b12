"""Claims of section 5.2 and of the appendix on CIFAR-10: networks that saw turned pictures learn the rotation."""

from functools import partial
from statistics import mean
from typing import Any

from liegg.studies.claims.record import Claim, Outcome, Results, TooFewError
from liegg.studies.claims.statistics import chance, short, smaller

RETRIEVED, OTHERS = 0.2, 0.9
"""The rotation is retrieved if the smallest direction has a bias below the first number and all others have one above the second;
bias is the sine of the angle to the rotation."""

LESS_LEVEL = 0.05
"""Largest p at which the deep networks are said to be less biased."""


def retrieved(networks: list[dict[str, Any]], reading: str) -> Outcome:
    """The smallest direction is the rotation and no other is, in every network."""
    rows = [net["readings"][reading]["bias"] for net in networks]
    if not rows:
        raise TooFewError("no networks")
    first, others = [row[0] for row in rows], [bias for row in rows for bias in row[1:]]
    found = sum(row[0] < RETRIEVED and min(row[1:]) > OTHERS for row in rows)
    return Outcome(
        found == len(rows),
        f"in {found} of {len(rows)} networks; bias {mean(first):.3f} on the mean, at most {max(first):.3f}; "
        f"the others at least {min(others):.3f}",
    )


def rotmnist(results: Results, reading: str, *, kind: str) -> Outcome:
    """The rotation, retrieved from the networks of a kind."""
    return retrieved(results["rotmnist"]["networks"][kind], reading)


def cifar10(results: Results, reading: str) -> Outcome:
    """The rotation, retrieved from networks that saw CIFAR-10."""
    if results["cifar10"]["data"] != "CIFAR-10":
        raise TooFewError(f"the run saw {results['cifar10']['data']}, not CIFAR-10")
    return retrieved(results["cifar10"]["networks"], reading)


def less_biased(results: Results, reading: str) -> Outcome:
    """Mean bias of the deep networks below that of the shallow ones, and not by chance."""
    biases = {
        kind: [net["readings"][reading]["bias"][0] for net in networks]
        for kind, networks in results["rotmnist"]["networks"].items()
    }
    p = smaller(biases["deep"], biases["shallow"], level=LESS_LEVEL)
    deep, shallow = mean(biases["deep"]), mean(biases["shallow"])
    ours = f"{deep:.3f} deep, {shallow:.3f} shallow, {chance(p)}"
    fewer = [biases.get(kind) for kind in ("deep, 5 hidden layers", "shallow, 1 hidden layer")]
    if all(fewer):
        ours += "; with one hidden layer less " + ", ".join(f"{mean(values):.3f}" for values in fewer if values)
    return Outcome(deep < shallow and p < LESS_LEVEL, ours)


def not_exact(results: Results, reading: str) -> Outcome:
    """Smallest over largest value: in every image network larger than in any of the O(5) ones."""
    digits = [net["readings"][reading]["spectrum"] for kind in ("shallow", "deep") for net in results["rotmnist"]["networks"][kind]]
    vectors = [net["spectrum"] for net in results["o5"]["networks"].get(str(results["o5"]["main_size"]), [])]
    if not (digits and vectors):
        raise TooFewError("no networks to compare")
    lowest = min(values[0] / values[-1] for values in digits)
    highest = max(values[0] / values[-1] for values in vectors)
    return Outcome(
        lowest > highest,
        f"smallest over largest value at least {short(lowest)} here, at most {short(highest)} in the O(5) networks",
    )


CLAIMS = (
    Claim(
        "rotmnist-shallow",
        "The rotation is retrieved from a shallow network trained on rotated MNIST.",
        "5.2", "rotmnist", "the bias goes to zero", partial(rotmnist, kind="shallow"),
    ),
    Claim(
        "rotmnist-deep",
        "The rotation is retrieved from a deep network trained on rotated MNIST.",
        "5.2", "rotmnist", "the bias goes to zero", partial(rotmnist, kind="deep"),
    ),
    Claim(
        "rotmnist-less-biased",
        "The deep network's symmetry is closer to the rotation than the shallow one's.",
        "5.2", "rotmnist", "the shallow network has the higher bias", less_biased,
    ),
    Claim(
        "rotmnist-not-exact",
        "The spectrum vanishes less than for the O(5) regression: the networks do not become fully invariant.",
        "5.2", "rotmnist", "vanishes more slowly than for O(5)", not_exact, needs=("o5",),
    ),
    Claim(
        "cifar10-rotation",
        "The rotation is retrieved from a network trained on turned CIFAR-10 pictures.",
        "A.3.3", "cifar10", "the bias goes to zero", cifar10,
    ),
)  # fmt: skip
"""In the paper's order."""
