"""The paper's section 5.3: how do width, depth and parameters affect the learned rotation?"""

from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np
from jaxtyping import Float

from liegg.studies import datasets, ensemble, images
from liegg.studies.ensemble.members import width_for
from liegg.studies.provenance import rounded

PARAMETERS = tuple(range(40_000, 200_001, 20_000))
HIDDEN_LAYERS = (1, 2, 3, 4, 5, 6)
"""Numbers of hidden layers.

The study is about 1 to 5. The paper's formula counts the matrices between hidden layers, of which its
1 to 5 make 2 to 6 hidden layers; only then are its own shallow and deep networks among them. Both
windows are evaluated.
"""

WINDOWS = {"1-5": (1, 5), "2-6": (2, 6)}
"""Both ways to count, the first being that of the study."""

MAIN_WINDOW, OTHER_WINDOW = WINDOWS
SHALLOWEST, DEEPEST = WINDOWS[MAIN_WINDOW]
"""Hidden layers of the main window, whose correlations decide."""

QUICK_EPOCHS = 40


def grid(
    counts: Sequence[int], depths: Sequence[int], seeds: Sequence[int]
) -> list[dict[str, int]]:
    """Parameters, hidden layers, width and seed of every network.

    Args:
        counts: requested numbers of parameters.
        depths: numbers of hidden layers.
        seeds: one network of each configuration per seed.
    """
    return [
        {
            "parameters": count,
            "hidden_layers": depth,
            "width": width_for(count, depth, 784, 10),
            "seed": seed,
        }
        for depth in depths
        for count in counts
        for seed in seeds
    ]


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study.

    Args:
        how: where the networks are trained.
        quick: three parameter counts and depths, two seeds, few epochs, the shipped digits.

    Returns:
        The results to be stored.
    """
    cells = (
        grid((40_000, 120_000, 200_000), (1, 3, 5), images.SEEDS[:2])
        if quick
        else grid(PARAMETERS, HIDDEN_LAYERS, images.SEEDS)
    )
    digits = images.digits(quick)
    epochs = QUICK_EPOCHS if quick else images.EPOCHS
    rows = train_all(how, cells, digits, epochs)
    axes = {key: sorted({cell[key] for cell in cells}) for key in ("parameters", "hidden_layers")}
    return {
        "seeds": sorted({cell["seed"] for cell in cells}),
        "epochs": epochs,
        "images": len(digits.train),
        **axes,
        "networks": rows,
        "correlations": correlations(rows),
    }


def train_all(
    how: ensemble.Work, cells: list[dict[str, int]], digits: datasets.ImageSets, epochs: int
) -> images.Rows:
    """Train the networks of a grid and describe each."""
    data = images.smoothed(digits, how.device)
    members = {
        ensemble.Member(
            (784, *[cell["width"]] * cell["hidden_layers"], 10),
            cell["seed"],
            len(digits.train),
            epochs,
        ): cell
        for cell in cells
    }

    def describe(some: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        rows = images.describe_all(trained.stack, data.train.images, data.test)
        return [
            members[member] | {"true_parameters": member.parameters} | shortened(row) | best
            for member, row, best in zip(some, rows, images.best_epochs(trained), strict=True)
        ]

    return images.train_all(list(members), data, describe, how)


def shortened(row: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a network that the study needs, with six digits."""
    keys = ("nullity", "spectrum", "variance", "bias", "rotation_defect")
    readings = {
        name: rounded({key: numbers[key] for key in keys}, 6)
        for name, numbers in row["readings"].items()
    }
    return row | {"readings": readings}


def correlations(networks: images.Rows) -> dict[str, Any]:
    """Correlation of variance and bias with the test accuracy, for every reading and window.

    Args:
        networks: rows of the study.

    Returns:
        By reading, window and quantity the result of `correlation`; no entry for a window of fewer
        than three networks.
    """
    found: dict[str, Any] = {reading: {} for reading in networks[0]["readings"]}
    for window, (low, high) in WINDOWS.items():
        inside = [net for net in networks if low <= net["hidden_layers"] <= high]
        for reading in found if len(inside) >= 3 else ():
            found[reading][window] = {
                quantity: correlation([value_of(net, quantity, reading) for net in inside], inside)
                for quantity in ("variance", "bias")
            }
    return found


def correlation(values: Sequence[float], networks: images.Rows) -> dict[str, float]:
    """Pearson's correlation of a quantity with the test accuracy.

    Args:
        values: the quantity, one per network.
        networks: rows of the study.

    Returns:
        `rho` over all networks with its two-sided `p`; `between`, over the configurations' means;
        `within`, over the deviations from these means. Zero, and p one, where nothing varies.
    """
    pairs = np.array([values, [net["test_accuracy"] for net in networks]])
    cells = [(net["hidden_layers"], net["parameters"]) for net in networks]
    which = np.array(
        [[cell == other for other in cells] for cell in sorted(set(cells))], dtype=np.float64
    )
    means = pairs @ which.T / which.sum(1)
    rho, p = pearson(pairs)
    return {
        "rho": rho,
        "p": p,
        "between": pearson(means)[0],
        "within": pearson(pairs - means @ which)[0],
    }


def pearson(pairs: np.ndarray) -> tuple[float, float]:
    """Pearson's correlation of two rows and its two-sided p; 0 and 1 if a row does not vary."""
    from scipy.stats import pearsonr

    if pairs.shape[1] < 2 or np.any(np.ptp(pairs, axis=1) <= 1e-12 * np.abs(pairs).max(axis=1)):
        return 0.0, 1.0
    rho, p = np.asarray(pearsonr(*pairs), dtype=np.float64).tolist()
    return rho, p


def cell_means(
    results: dict[str, Any], quantity: str, reading: str
) -> Float[np.ndarray, "depths counts"]:
    """Mean over the seeds for each depth and requested number of parameters."""
    return np.array(
        [
            [
                mean(
                    value_of(net, quantity, reading)
                    for net in results["networks"]
                    if (net["hidden_layers"], net["parameters"]) == (depth, count)
                )
                for count in results["parameters"]
            ]
            for depth in results["hidden_layers"]
        ]
    )


def value_of(net: dict[str, Any], quantity: str, reading: str) -> float:
    """Test accuracy, or variance or bias of the most invariant direction."""
    if quantity == "accuracy":
        return net["test_accuracy"]
    found = net["readings"][reading][quantity]
    return found[0] if quantity == "bias" else found


def table(results: dict[str, Any]) -> str:
    """Means over seeds for the paper's readings, and the correlations, as text for a terminal."""
    lines = []
    for reading in ("paper, sum", "paper, each"):
        lines.append(f"{reading}: variance / bias, down hidden layers, across parameters")
        lines.append("   " + "".join(f"{count // 1000:>15}k" for count in results["parameters"]))
        pairs = (cell_means(results, quantity, reading) for quantity in ("variance", "bias"))
        for depth, *row in zip(results["hidden_layers"], *pairs, strict=True):
            cells = [f"{variance:.1e} / {bias:.3f}" for variance, bias in zip(*row, strict=True)]
            lines.append(f"{depth:>3}" + "".join(f"{cell:>16}" for cell in cells))
        for window, quantities in results["correlations"][reading].items():
            words = ", ".join(
                f"{name} {one['rho']:.2f} (p = {one['p']:.0e}; between configurations "
                f"{one['between']:.2f}, within {one['within']:.2f})"
                for name, one in quantities.items()
            )
            lines.append(f"correlation with accuracy, {window} hidden layers: {words}")
        lines.append("")
    return "\n".join(lines).rstrip()
