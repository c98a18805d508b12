"""Beyond the paper: do the correlations of section 5.3 survive another draw of the data?

Networks trained on the same images are not independent of each other, so a p-value over networks says nothing about this.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from liegg.studies import configurations, datasets, ensemble

DRAWS = (1, 2, 3)
"""Seeds of the draws of rotated MNIST; the study of the configurations itself takes draw 0."""

DEPTHS = (1, 2, 3, 4, 5)


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any] | None:
    """The correlations of the configurations study on other draws of training, validation and test images.

    Args:
        how: where to train, and what to keep on the way.
        quick: two draws of the digits that come with the package, two parameter counts and depths, two seeds, few epochs.

    Returns:
        The results to be stored; None in every process but the first.
    """
    cells = configurations.grid(configurations.PARAMETERS, DEPTHS, configurations.SEEDS)
    if quick:
        cells = configurations.grid((40_000, 120_000), (1, 3), configurations.SEEDS[:2])
    found = []
    for draw in DRAWS[:2] if quick else DRAWS:
        digits = datasets.rotated_mnist_sample(draw) if quick else datasets.rotated_mnist(draw)
        part = replace(how, folder=None if how.folder is None else how.folder / f"draw-{draw}")
        epochs = configurations.QUICK_EPOCHS if quick else configurations.EPOCHS
        rows = configurations.train_all(part, cells, digits, epochs)
        if rows is not None:
            all_found = configurations.correlations(rows)
            windows = {reading: windows["1-5"] for reading, windows in all_found.items()}
            found.append({"draw": draw, "networks": len(rows), "correlations": windows})
    return (
        {"seeds": list(configurations.SEEDS[:2] if quick else configurations.SEEDS), "draws": found}
        if found
        else None
    )


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figure `draws` as PNG and SVG."""
    from liegg.studies.draw_figures import draw

    return draw(results, out)


def table(results: dict[str, Any]) -> str:
    """One line per draw and reading, to be read on a terminal."""
    lines = [
        "draw   reading            ρ of variance (between, within)   ρ of bias (between, within)"
    ]
    for one in results["draws"]:
        for reading, found in one["correlations"].items():
            told = [
                f"{c['rho']:.2f} ({c['between']:.2f}, {c['within']:.2f})"
                for c in (found["variance"], found["bias"])
            ]
            lines.append(f"{one['draw']:>4}   {reading:<16}   {told[0]:>31}   {told[1]:>27}")
    return "\n".join(lines)
