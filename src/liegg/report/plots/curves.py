"""How far symmetries hold under finite transformations."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from liegg._utils.diagnoses import plural
from liegg._utils.errors import ArgumentError
from liegg.report.motions import HIGHEST_CHANGE, LOWEST_CHANGE, evenly
from liegg.report.numbers import number
from liegg.report.plots.style import (
    FOUND,
    OTHER,
    PURPLE,
    SKY,
    THIRD,
    figure,
    horizontal_line,
    legend,
    plain,
    tidy,
)
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve, Verification

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE_LOOKS = ((FOUND, "-"), (THIRD, "--"), (PURPLE, "-."), (SKY, (0, (3, 1, 1, 1, 1, 1))))
"""Up to four curves have their own look and name; more look alike."""


def verification(
    source: Symmetries | Verification,
    ax: "Axes | None" = None,
    which: int | Literal["group"] | None = None,
) -> "Axes":
    """Draw the change of the output along finite motions, r(t), next to random directions.

    The horizontal axis is an angle where every motion comes back, else the motion in multiples of the data's spread, at the
    speed of the start. A cross marks where a motion stops holding, a ring where half of the random directions did.

    Args:
        source: what `verify` returned, or a result that holds it.
        ax: axes to draw into; by default a new figure.
        which: number of the generator from 0, `"group"` for random elements of the group, None for all generators. Where no
            symmetry was found these are the nearest candidates.

    Raises:
        ArgumentError: nothing was verified, or there is no such curve.
    """
    result = source.verification if isinstance(source, Symmetries) else source
    if result is None:
        raise ArgumentError(
            "nothing was verified; pass held_out= to discover(), or what verify() returns."
        )
    named = _select(result, which)
    curves = list(named.values())
    ax = ax or figure(7.0, 4.5).subplots()
    in_degrees = all(
        curve.period is not None and curve.longest <= 1.001 * curve.period for curve in curves
    )
    scales = [
        360 / curve.period if in_degrees and curve.period else curve.speed for curve in curves
    ]
    sampled = [_sampled(curve, scale) for curve, scale in zip(curves, scales, strict=True)]
    across, low, high, mean = _pooled_controls(sampled)
    ax.set_yscale("log")
    ax.fill_between(across, _clip(low), _clip(high), color=OTHER, alpha=0.18, linewidth=0)
    label = f"random directions ({result.controls}): mean, range"
    ax.plot(across, _clip(mean), "--", color=OTHER, linewidth=1.2, label=label)
    _draw_curves(ax, named, sampled, scales)
    holds = f"holds below r = {number(result.fraction)}"
    horizontal_line(ax, result.fraction, ":", holds)
    _mark_radii(ax, curves, scales, result.fraction)
    both = ", either way" if any(curve.both_ways for curve in curves) else ""
    unit = f"motion, in multiples of the data's spread{both}"
    ax.set_xlabel(f"motion as an angle of its period{both}  [°]" if in_degrees else unit)
    ax.set_xlim(0, max(float(one.place[-1]) for one in sampled))
    if in_degrees:
        ax.set_xticks([tick for tick in range(0, 361, 90) if tick <= 1.01 * ax.get_xlim()[1]])
    ax.set_ylim(bottom=LOWEST_CHANGE / 2)
    largest = max(float(values.max()) for c in curves for values in (c.control_high, c.change))
    end = f" to {number(HIGHEST_CHANGE)}" * (largest > HIGHEST_CHANGE)
    ax.set_ylabel(f"change of the output  r\n(drawn from {number(LOWEST_CHANGE)}{end})")
    ax.set_title(plain(_title(result, curves, which)), fontsize="medium")
    tidy(ax)
    legend(ax, columns=2)
    return ax


def _select(result: Verification, which: int | str | None) -> dict[str, Curve]:
    """The curves to draw, by name."""
    kind, curves = ("generator", result.curves) if result.curves else ("candidate", result.others)
    if not curves:
        raise ArgumentError(f"there is no curve to draw: {result.summary}.")
    if which is None:
        return {f"{kind} {i + 1}": curve for i, curve in enumerate(curves)}
    if which == "group":
        if result.group is None:
            raise ArgumentError(
                "which='group': the group was not followed, since there are fewer than two generators."
            )
        return {"the group": result.group}
    if isinstance(which, str) or not 0 <= which < len(curves):
        raise ArgumentError(
            f"which={which!r}: expected a number from 0 to {len(curves) - 1}, 'group', or None for all "
            "generators."
        )
    return {f"{kind} {which + 1}": curves[which]}


class _Sampled(NamedTuple):
    """A curve at equal steps, however unevenly it was measured."""

    place: np.ndarray
    change: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray


def _sampled(curve: Curve, scale: float) -> _Sampled:
    """A curve and its controls at equal steps; between measured times their roots are interpolated."""
    times = curve.times.tolist()
    values = (curve.change, curve.control_low, curve.control_high, curve.control_mean)
    grid = evenly(times, values[0].tolist())[0]
    each = (np.array(evenly(times, one.tolist())[1]) for one in values)
    return _Sampled(np.array(grid) * scale, *each)


def _draw_curves(
    ax: "Axes", named: dict[str, Curve], sampled: Sequence[_Sampled], scales: Sequence[float]
) -> None:
    """Draw each curve with its own look, its measured points and its largest change; many curves share all of these."""
    alike = len(named) > len(CURVE_LOOKS)
    changes = [curve.change.numpy() for curve in named.values()]
    largest = [max(map(np.max, changes))] * len(named) if alike else list(map(np.max, changes))
    for k, (name, curve) in enumerate(named.items()):
        colour, dashes = CURVE_LOOKS[0 if alike else k]
        bound = f"r ≤ {number(largest[k], 2)}" if math.isfinite(largest[k]) else "r infinite"
        label = f"{plural(len(named), 'generator') if alike else name}, {bound}"
        ax.plot(
            sampled[k].place,
            _clip(sampled[k].change),
            color=colour,
            linestyle=dashes,
            linewidth=1 if alike else 1.6,
            label="_more" if alike and k else label,
        )
        ax.plot(
            curve.times.numpy() * scales[k],
            _clip(changes[k]),
            ".",
            color=colour,
            markersize=4,
            label="_measured",
        )


def _title(result: Verification, curves: Sequence[Curve], which: int | str | None) -> str:
    if not result.curves:
        return f"no symmetry was found; nearest candidate{'' if len(curves) == 1 else 's'}"
    if which is not None:
        curve = curves[0]
        return (
            f"holds as far as followed, {curve.extent(curve.longest)}"
            if curve.holds
            else f"holds up to {curve.extent(curve.radius)}"
        )
    holding = sum(curve.holds for curve in curves)
    verb = "holds" if len(curves) == 1 else "hold"
    return f"{holding} of {plural(len(curves), 'generator')} {verb} as far as followed"


def _mark_radii(
    ax: "Axes", curves: Sequence[Curve], scales: Sequence[float], fraction: float
) -> None:
    """Mark where motions and their controls stop holding."""
    own = [
        scale * curve.radius for curve, scale in zip(curves, scales, strict=True) if not curve.holds
    ]
    others = [
        scale * curve.control_radius
        for curve, scale in zip(curves, scales, strict=True)
        if curve.control_radius < curve.longest
    ]
    stop = {"marker": "X", "color": FOUND, "markersize": 7, "zorder": 4, "label": "stops holding"}
    control_stop = {
        "marker": "o",
        "color": OTHER,
        "markerfacecolor": "white",
        "markersize": 6,
        "label": "random directions stop (median)",
        "zorder": 3,
        "clip_on": False,
    }
    for places, look in ((own, stop), (others, control_stop)):
        if places:
            ax.plot(places, [fraction] * len(places), linestyle="none", **look)


def _pooled_controls(sampled: Sequence[_Sampled]) -> tuple[np.ndarray, ...]:
    """All places of the curves, and the smallest, largest and mean control there; none past a curve's end."""
    across = np.unique(np.concatenate([one.place for one in sampled]).round(9))

    def over(values: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack(
            [
                np.interp(across, one.place.round(9), _clip(value), right=np.nan)
                for one, value in zip(sampled, values, strict=True)
            ]
        )

    return (
        across,
        np.nanmin(over([one.low for one in sampled]), 0),
        np.nanmax(over([one.high for one in sampled]), 0),
        np.nanmean(over([one.mean for one in sampled]), 0),
    )


def _clip(values: np.ndarray) -> np.ndarray:
    return np.clip(
        np.nan_to_num(values, nan=HIGHEST_CHANGE, posinf=HIGHEST_CHANGE),
        LOWEST_CHANGE,
        HIGHEST_CHANGE,
    )
