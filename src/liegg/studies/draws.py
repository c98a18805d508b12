"""Beyond the paper: do the correlations of section 5.3 persist on other draws of the data?

Networks trained on the same images are not independent, so a p-value over networks does not answer
this question.
"""

from typing import Any

from liegg.studies import configurations, ensemble, images

DRAWS = (1, 2, 3)
"""Seeds of the draws of rotated MNIST; the study of the configurations itself uses draw 0."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """The correlations of the configurations study on other draws of all images.

    Args:
        how: where the networks are trained.
        quick: two draws of the shipped digits, two parameter counts, depths and seeds, few epochs.

    Returns:
        The results to be stored.
    """
    seeds = images.SEEDS[:2] if quick else images.SEEDS
    counts = (40_000, 120_000) if quick else configurations.PARAMETERS
    cells = configurations.grid(counts, (1, 3) if quick else (1, 2, 3, 4, 5), seeds)
    epochs = configurations.QUICK_EPOCHS if quick else images.EPOCHS
    draws = []
    for draw in DRAWS[:2] if quick else DRAWS:
        part = how.part(f"draw-{draw}")
        rows = configurations.train_all(part, cells, images.digits(quick, draw), epochs)
        correlations = {
            reading: windows[configurations.MAIN_WINDOW]
            for reading, windows in configurations.correlations(rows).items()
        }
        draws.append({"draw": draw, "networks": len(rows), "correlations": correlations})
    return {"seeds": list(seeds), "draws": draws}


def table(results: dict[str, Any]) -> str:
    """One line per draw and reading as text for a terminal."""
    lines = [
        "draw   reading            ρ of variance (between, within)   ρ of bias (between, within)"
    ]
    for one in results["draws"]:
        for reading, quantities in one["correlations"].items():
            variance, bias = (
                f"{c['rho']:.2f} ({c['between']:.2f}, {c['within']:.2f})"
                for c in (quantities["variance"], quantities["bias"])
            )
            lines.append(f"{one['draw']:>4}   {reading:<16}   {variance:>31}   {bias:>27}")
    return "\n".join(lines)
