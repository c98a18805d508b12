"""Spectrum and bias of every direction, and images rotated by the learned algebra: O(5) and images."""

from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from liegg.actions import Image
from liegg.report.plots import FOUND, MUTED, OTHER, figure
from liegg.studies.figures.style import frame, network_curves, with_panels
from liegg.studies.o5 import SO5_DIMENSION

ANGLES = (0, 45, 90, 135, 180, 225, 270, 315)
"""Degrees of the row of rotated images."""

TITLES = {
    "paper, sum": "the paper's derivative, outputs summed: ",
    "paper, each": "the paper's derivative, each output: ",
    "spectral, each": "spectral derivative, each output: ",
}
"""Readings that are drawn for rotated MNIST."""

DENSITY_SAMPLES = 4000
"""Learned rotations sampled for the density on the circle."""

Networks = list[dict[str, Any]]


def draw_o5(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's Figure 2: spectrum and bias of the 25 directions, variance against the training-set size."""
    made, panels = with_panels(12.0, 3.8, 1, 3)
    main = results["networks"][str(results["main_size"])]
    for ax, quantity in zip(panels[:2], ("spectrum", "bias"), strict=True):
        places = list(range(1, len(main[0][quantity]) + 1))
        average = network_curves(ax, places, [net[quantity][::-1] for net in main])
        split = len(average) - SO5_DIMENSION
        for part, marker, color, label in (
            (slice(split), "s", OTHER, "first fifteen, mean"),
            (slice(split, None), "o", FOUND, "last ten, mean"),
        ):
            ax.plot(places[part], average[part], marker, color=color, markersize=4, label=label)
    _frames(panels[:2], ("(a) spectrum", "(b) bias of each direction"), "so(5)")
    _training_sizes(panels[2], results["networks"])
    for ax in panels:
        ax.legend(frameon=False)
    made.suptitle(
        f"O(5) regression: {len(main)} networks, N = {results['main_size']:,}", fontsize="medium"
    )
    return {"o5": made}


def _training_sizes(ax: Axes, networks: dict[str, list[dict[str, Any]]]) -> None:
    """Mean variance of the last ten directions against the training-set size."""
    sizes = [int(size) for size in networks]
    kinds = (
        ("mean_variance_of_ten", "o-", FOUND, "on the training samples"),
        ("fresh_mean_variance_of_ten", "s--", OTHER, "on new samples"),
    )
    for key, style, color, label in kinds:
        values = [[net[key] for net in nets] for nets in networks.values()]
        spread = [stdev(v) if len(v) > 1 else 0.0 for v in values]
        ax.errorbar(
            sizes,
            [mean(v) for v in values],
            yerr=spread,
            fmt=style,
            color=color,
            capsize=3,
            linewidth=1,
            label=label,
        )
    frame(
        ax,
        "(c) against training-set size, mean ± s.d.",
        xscale="log",
        yscale="log",
        xlabel="training-set size N",
        ylabel="mean variance of the last ten",
    )


def draw_rotmnist(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's Figure 3: spectrum and bias under three readings, and a rotated digit."""
    networks = {name: results["networks"][name] for name in ("shallow", "deep")}
    spectrum, panels = with_panels(11.0, 9.4, 3, 2)
    for pair, (reading, title) in zip(panels, TITLES.items(), strict=True):
        _directions(pair, title, {name: (nets, reading) for name, nets in networks.items()})
    seeds, count = len(results["seeds"]), results["images"]
    spectrum.suptitle(f"Rotated MNIST: {seeds} networks each, {count:,} images", fontsize="medium")
    rotations = figure(11.5, 3.4)
    _rotations(rotations, results["example"], networks)
    title = (
        "The learned algebra applied: a digit rotated by samples of it; right, the orbit of (1, 0)"
    )
    rotations.suptitle(f"{title} and the circle", fontsize="medium")
    return {"rotmnist-spectrum": spectrum, "rotmnist-rotations": rotations}


def draw_cifar10(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's figure on CIFAR-10: spectrum and bias under two readings, and a rotated image."""
    networks = results["networks"]
    spectrum, panels = with_panels(11.0, 3.6, 1, 2)
    kinds = {
        "outputs summed (the paper)": (networks, "paper, sum"),
        "each output a row": (networks, "paper, each"),
    }
    _directions(panels, "", kinds)
    seeds, count = len(results["seeds"]), results["images"]
    spectrum.suptitle(
        f"{results['data']}, rotated: {seeds} networks, {count:,} images", fontsize="medium"
    )
    rotations = figure(11.5, 2.1)
    _rotations(rotations, results["example"], {"learned": networks})
    return {"cifar10-spectrum": spectrum, "cifar10-rotations": rotations}


def _directions(panels: Any, title: str, kinds: dict[str, tuple[Networks, str]]) -> None:
    """Spectrum and bias, most sensitive direction first: one faint line per network, and the mean.

    Args:
        panels: the panel of the spectrum and that of the bias.
        title: beginning of both titles.
        kinds: networks and reading of each kind, by its name in the legend.
    """
    for (name, (networks, reading)), (color, marker) in zip(
        kinds.items(), ((OTHER, "s"), (FOUND, "o")), strict=True
    ):
        for ax, quantity in zip(panels, ("spectrum", "bias"), strict=True):
            curves = [net["readings"][reading][quantity][::-1] for net in networks]
            places = range(1, len(curves[0]) + 1)
            ax.plot(
                places,
                network_curves(ax, places, curves, color=color, alpha=0.25),
                marker,
                color=color,
                markersize=5,
                label=f"{name}, mean",
            )
            ax.set_xticks(range(1, 5))
    _frames(panels, (f"{title}spectrum", f"{title}bias of each direction"), "so(2)")
    panels[0].legend(frameon=False)


def _frames(panels: Any, titles: tuple[str, str], algebra: str) -> None:
    """Titles and axes of a panel of the spectrum and one of the bias, largest value first as in the paper."""
    common = {"xlabel": "singular vector, largest value first"}
    frame(panels[0], titles[0], ylabel="symmetry variance  σ²/|D|", yscale="log", **common)
    ylabel = f"symmetry bias against {algebra}"
    frame(panels[1], titles[1], ylabel=ylabel, ylim=(-0.05, 1.1), **common)


def _rotations(made: Figure, example: list[Any], networks: dict[str, Networks]) -> None:
    """One row per kind of network: an image rotated by samples of the learned algebra; its density."""
    image = torch.tensor(example, dtype=torch.float64)[None]
    grid = made.add_gridspec(
        len(networks), len(ANGLES) + 2, width_ratios=[1.0] * len(ANGLES) + [0.15, 1.25]
    )
    for row, (name, nets) in enumerate(networks.items()):
        directions = torch.tensor(
            [net["readings"]["paper, sum"]["directions"][0] for net in nets], dtype=torch.float64
        )
        generators = sample_generators(directions, len(ANGLES), seed=1)
        steps = torch.deg2rad(torch.tensor(ANGLES, dtype=torch.float64))[:, None, None] * generators
        for column, (angle, step) in enumerate(zip(ANGLES, steps, strict=True)):
            ax = made.add_subplot(grid[row, column])
            rotated = Image("linear", border="zeros").act(step, image)[0].clamp(0, 1)
            pixels = (rotated if rotated.ndim == 2 else rotated.permute(1, 2, 0)).numpy()
            ax.imshow(pixels, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            ax.set(xticks=[], yticks=[], ylabel=name if column == 0 else "")
            ax.set_title(f"{angle}°" if row == 0 else "", fontsize="small")
        ax = made.add_subplot(grid[row, len(ANGLES) + 1])
        _density(ax, directions)
        ax.set_title("orbit of (1, 0)" if row == 0 else "", fontsize="small")


def _density(ax: Axes, directions: Float[Tensor, "s 2 2"]) -> None:
    """Density of the orbit of (1, 0) under the sampled algebras over all angles, and the circle."""
    from scipy.stats import gaussian_kde

    generators = sample_generators(directions, DENSITY_SAMPLES, seed=0)
    uniform = torch.rand(
        DENSITY_SAMPLES, generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )
    angles = 2 * torch.pi * uniform
    points = torch.linalg.matrix_exp(angles[:, None, None] * generators)[:, :, 0]
    side = np.linspace(-1.8, 1.8, 121)
    mesh = np.stack([axis.ravel() for axis in np.meshgrid(side, side)])
    density = gaussian_kde(points.T.numpy(), bw_method=0.08)(mesh).reshape(len(side), len(side))
    corners = (-1.8, 1.8, -1.8, 1.8)
    ax.imshow(density, origin="lower", extent=corners, cmap="Blues", interpolation="bilinear")
    circle = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(circle), np.sin(circle), color=OTHER, linewidth=0.8)
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal")
    ax.tick_params(labelsize="x-small", colors=MUTED)


def sample_generators(
    directions: Float[Tensor, "s 2 2"], count: int, seed: int
) -> Float[Tensor, "count 2 2"]:
    """Sample generators from a normal distribution fitted to the learned ones.

    They are scaled such that angle 1 is one radian of rotation.

    Args:
        directions: unit directions of the networks, each rotating counter-clockwise.
        count: number of samples.
        seed: seed of the samples.
    """
    flat = directions.flatten(1)
    centre, spread = flat.mean(0), (flat - flat.mean(0)) / max(1, len(flat) - 1) ** 0.5
    noise = torch.randn(
        count, len(flat), generator=torch.Generator().manual_seed(seed), dtype=directions.dtype
    )
    return 2**0.5 * (centre + noise @ spread).unflatten(1, (2, 2))
