"""Figures of the image studies, drawn from their stored results alone."""

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Image
from liegg.report.plots import FOUND, MUTED, OTHER, figure, save_figure
from liegg.studies.images import READINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = (0, 45, 90, 135, 180, 225, 270, 315)
"""Degrees of the row of turned images."""

TITLES = {
    "paper, sum": "the paper's derivative, outputs summed: ",
    "paper, each": "the paper's derivative, each output: ",
    "spectral, each": "spectral derivative, each output: ",
}
"""Readings that are drawn for rotated MNIST."""

SAMPLES = 4000
"""Learned rotations drawn for the density on the circle."""


def draw_rotmnist(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's Figure 3 from the results of `liegg.studies.rotmnist.run`.

    Args:
        results: the stored results.
        out: folder for `rotmnist-spectrum` (3a, under the paper's reading and ours) and `rotmnist-rotations` (3b).

    Returns:
        The files written.
    """
    networks = results["networks"]
    made = figure(11.0, 9.4)
    for row, reading in enumerate(TITLES):
        left, right = made.add_subplot(3, 2, 2 * row + 1), made.add_subplot(3, 2, 2 * row + 2)
        for name, colour, marker in (("shallow", OTHER, "s"), ("deep", FOUND, "o")):
            found = [net["readings"][reading] for net in networks[name]]
            _curves(left, [net["spectrum"] for net in found], colour, marker, name)
            _curves(right, [net["bias"] for net in found], colour, marker, name)
        _finish(left, right, reading)
    made.suptitle(
        f"Rotated MNIST: {len(results['seeds'])} networks each, {results['images']:,} images",
        fontsize="medium",
    )
    paths = save_figure(made, out / "rotmnist-spectrum")
    made = figure(11.5, 3.4)
    image = torch.tensor(results["example"], dtype=torch.float64)
    rows = {
        name: [net["readings"]["paper, sum"]["directions"][0] for net in networks[name]]
        for name in ("shallow", "deep")
    }
    _rotations(made, image, rows)
    made.suptitle(
        "The learned algebra at work: a digit turned by samples of it; right, where it takes the point (1, 0), and the circle",
        fontsize="medium",
    )
    return paths + save_figure(made, out / "rotmnist-rotations")


def draw_cifar10(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's figure on CIFAR-10 from the results of `liegg.studies.cifar10.run`.

    Args:
        results: the stored results.
        out: folder for `cifar10-spectrum` and `cifar10-rotations`.

    Returns:
        The files written.
    """
    made = figure(11.0, 3.6)
    left, right = made.subplots(1, 2)
    for reading, colour, marker in (("paper, sum", OTHER, "s"), ("paper, each", FOUND, "o")):
        found = [net["readings"][reading] for net in results["networks"]]
        label = {"sum": "outputs summed (the paper)", "each": "each output a row"}[
            READINGS[reading][1]
        ]
        _curves(left, [net["spectrum"] for net in found], colour, marker, label)
        _curves(right, [net["bias"] for net in found], colour, marker, label)
    _finish(left, right, None)
    made.suptitle(
        f"{results['data']}, turned: {len(results['seeds'])} networks, {results['images']:,} images",
        fontsize="medium",
    )
    paths = save_figure(made, out / "cifar10-spectrum")
    made = figure(11.5, 2.1)
    image = torch.tensor(results["example"], dtype=torch.float64)
    _rotations(
        made,
        image,
        {
            "learned": [
                net["readings"]["paper, sum"]["directions"][0] for net in results["networks"]
            ]
        },
    )
    return paths + save_figure(made, out / "cifar10-rotations")


def _curves(ax: "Axes", curves: list[list[float]], colour: str, marker: str, label: str) -> None:
    """One faint line per network and their mean, in the paper's order: most sensitive direction first."""
    place = range(1, len(curves[0]) + 1)
    for curve in curves:
        ax.plot(place, curve[::-1], color=colour, alpha=0.25, linewidth=0.8)
    average = [mean(values) for values in zip(*curves, strict=True)][::-1]
    ax.plot(place, average, marker, color=colour, markersize=5, label=f"{label}, mean")


def _finish(left: "Axes", right: "Axes", reading: str | None) -> None:
    name = "" if reading is None else TITLES[reading]
    left.set_yscale("log")
    left.set_ylabel("symmetry variance  σ²/|D|")
    left.set_title(f"{name}spectrum", fontsize="medium")
    right.set_ylim(-0.05, 1.1)
    right.set_ylabel("symmetry bias against so(2)")
    right.set_title(f"{name}bias of each direction", fontsize="medium")
    for ax in (left, right):
        ax.set_xlabel("singular vector, largest value first")
        ax.set_xticks(range(1, 5))
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)


def _rotations(made: "Figure", image: Float[Tensor, "..."], rows: dict[str, list[Any]]) -> None:
    """One row to a kind of network: its learned algebra, sampled once per angle, applied to the image; then the density."""
    grid = made.add_gridspec(
        len(rows), len(ANGLES) + 2, width_ratios=[1.0] * len(ANGLES) + [0.15, 1.25]
    )
    for row, (name, found) in enumerate(rows.items()):
        sampled = sample_generators(torch.tensor(found, dtype=torch.float64), len(ANGLES), seed=1)
        for column, (angle, generator) in enumerate(zip(ANGLES, sampled, strict=True)):
            ax = made.add_subplot(grid[row, column])
            moved = Image("linear", border="zeros").act(
                torch.deg2rad(torch.tensor(float(angle))).double() * generator, image[None]
            )[0]
            ax.imshow(_shown(moved), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            ax.set_xticks([])
            ax.set_yticks([])
            if row == 0:
                ax.set_title(f"{angle}°", fontsize="small")
            if column == 0:
                ax.set_ylabel(name)
        ax = made.add_subplot(grid[row, len(ANGLES) + 1])
        _density(ax, torch.tensor(found, dtype=torch.float64))
        if row == 0:
            ax.set_title("orbit of (1, 0)", fontsize="small")


def _shown(image: Float[Tensor, "..."]) -> np.ndarray:
    clean = image.clamp(0, 1)
    return (clean if clean.ndim == 2 else clean.permute(1, 2, 0)).numpy()


def _density(ax: "Axes", found: Float[Tensor, "s 2 2"]) -> None:
    """Where the sampled algebras take the point (1, 0) when they turn it by every angle, with the perfect circle."""
    generators = sample_generators(found, SAMPLES, seed=0)
    angles = (
        2
        * torch.pi
        * torch.rand(SAMPLES, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    )
    points = torch.linalg.matrix_exp(angles[:, None, None] * generators)[:, :, 0]
    from scipy.stats import gaussian_kde

    side = np.linspace(-1.8, 1.8, 121)
    mesh = np.stack([axis.ravel() for axis in np.meshgrid(side, side)])
    density = gaussian_kde(points.T.numpy(), bw_method=0.08)(mesh).reshape(len(side), len(side))
    ax.imshow(
        density,
        origin="lower",
        extent=(-1.8, 1.8, -1.8, 1.8),
        cmap="Blues",
        interpolation="bilinear",
    )
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=OTHER, linewidth=0.8)
    ax.set_xticks([-1, 0, 1])
    ax.set_yticks([-1, 0, 1])
    ax.tick_params(labelsize="x-small", colors=MUTED)
    ax.set_aspect("equal")


def sample_generators(
    found: Float[Tensor, "s 2 2"], count: int, seed: int
) -> Float[Tensor, "count 2 2"]:
    """Generators drawn from a normal distribution fitted to the learned ones, scaled so that angle 1 is one radian of rotation.

    Args:
        found: unit directions of the networks, each turning counter-clockwise.
        count: how many to draw.
        seed: of the draw.
    """
    flat = found.flatten(1)
    centre, spread = flat.mean(0), (flat - flat.mean(0)) / max(1, len(flat) - 1) ** 0.5
    noise = torch.randn(
        count, len(flat), generator=torch.Generator().manual_seed(seed), dtype=found.dtype
    )
    return 2**0.5 * (centre + noise @ spread).unflatten(1, (2, 2))
