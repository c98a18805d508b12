"""The figures of docs/concepts.md: `python docs/pictures.py` writes docs/images/concept-*.png.

liegg computes everything shown, with fixed seeds. `data-motions.png` of the pages on data sets is drawn from results/real-data-sets.json.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.ticker import MaxNLocator
from torch import Tensor, nn

import liegg
from liegg._utils.random import seeded
from liegg.report.plots import FOUND, MUTED, OTHER, THIRD, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IMAGES = Path(__file__).parent / "images"

ROTATION = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
SCALING = torch.eye(2, dtype=torch.float64)
BOOST = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers in float64 that depend only on the seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def bowl(x: Tensor) -> Tensor:
    """Squared length, invariant under every rotation."""
    return x.square().sum(1)


def nearly(x: Tensor) -> Tensor:
    """Squared length plus a small term that breaks the rotations."""
    return bowl(x) + 0.06 * torch.sin(2 * x).sum(1) + 0.05 * x[:, 0] * x[:, 1]


def flow() -> "Figure":
    """Three vector fields over the level sets of a function that only the first preserves."""
    page = figure(7.2, 2.8)
    line = torch.linspace(-1, 1, 7, dtype=torch.float64)
    points = torch.cartesian_prod(line, line)
    action = liegg.Linear(2)
    sym = liegg.discover(bowl, normal(500, 2), action)
    names = (("rotation", ROTATION), ("boost", BOOST), ("scaling", SCALING))
    for ax, (name, h) in zip(page.subplots(1, 3), names, strict=True):
        _levels(ax)
        velocity = points @ h.mT
        row = (2 * points * velocity).sum(1)  # <df, velocity>, the derivative of the bowl being 2 x
        _arrows(
            ax, points, velocity, [FOUND if abs(value) < 1e-12 else OTHER for value in row.tolist()]
        )
        defect = float(sym.defect(h[None])[0])
        _plain(ax, f"{name}: δ² = {0 if defect < 1e-20 else round(defect, 2):g}")
    return page


def trivial() -> "Figure":
    """A direction that moves the data, and one that does not and is undecided."""
    page = figure(6.2, 3.3)
    line = torch.linspace(-1, 1, 7, dtype=torch.float64)
    x = torch.stack([line, torch.zeros_like(line)], 1)
    grid = torch.cartesian_prod(line, line[line.abs() > 0.1])
    unit = torch.zeros(2, 2, 2, dtype=torch.float64)
    unit[0, 1, 0], unit[1, 0, 1] = 1.0, 1.0
    words = (r"$E_{21}$: velocity $(0,\ x_1)$", r"$E_{12}$: velocity $(x_2,\ 0)$, trivial")
    axes = page.subplots(1, 2)
    for ax, h, title in zip(axes, unit, words, strict=True):
        _arrows(ax, grid, grid @ h.mT, "0.82")
        _arrows(ax, x, x @ h.mT, FOUND)
        ax.plot(x[:, 0], x[:, 1], "o", color=OTHER, markersize=5, label="samples")
        _plain(ax, title)
    axes[1].legend(loc="upper left", fontsize="small", framealpha=1)
    return page


def scale() -> "Figure":
    """The same model in three units of length: the variance changes, the defect does not."""
    page = figure(7.2, 3.2)
    left, right = page.subplots(1, 2)
    x = normal(2000, 3)
    for factor, colour, marker in ((0.1, THIRD, "^"), (1.0, FOUND, "o"), (10.0, OTHER, "s")):
        # inputs and outputs in other units, such as centimetres instead of metres
        sym = liegg.discover(lambda x, f=factor: f * nearly(x / f), factor * x, liegg.Linear(3))
        place = range(1, 10)
        left.plot(
            place,
            sym.spectrum.values,
            marker,
            color=colour,
            label=f"all lengths × {factor:g}",
            markersize=6,
        )
        size = {"^": 11, "o": 8, "s": 4}[marker]
        right.plot(
            place,
            sym.defects,
            marker,
            color=colour,
            markersize=size,
            fillstyle="full" if size == 4 else "none",
        )
    left.set_ylabel("symmetry variance  σ²/|D|")
    right.set_ylabel("defect  δ²")
    left.set_title("the paper's variance follows the units", fontsize="medium")
    right.set_title("the defect does not", fontsize="medium")
    left.legend(frameon=False, fontsize="small")
    for ax in (left, right):
        _logarithmic(ax)
    return page


def verdict() -> "Figure":
    """The defects with everything that decides: threshold, gap, intervals, random directions."""
    page = figure(7.2, 4.0)
    ax = page.subplots()
    sym = liegg.discover(nearly, normal(400, 3), liegg.Linear(3))
    place, values = torch.arange(1, 10), sym.defects
    low, high = sym.intervals.T
    found = sym.nullity
    for part, colour, marker, label in (
        (slice(0, found), FOUND, "o", "symmetry"),
        (slice(found, None), OTHER, "s", "not a symmetry"),
    ):
        ax.errorbar(
            place[part],
            values[part],
            [values[part] - low[part], high[part] - values[part]],
            fmt=marker,
            color=colour,
            capsize=4,
            markersize=6,
            label=f"{label}, 95 % interval",
        )
    settings = sym.settings
    ax.axhline(settings["threshold"], color=MUTED, linestyle=":", linewidth=1.2)
    ax.text(
        9.5,
        settings["threshold"] * 0.86,
        "threshold: counted only below",
        ha="right",
        va="top",
        color=MUTED,
        fontsize="small",
    )
    ax.axhspan(sym.decision.control, 20, color=OTHER, alpha=0.08, linewidth=0)
    ax.text(
        0.55,
        6,
        "95 % of random directions are in this range",
        va="bottom",
        color=OTHER,
        fontsize="small",
    )
    ends = {"arrowstyle": "<->", "color": "black", "linewidth": 1.2}
    ax.annotate(
        "",
        (found + 0.5, float(values[found - 1])),
        (found + 0.5, float(values[found])),
        arrowprops=ends,
    )
    middle = float((values[found - 1] * values[found]).sqrt())
    ax.text(
        found + 0.65,
        middle * 2.2,
        f"gap: {sym.decision.gap:.0f} times",
        va="center",
        fontsize="medium",
    )
    ax.set_ylabel("defect  δ²")
    ax.set_title(sym.decision.sentence, fontsize="small")
    _logarithmic(ax)
    ax.set_ylim(float(low[0]) / 3, 20)
    ax.set_xlim(0.4, 9.6)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return page


def learned() -> "Figure":
    """A trained and re-initialised networks; finite rotations of held-out samples."""
    page = figure(7.6, 3.6)
    left, right = page.subplots(1, 2)
    model, x = _trained()
    sym = liegg.discover(
        model, x, liegg.Linear(3), controls="reinitialised", held_out=normal(256, 3, seed=9)
    )
    if sym.controls.reinitialised is None or sym.verification is None:
        raise RuntimeError("discover returned no controls")
    shown = torch.arange(1, sym.controls.reinitialised.along.shape[1] + 1)
    for values, marker, offset, label in (
        (sym.controls.reinitialised.along, "_", 0.0, "re-initialised, along the same directions"),
        (
            sym.controls.reinitialised.own,
            ".",
            0.2,
            "re-initialised, along their own best directions",
        ),
    ):
        for i, draw in enumerate(values):
            left.plot(
                shown + offset, draw, marker, color=OTHER, markersize=9, label=None if i else label
            )
    left.plot(shown, sym.defects[: len(shown)], "o", color=FOUND, markersize=7, label="trained")
    left.set_ylabel("defect  δ²")
    left.set_title(
        f"learned: {sum(sym.controls.reinitialised.learned)} of the first {len(shown)} directions",
        fontsize="medium",
    )
    _logarithmic(left)
    left.set_ylim(2e-6, 4)
    left.legend(frameon=False, fontsize="small", loc="lower left")
    _finite(right, sym.verification.curves[0], sym.verification.fraction)
    return page


def _finite(ax: "Axes", curve: Any, fraction: float) -> None:
    """r(t) of a generator, its predicted initial growth, and random directions."""
    degrees = 360 * curve.times / curve.period
    ax.fill_between(
        degrees, curve.control_low, curve.control_high, color=OTHER, alpha=0.2, linewidth=0
    )
    ax.plot(
        degrees, curve.control_mean, color=OTHER, label="random directions of equal displacement"
    )
    ax.plot(degrees, curve.change, "-o", color=FOUND, markersize=3, label="generator found")
    start = torch.linspace(1, 25, 40, dtype=torch.float64)
    height = curve.curvature.predicted * (start * curve.period / 360) ** 2
    ax.plot(
        start,
        height,
        "--",
        color="black",
        linewidth=1.2,
        label=r"$\propto t^2$, from the derivatives",
    )
    ax.axhline(fraction, color=MUTED, linestyle=":", linewidth=1.2)
    ax.set(
        xlabel="rotation, in degrees",
        ylabel="r(t)",
        yscale="log",
        ylim=(1e-8, 10),
        xticks=range(0, 361, 90),
    )
    ax.set_title("finite transformations of held-out samples", fontsize="medium")
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="lower right")


def layers() -> "Figure":
    """Translations of images: convolutions are equivariant, the average is invariant."""
    page = figure(7.2, 3.4)
    ax = page.subplots()
    model, images = _convolutions()
    action = liegg.Image("affine", derivative="spectral", border="periodic")
    found = liegg.discover_layers(model, images, action, output_action=action)
    translations = liegg.translation(2)
    place = range(len(found))
    floor = 1e-8  # smaller values are not distinguished
    ax.plot(
        place,
        found.defect(translations).clamp_min(floor),
        "-o",
        color=FOUND,
        label="invariance: the output is unchanged",
    )
    moves = found.defect(translations, "equivariance")
    ax.plot(
        place,
        moves.clamp_min(floor),
        "-^",
        color=THIRD,
        label="equivariance: the output moves with the input",
    )
    ax.axhline(
        found[0].invariance.decision.thresholds.threshold, color=MUTED, linestyle=":", linewidth=1.2
    )
    ax.set_xticks(list(place), [f"{layer.kind}\n{layer.name}" for layer in found], fontsize="small")
    ax.set(ylabel="defect δ² of translations", yscale="log", ylim=(floor / 3, 30))
    ax.set_yticks([1e-8, 1e-6, 1e-4, 1e-2, 1], ["10⁻⁸ or less", "10⁻⁶", "10⁻⁴", "10⁻²", "1"])
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="upper right")
    return page


def data_motions() -> "Figure":
    """Squared change of the distribution of digits and photographs under named motions, over that of sampling noise."""
    path = IMAGES.parents[1] / "results" / "real-data-sets.json"
    found = json.loads(path.read_text(encoding="utf-8"))["images"]
    page = figure(7.6, 3.3)
    left, right = page.subplots(1, 2, sharex=True)
    kinds = (
        (left, "mnist", OTHER, "s", -0.15, "digits (MNIST)"),
        (left, "rotated mnist", FOUND, "o", 0.0, "rotated digits"),
        (left, "cifar10, plane", THIRD, "^", 0.15, "photographs (CIFAR-10)"),
        (right, "cifar10, colours", THIRD, "^", 0.0, None),
    )
    for ax, name, colour, marker, offset, label in kinds:
        ratios = found[name]["motions"]
        rows = torch.arange(len(ratios))
        ax.plot([*ratios.values()], rows + offset, marker, color=colour, markersize=7, label=label)
        ax.set_yticks(rows, [word.replace(" along", "\nalong") for word in ratios])
    for ax, title in ((left, "motions of the plane"), (right, "motions of the colours")):
        ax.axvspan(0.5, 2, color=FOUND, alpha=0.12, linewidth=0)
        ax.set_title(title, fontsize="medium")
        ax.set(xscale="log", xlim=(0.4, 2000), ylim=(3.5, -0.5), xlabel="squared change ÷ chance")
        ax.grid(axis="x", color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    left.text(1, 3.4, "chance", color=FOUND, ha="center", fontsize="small")
    page.legend(frameon=False, fontsize="small", loc="outside lower center", ncols=3)
    return page


def _trained() -> tuple[nn.Module, Tensor]:
    """A small perceptron trained on a rotation-invariant function of space, and its data."""
    x = normal(2000, 3)
    y = torch.exp(-x.square().sum(1, keepdim=True) / 2)
    with seeded(0):
        model = nn.Sequential(
            nn.Linear(3, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1)
        ).double()
    steps = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(600):
        steps.zero_grad()
        (model(x) - y).square().mean().backward()
        steps.step()
    return model, x


def _convolutions() -> tuple[nn.Module, Tensor]:
    """A translation-invariant network with random weights, and smooth periodic images."""
    with seeded(0):
        convs = [nn.Conv2d(i, 4, 3, padding=1, padding_mode="circular") for i in (1, 4)]
        model = nn.Sequential(
            convs[0], nn.Tanh(), convs[1], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
        ).double()
    place = torch.arange(16, dtype=torch.float64) * 2 * torch.pi / 16
    phase, size = 2 * torch.pi * normal(2, 100, 3, seed=1), normal(2, 100, 3, seed=2)
    waves = (
        size[..., None] * torch.cos(torch.arange(1, 4)[:, None] * place + phase[..., None])
    ).sum(2) / 8
    return model, (waves[0][:, :, None] * waves[1][:, None, :])[:, None]


def _levels(ax: "Axes") -> None:
    """Level sets of the bowl."""
    line = torch.linspace(-1.25, 1.25, 101)
    height = line[None].square() + line[:, None].square()
    ax.contour(line, line, height, levels=[0.1, 0.3, 0.6, 1.0, 1.5], colors="0.75", linewidths=1)


def _arrows(ax: "Axes", points: Tensor, velocity: Tensor, colour: Any) -> None:
    """A vector field at one scale; points that do not move have no arrow."""
    fixed = velocity.norm(dim=1) < 1e-12
    colours = (
        [c for c, stays in zip(colour, fixed.tolist(), strict=True) if not stays]
        if isinstance(colour, list)
        else colour
    )
    (x, y), (u, v) = points[~fixed].T, velocity[~fixed].T
    if len(x):
        ax.quiver(
            x,
            y,
            u,
            v,
            color=colours,
            angles="xy",
            scale_units="xy",
            scale=5,
            width=0.007,
            headwidth=3.5,
        )


def _plain(ax: "Axes", title: str) -> None:
    """Equal units, no numbers on the axes."""
    ax.set(aspect="equal", xticks=[], yticks=[], xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")


def _logarithmic(ax: "Axes") -> None:
    """Directions on the horizontal axis, a logarithmic vertical axis."""
    ax.set(yscale="log", xlabel="direction, most invariant first")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw all figures."""
    torch.set_num_threads(1)  # a fixed order of summation
    pages = {
        f"concept-{make.__name__}": make
        for make in (flow, trivial, scale, verdict, learned, layers)
    }
    for name, make in (pages | {"data-motions": data_motions}).items():
        make().savefig(
            IMAGES / f"{name}.png", dpi=140, facecolor="white", metadata={"Software": None}
        )


if __name__ == "__main__":
    main()
