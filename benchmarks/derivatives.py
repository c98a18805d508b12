"""Error of each derivative scheme against exact derivatives of band-limited images, stored as results/derivatives.json."""

import math
import time

import torch
from torch import Tensor

from liegg.actions.grid.stencils import Border, Filter, along, derivative_matrix, smoothing_matrix
from result_files import RESULTS, store

SIDE, IMAGES, WAVES = 28, 200, 8
SCHEMES: tuple[Filter, ...] = ("paper", "central", "gaussian", "spectral")
FAMILIES: dict[str, Border] = {"periodic": "periodic", "fading": "replicate", "cut": "replicate"}
"""Sums of plane waves: whole periods to a side; under a bell that fades to the border; cut off by the border as photographs are."""

BANDS = (0.125, 0.25, 0.5)
"""Highest frequency, as a share of the highest that the grid can hold."""


def images(family: str, band: float) -> tuple[Tensor, Tensor, Tensor]:
    """Images `[n, s, s]` and their exact derivatives along columns (to the right) and along rows (downwards)."""
    generator = torch.Generator().manual_seed(0)
    place = torch.arange(SIDE, dtype=torch.float64) - (SIDE - 1) / 2
    y, x = place[:, None], place[None, :]

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    if family == "periodic":
        most = int(band * SIDE / 2)
        a, b = (
            torch.randint(-most, most + 1, (IMAGES, WAVES, 1, 1), generator=generator).double()
            * (2 * math.pi / SIDE)
            for _ in "ab"
        )
    else:
        radius, angle = (
            band * math.pi * uniform(IMAGES, WAVES, 1, 1).sqrt(),
            2 * math.pi * uniform(IMAGES, WAVES, 1, 1),
        )
        a, b = radius * angle.cos(), radius * angle.sin()
    height = torch.randn(IMAGES, WAVES, 1, 1, generator=generator, dtype=torch.float64)
    phase = a * x + b * y + 2 * math.pi * uniform(IMAGES, WAVES, 1, 1)
    f, fx, fy = (
        (height * part).sum(1) for part in (phase.cos(), -a * phase.sin(), -b * phase.sin())
    )
    if family != "fading":
        return f, fx, fy
    width = SIDE / 8
    bell = torch.exp(-(x.square() + y.square()) / (2 * width**2))
    return bell * f, bell * (fx - x / width**2 * f), bell * (fy - y / width**2 * f)


def error(scheme: Filter, border: Border, f: Tensor, fx: Tensor, fy: Tensor) -> float:
    """Root mean square error of the gradient over its root mean square."""
    matrix = derivative_matrix(SIDE, scheme, border)
    gx, gy = along(matrix, f, -1), along(matrix, f, -2)
    if scheme == "gaussian":
        bell = smoothing_matrix(SIDE, border, 1.0)
        gx, gy = along(bell, gx, -2), along(bell, gy, -1)
    wrong = (gx - fx).square().sum() + (gy - fy).square().sum()
    return float((wrong / (fx.square().sum() + fy.square().sum())).sqrt())


def main() -> None:
    """Compute, print, store."""
    begin = time.perf_counter()
    rows = [
        {
            "family": family,
            "band": band,
            **{scheme: error(scheme, border, *images(family, band)) for scheme in SCHEMES},
        }
        for family, border in FAMILIES.items()
        for band in BANDS
    ]
    for row in rows:
        print(
            f"{row['family']:<9} {row['band']:<6}",
            *(f"{scheme} {row[scheme]:.1e}" for scheme in SCHEMES),
        )
    store({"side": SIDE, "errors": rows}, RESULTS / "derivatives.json", "make bench", begin=begin)


if __name__ == "__main__":
    main()
