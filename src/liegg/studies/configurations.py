"""The paper's section 5.3: how do width, depth and the number of parameters decide what a network learns of the rotation?"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from liegg.studies import datasets, ensemble, images
from liegg.studies.ensemble.members import width_for

PARAMETERS = tuple(range(40_000, 200_001, 20_000))
HIDDEN_LAYERS = (1, 2, 3, 4, 5, 6)
"""Layers of hidden units. The study is about 1 to 5. The paper's formula counts the matrices between hidden layers, of which its
1 to 5 make 2 to 6 layers; only so are its own shallow and deep networks among them, so these are looked at too."""

WINDOWS = {"1-5": (1, 5), "2-6": (2, 6)}
"""Both ways to count, the first being that of the study."""

EPOCHS = 300
QUICK_EPOCHS = 40
SEEDS = tuple(range(1, 9))
DIGITS = 6
"""Significant digits that are stored."""


def grid(
    counts: Sequence[int], depths: Sequence[int], seeds: Sequence[int]
) -> list[dict[str, int]]:
    """Parameters, hidden layers, width and seed of every network.

    Args:
        counts: numbers of parameters asked for.
        depths: numbers of hidden layers.
        seeds: one network of each configuration per seed.

    Raises:
        ArgumentError: no network has so few parameters.
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


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any] | None:
    """The numbers of the study.

    Args:
        how: where to train, and what to keep on the way.
        quick: three parameter counts and depths, two seeds, few epochs, the digits that come with the package; needs no data set.

    Returns:
        The results to be stored; None in every process but the first.
    """
    cells = (
        grid((40_000, 120_000, 200_000), (1, 3, 5), SEEDS[:2])
        if quick
        else grid(PARAMETERS, HIDDEN_LAYERS, SEEDS)
    )
    digits = datasets.rotated_mnist_sample() if quick else datasets.rotated_mnist()
    epochs = QUICK_EPOCHS if quick else EPOCHS
    rows = train_all(how, cells, digits, epochs)
    if rows is None:
        return None
    return {
        "seeds": sorted({cell["seed"] for cell in cells}),
        "epochs": epochs,
        "images": len(digits.train),
        "parameters": sorted({cell["parameters"] for cell in cells}),
        "hidden_layers": sorted({cell["hidden_layers"] for cell in cells}),
        "networks": rows,
        "correlations": correlations(rows),
    }


def train_all(
    how: ensemble.Work, cells: list[dict[str, int]], digits: datasets.RotatedMnist, epochs: int
) -> list[dict[str, Any]] | None:
    """Train the networks of a grid on some digits and describe each; None in every process but the first."""
    pictures = images.smooth_digits(digits, how.device)
    members = [
        ensemble.Member(
            (784, *[cell["width"]] * cell["hidden_layers"], 10),
            cell["seed"],
            len(digits.train),
            epochs,
        )
        for cell in cells
    ]

    def describe(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        found = images.describe_all(trained.stack, pictures.train[0], pictures.test)
        return [
            cells[place] | {"true_parameters": members[place].parameters} | short(row) | best
            for place, row, best in zip(places, found, images.best_epochs(trained), strict=True)
        ]

    return ensemble.work(
        members, lambda _: images.classification(pictures), describe, images.SCHEDULE, how
    )


def short(row: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a network: no more than the study needs, in six digits."""
    kept = ("nullity", "spectrum", "variance", "bias", "rotation_defect")
    readings = {
        name: {key: rounded(found[key]) for key in kept} for name, found in row["readings"].items()
    }
    return row | {"readings": readings}


def rounded(value: Any) -> Any:
    """A number, or the numbers of a list, in six digits.

    >>> rounded([1 / 3, 7])
    [0.333333, 7]
    """
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def correlations(
    networks: list[dict[str, Any]],
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Correlation of variance and bias with the test accuracy, over all networks of each window, for every reading.

    Args:
        networks: rows of the study.

    Returns:
        By reading, window, quantity what `correlation` says; no entry for a window of fewer than three networks.
    """
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {
        reading: {} for reading in networks[0]["readings"]
    }
    for reading, windows in found.items():
        for window, (least, most) in WINDOWS.items():
            inside = [net for net in networks if least <= net["hidden_layers"] <= most]
            if len(inside) < 3:
                continue
            read = [net["readings"][reading] for net in inside]
            columns = {
                "variance": [row["variance"] for row in read],
                "bias": [row["bias"][0] for row in read],
            }
            windows[window] = {
                name: correlation(values, inside) for name, values in columns.items()
            }
    return found


def correlation(values: Sequence[float], networks: list[dict[str, Any]]) -> dict[str, float]:
    """Pearson's correlation of a quantity with the test accuracy.

    Args:
        values: the quantity, one per network.
        networks: rows of the study.

    Returns:
        `rho` over all networks with its two-sided `p`; `between`, that of the configurations' means over seeds; `within`, that of
        what is left when these means are taken off. Zero, and p one, where nothing varies.
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
    """Pearson's correlation of two rows and its two-sided p; zero and one where either does not vary."""
    from scipy.stats import pearsonr

    if pairs.shape[1] < 2 or np.any(np.ptp(pairs, axis=1) <= 1e-12 * np.abs(pairs).max(axis=1)):
        return 0.0, 1.0
    rho, p = np.asarray(pearsonr(*pairs), dtype=np.float64).tolist()
    return rho, p


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figures `configurations-heatmaps` and `configurations-correlation` as PNG and SVG."""
    from liegg.studies.configuration_figures import draw

    return draw(results, out)


def table(results: dict[str, Any]) -> str:
    """Means over seeds for the paper's readings, and the correlations, to be read on a terminal."""
    lines = []
    for reading in ("paper, sum", "paper, each"):
        lines.append(f"{reading}: variance / bias, down hidden layers, across parameters")
        lines.append("   " + "".join(f"{count // 1000:>15}k" for count in results["parameters"]))
        for depth in results["hidden_layers"]:
            cells = []
            for count in results["parameters"]:
                nets = [
                    n
                    for n in results["networks"]
                    if n["hidden_layers"] == depth and n["parameters"] == count
                ]
                read = [net["readings"][reading] for net in nets]
                cells.append(
                    f"{mean(row['variance'] for row in read):.1e} / {mean(row['bias'][0] for row in read):.3f}"
                )
            lines.append(f"{depth:>3}" + "".join(f"{cell:>16}" for cell in cells))
        for window, found in results["correlations"][reading].items():
            told = ", ".join(
                f"{name} {one['rho']:.2f} (p = {one['p']:.0e}; between configurations {one['between']:.2f}, within "
                f"{one['within']:.2f})"
                for name, one in found.items()
            )
            lines.append(f"correlation with accuracy, {window} hidden layers: {told}")
        lines.append("")
    return "\n".join(lines).rstrip()
