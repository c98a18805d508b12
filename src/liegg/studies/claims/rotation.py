"""Claims of section 5.2 and appendix A.3.3: networks trained on rotated images learn the rotation."""

from functools import partial
from statistics import mean
from typing import Any

from liegg.studies.claims.record import RETRIEVED, Claim, Outcome, Results, TooFewError
from liegg.studies.claims.statistics import LEVEL, chance, smaller, two_digits


def retrieved(
    networks: list[dict[str, Any]], untrained: list[dict[str, Any]], reading: str
) -> Outcome:
    """The smallest direction is close to the rotation in every network, and closer than before training.

    The images alone may put the smallest direction near the rotation for any network, hence the
    second condition. The other directions are not evidence, as they are orthogonal to the first.
    """
    biases, before = smallest(networks, reading), smallest(untrained, reading)
    if not biases:
        raise TooFewError("no networks")
    p = smaller(biases, before)
    found = sum(bias < RETRIEVED for bias in biases)
    return Outcome(
        found == len(biases) and p < LEVEL,
        f"in {found} of {len(biases)} networks; bias {mean(biases):.3f} on the mean, at most {max(biases):.3f}; "
        f"before training {mean(before):.3f}, {chance(p)}",
    )


def smallest(networks: list[dict[str, Any]], reading: str) -> list[float]:
    """Bias of the smallest direction of each network."""
    return [net["readings"][reading]["bias"][0] for net in networks]


def rotmnist(results: Results, reading: str, *, kind: str) -> Outcome:
    """The rotation, retrieved from the networks of a kind."""
    study = results["rotmnist"]
    return retrieved(study["networks"][kind], study["untrained"][kind], reading)


def cifar10(results: Results, reading: str) -> Outcome:
    """The rotation, retrieved from networks trained on CIFAR-10."""
    study = results["cifar10"]
    if study["data"] != "CIFAR-10":
        raise TooFewError(f"the run saw {study['data']}, not CIFAR-10")
    return retrieved(study["networks"], study["untrained"], reading)


def less_biased(results: Results, reading: str) -> Outcome:
    """Whether the mean bias of the deep networks is significantly below that of the shallow ones."""
    biases = {
        kind: smallest(networks, reading)
        for kind, networks in results["rotmnist"]["networks"].items()
    }
    p = smaller(biases["deep"], biases["shallow"])
    deep, shallow = mean(biases["deep"]), mean(biases["shallow"])
    ours = f"{deep:.3f} deep, {shallow:.3f} shallow, {chance(p)}"
    fewer = [biases.get(kind) for kind in ("deep, 5 hidden layers", "shallow, 1 hidden layer")]
    if all(fewer):
        ours += "; with one hidden layer less " + ", ".join(
            f"{mean(values):.3f}" for values in fewer if values
        )
    return Outcome(deep < shallow and p < LEVEL, ours)


def not_exact(results: Results, reading: str) -> Outcome:
    """Whether smallest over largest value is larger in all image networks than in all O(5) ones."""
    digits = [
        net["readings"][reading]["spectrum"]
        for kind in ("shallow", "deep")
        for net in results["rotmnist"]["networks"][kind]
    ]
    vectors = [
        net["spectrum"]
        for net in results["o5"]["networks"].get(str(results["o5"]["main_size"]), [])
    ]
    if not (digits and vectors):
        raise TooFewError("no networks to compare")
    lowest = min(values[0] / values[-1] for values in digits)
    highest = max(values[0] / values[-1] for values in vectors)
    return Outcome(
        lowest > highest,
        f"smallest over largest value at least {two_digits(lowest)} here, at most {two_digits(highest)} in the O(5) networks",
    )


ROTATION_CLAIMS = (
    Claim(
        name="rotmnist-shallow",
        statement="The rotation is retrieved from a shallow network trained on rotated MNIST.",
        section="5.2",
        study="rotmnist",
        paper="the bias goes to zero",
        check=partial(rotmnist, kind="shallow"),
    ),
    Claim(
        name="rotmnist-deep",
        statement="The rotation is retrieved from a deep network trained on rotated MNIST.",
        section="5.2",
        study="rotmnist",
        paper="the bias goes to zero",
        check=partial(rotmnist, kind="deep"),
    ),
    Claim(
        name="rotmnist-less-biased",
        statement="The deep network's symmetry is closer to the rotation than the shallow one's.",
        section="5.2",
        study="rotmnist",
        paper="the shallow network has the higher bias",
        check=less_biased,
    ),
    Claim(
        name="rotmnist-not-exact",
        statement="The spectrum vanishes less than for the O(5) regression: the networks do not become fully invariant.",
        section="5.2",
        study="rotmnist",
        paper="vanishes more slowly than for O(5)",
        check=not_exact,
        needs=("o5",),
    ),
    Claim(
        name="cifar10-rotation",
        statement="The rotation is retrieved from a network trained on rotated CIFAR-10 pictures.",
        section="A.3.3",
        study="cifar10",
        paper="the bias goes to zero",
        check=cifar10,
    ),
)
"""In the paper's order."""
