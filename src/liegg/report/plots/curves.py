"""How far symmetries hold at finite size."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.report.page.numbers import number
from liegg.report.plots.style import (
    FOUND,
    MUTED,
    OTHER,
    PURPLE,
    SKY,
    THIRD,
    figure,
    legend,
    plain,
    tidy,
)
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve, Verification

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOWEST, HIGHEST = 1e-6, 100.0
"""Changes beyond are drawn at the edge; an output that has nothing to do with the first one any more changes by about 2."""

LOOKS = ((FOUND, "-"), (THIRD, "--"), (PURPLE, "-."), (SKY, (0, (3, 1, 1, 1, 1, 1))))
"""Up to four curves have a look and a name of their own; more look alike."""


def verification(
    shown: Symmetries | Verification,
    ax: "Axes | None" = None,
    which: int | Literal["group"] | None = None,
) -> "Axes":
    """Change of the output along finite motions, r(t), beside random directions that move the samples as much.

    The horizontal axis is an angle where every motion shown comes back, else the motion itself in multiples of the data's spread,
    at the speed of the start. A cross marks where a motion stops holding, a ring where half of the random directions did.

    Args:
        shown: what `verify` returned, or a result that holds it.
        ax: where to draw; by default a new figure.
        which: number of the generator from 0, `"group"` for random elements of the whole group, None for all generators. Where no
            symmetry was found it is the nearest candidates that were followed.

    Raises:
        ArgumentError: nothing was verified, or there is no such curve.
    """
    found = shown.verification if isinstance(shown, Symmetries) else shown
    if found is None:
        raise ArgumentError(
            "nothing was verified; pass held_out= to discover(), or what verify() returns."
        )
    chosen = _choose(found, which)
    ax = ax or figure(7.0, 4.5).subplots()
    angles = all(
        curve.period is not None and curve.longest <= 1.001 * curve.period for curve, _ in chosen
    )
    scales = [360 / curve.period if angles and curve.period else curve.speed for curve, _ in chosen]
    places = [
        _numbers(curve.times) * scale for (curve, _), scale in zip(chosen, scales, strict=True)
    ]
    across, low, high, mean = _together([curve for curve, _ in chosen], places)
    ax.set_yscale("log")
    ax.fill_between(across, _cut(low), _cut(high), color=OTHER, alpha=0.18, linewidth=0)
    ax.plot(
        across,
        _cut(mean),
        "--",
        color=OTHER,
        linewidth=1.2,
        label=f"random directions ({found.controls}): mean, range",
    )
    alike = len(chosen) > len(LOOKS)
    for k, ((curve, name), place) in enumerate(zip(chosen, places, strict=True)):
        colour, dashes = LOOKS[0] if alike else LOOKS[k]
        most = max(float(each.change.max()) for each, _ in (chosen if alike else [(curve, name)]))
        told = f"r ≤ {number(most, 2)}" if math.isfinite(most) else "r infinite"
        label = (
            f"{name}, {told}"
            if not alike
            else "_more"
            if k
            else f"{len(chosen)} generators, {told}"
        )
        ax.plot(
            place,
            _cut(_numbers(curve.change)),
            color=colour,
            linestyle=dashes,
            linewidth=1 if alike else 1.6,
            label=label,
        )
    ax.axhline(
        found.fraction,
        color=MUTED,
        linestyle=":",
        linewidth=1,
        label=f"holds below r = {number(found.fraction)}",
    )
    _radii(ax, [curve for curve, _ in chosen], scales, found.fraction)
    both = ", either way" if any(curve.both_ways for curve, _ in chosen) else ""
    ax.set_xlabel(
        f"motion as an angle of its period{both}  [°]"
        if angles
        else f"motion, in multiples of the data's spread{both}"
    )
    ax.set_xlim(0, max(float(place[-1]) for place in places))
    if angles:
        ax.set_xticks([tick for tick in range(0, 361, 90) if tick <= 1.01 * ax.get_xlim()[1]])
    ax.set_ylim(bottom=LOWEST / 2)
    beyond = any(
        float(curve.control_high.max()) > HIGHEST or float(curve.change.max()) > HIGHEST
        for curve, _ in chosen
    )
    ax.set_ylabel(
        f"change of the output  r\n(drawn from {number(LOWEST)}{f' to {number(HIGHEST)}' * beyond})"
    )
    ax.set_title(plain(_title(found, [curve for curve, _ in chosen], which)), fontsize="medium")
    tidy(ax)
    legend(ax, columns=2)
    return ax


def _choose(found: Verification, which: int | str | None) -> list[tuple[Curve, str]]:
    """The curves asked for, with their names."""
    every = [(curve, f"generator {i + 1}") for i, curve in enumerate(found.curves)] or [
        (curve, f"candidate {i + 1}") for i, curve in enumerate(found.others)
    ]
    if not every:
        raise ArgumentError(f"there is no curve to draw: {found.summary}.")
    if which is None:
        return every
    if which == "group":
        if found.group is None:
            raise ArgumentError(
                "which='group': the group was not followed, since there are fewer than two generators."
            )
        return [(found.group, "the group")]
    if isinstance(which, str) or not 0 <= which < len(every):
        raise ArgumentError(
            f"which={which!r}: expected a number from 0 to {len(every) - 1}, 'group', or None for all generators."
        )
    return [every[which]]


def _title(found: Verification, curves: Sequence[Curve], which: int | str | None) -> str:
    if not found.curves:
        return f"no symmetry was found; nearest candidate{'' if len(curves) == 1 else 's'}"
    if which is not None:
        curve = curves[0]
        return (
            f"holds as far as followed, {curve.extent(curve.longest)}"
            if curve.holds
            else f"holds up to {curve.extent(curve.radius)}"
        )
    holding = sum(curve.holds for curve in curves)
    return f"{holding} of {len(curves)} generator{' holds' if len(curves) == 1 else 's hold'} as far as followed"


def _radii(ax: "Axes", curves: Sequence[Curve], scales: Sequence[float], fraction: float) -> None:
    """Where motions and their controls stop holding, on the line of the fraction; nothing for those that do not stop."""
    own = [
        scale * curve.radius for curve, scale in zip(curves, scales, strict=True) if not curve.holds
    ]
    others = [
        scale * curve.control_radius
        for curve, scale in zip(curves, scales, strict=True)
        if curve.control_radius < curve.longest
    ]
    if own:
        ax.plot(
            own,
            [fraction] * len(own),
            "X",
            color=FOUND,
            markersize=7,
            linestyle="none",
            label="stops holding",
            zorder=4,
        )
    if others:
        ax.plot(
            others,
            [fraction] * len(others),
            "o",
            color=OTHER,
            markerfacecolor="white",
            markersize=6,
            linestyle="none",
            label="random directions stop (median)",
            zorder=3,
            clip_on=False,
        )


def _together(curves: Sequence[Curve], places: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Places of all curves, and there the smallest, the largest and the mean of the controls; a curve says nothing past its end."""
    across = np.unique(np.concatenate(places).round(9))

    def over(values: Sequence[Float[Tensor, " t"]]) -> np.ndarray:
        return np.stack(
            [
                np.interp(across, place.round(9), _cut(_numbers(value)), right=np.nan)
                for place, value in zip(places, values, strict=True)
            ]
        )

    return (
        across,
        np.nanmin(over([curve.control_low for curve in curves]), 0),
        np.nanmax(over([curve.control_high for curve in curves]), 0),
        np.nanmean(over([curve.control_mean for curve in curves]), 0),
    )


def _numbers(values: Float[Tensor, " t"]) -> np.ndarray:
    return values.detach().double().numpy()


def _cut(values: np.ndarray) -> np.ndarray:
    return np.clip(np.nan_to_num(values, nan=HIGHEST, posinf=HIGHEST), LOWEST, HIGHEST)
