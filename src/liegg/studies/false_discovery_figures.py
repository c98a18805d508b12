"""Figures of the study of false discoveries, drawn from its stored results alone."""

from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, MUTED, OTHER, THIRD, figure, save_figure
from liegg.studies.error_rates.tally import nonlinear
from liegg.studies.figure_style import power_of_ten, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 1e-34
"""Defects below, zero among them, are drawn here."""

QUESTIONS = {
    "none": ("a symmetry found where there is none", OTHER),
    "exact": ("exact symmetries, wrong count", FOUND),
    "broken": ("slightly broken symmetries, wrong count", THIRD),
    "trained": ("learned so(5), wrong count", MUTED),
}
"""Kinds of errors of a rule: name and colour."""

BAND = (0.90, 0.99)
"""Where the coverage of an honest 95 % interval lies, given how often it was tried."""

STYLES = ("o-", "s--", "^-.", "v:", "D-", "P--", "X-.", "*:", "h-")


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the four figures `false-discovery-defects`, `-rules`, `-strength` and `-coverage` as PNG and SVG."""
    made = {
        "defects": draw_defects(results),
        "rules": draw_rules(results),
        "strength": draw_strength(results),
        "coverage": draw_coverage(results),
    }
    return [
        path
        for name, one in made.items()
        for path in save_figure(one, out / f"false-discovery-{name}")
    ]


def draw_defects(results: dict[str, Any]) -> "Figure":
    """One point a case: the smallest defect where there is no symmetry, the largest that belongs to one where there is."""
    rows = results["cases"]
    loose = [row for row in rows if row["family"] == "asymmetric" and not row["nonlinear"]]
    groups: list[tuple[str, list[float], str]] = [
        ("no symmetry,\nclearly nonlinear", [row["next"] for row in nonlinear(rows)], OTHER),
        ("no symmetry,\nless nonlinear", [row["next"] for row in loose], OTHER),
        (
            "no symmetry,\ndata confined",
            [row["next"] for row in rows if row["family"] == "confined"],
            OTHER,
        ),
        ("trained, so(5)", [row["last"] for row in results["rotations"]], THIRD),
    ]
    for strength in sorted({row["strength"] for row in results["broken"]}, reverse=True):
        some = {
            row["kind"]: row["limit"][row["expected"] - 1]
            for row in results["broken"]
            if row["strength"] == strength
        }
        groups.append((f"broken, ε = {strength:g}", list(some.values()), THIRD))
    for dtype in ("bfloat16", "float32", "float64"):
        some = [row for row in rows if row["family"] == "exact" and row["dtype"] == dtype]
        groups.append((f"exact, {dtype}", [row["last"] for row in some], FOUND))
    groups = [group for group in groups if group[1]]
    made = figure(10.0, 0.8 + 0.42 * len(groups))
    ax = made.subplots()
    for place, (_, values, colour) in enumerate(groups):
        shown = [max(value, SMALLEST) for value in values]
        ax.plot(
            shown,
            _spread(place, len(shown)),
            "o",
            color=colour,
            markersize=3,
            alpha=0.6,
            markeredgewidth=0,
        )
    ax.set_xscale("log")
    ax.set_xlim(SMALLEST / 10, 100)
    ax.set_yticks(range(len(groups)), [f"{name}  ({len(values)})" for name, values, _ in groups])
    ax.set_ylim(len(groups) - 0.4, -0.6)
    _decades(ax, range(-34, 3, 4))
    ax.axvline(results["threshold"], color="black", linestyle=":", linewidth=1)
    ax.set_title(
        f"dotted: δ² = {results['threshold']:g}, the largest of a symmetry",
        fontsize="small",
        loc="right",
    )
    ax.set_xlabel("smallest defect δ² without symmetry; largest of a symmetry otherwise")
    tidy(ax)
    return made


def draw_rules(results: dict[str, Any]) -> "Figure":
    """Share of wrong answers of every rule for each kind of question, the same cases for all."""
    rules = results["rules"]
    made = figure(9.5, 0.9 + 0.85 * len(rules))
    ax = made.subplots()
    height = 0.8 / len(QUESTIONS)
    for index, (question, (name, colour)) in enumerate(QUESTIONS.items()):
        errors = [one[question] for one in rules.values()]
        shares = [100 * one["wrong"] / one["cases"] if one["cases"] else 0.0 for one in errors]
        places = [place - 0.4 + height * (index + 0.5) for place in range(len(rules))]
        label = f"{name} (of {errors[0]['cases']:,})"
        ax.barh(places, shares, height=0.9 * height, color=colour, label=label)
        for place, share, one in zip(places, shares, errors, strict=True):
            ax.annotate(
                f"{one['wrong']}",
                (share, place),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
            )
    ax.set_yticks(range(len(rules)), list(rules))
    ax.set_ylim(len(rules) - 0.4, -0.6)
    ax.set_xlim(0, 105)
    ax.set_xlabel("wrong answers in per cent, and their number")
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    made.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return made


def draw_strength(results: dict[str, Any]) -> "Figure":
    """Smallest and largest defect of every broken algebra against ε, above as they are, below divided by ε², with intervals."""
    kinds = list(results["slopes"])
    made = figure(13.0, 6.4)
    upper, lower = made.subplots(2, len(kinds), sharex=True, sharey="row", squeeze=False)
    samples = _middle([row["samples"] for row in results["broken"]])
    stated = (
        ", with 95 % intervals"
        if any(row["example"]["intervals"] for row in results["broken"])
        else ""
    )
    for above, under, kind in zip(upper, lower, kinds, strict=True):
        limits = [row for row in results["limits"] if row["kind"] == kind]
        some = [
            row for row in results["broken"] if row["kind"] == kind and row["samples"] == samples
        ]
        strengths = [row["strength"] for row in limits]
        for place, name, colour in (
            (0, "smallest", FOUND),
            (some[0]["expected"] - 1, "largest", OTHER),
        ):
            values = [row["defects"][place] for row in limits]
            for ax, power in ((above, 0), (under, 2)):
                scaled = [
                    value / strength**power
                    for value, strength in zip(values, strengths, strict=True)
                ]
                ax.plot(
                    strengths,
                    scaled,
                    "-",
                    color=colour,
                    linewidth=1,
                    label=f"{name} of the algebra, large samples",
                )
                _examples(
                    ax,
                    some,
                    place,
                    power,
                    colour,
                    f"{name}, one analysis of {samples:,} samples{stated}",
                )
        guide = limits[0]["defects"][0] / strengths[0] ** 2 / 4
        above.plot(
            strengths,
            [guide * e**2 for e in strengths],
            "--",
            color=MUTED,
            linewidth=1,
            label="proportional to ε²",
        )
        above.set_title(f"{kind}: slope {results['slopes'][kind]:.3f}", fontsize="medium")
        under.set_xlabel("ε, size of the asymmetric part")
        for ax in (above, under):
            ax.set_xscale("log")
            ax.set_yscale("log")
            tidy(ax)
    upper[0].set_ylabel("defect δ²")
    lower[0].set_ylabel("δ² / ε²")
    handles, labels = upper[0].get_legend_handles_labels()
    made.legend(
        handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize="small"
    )
    return made


def draw_coverage(results: dict[str, Any]) -> "Figure":
    """How often the 95 % intervals hold the large-sample value, against the number of samples, for each ε."""
    made = figure(10.0, 4.2)
    panels = made.subplots(1, 2, sharey=True)
    found = [row for row in results["coverage"] if row["smallest"] is not None]
    strengths = sorted({row["strength"] for row in found})
    for ax, (key, title) in zip(
        panels, {"smallest": "smallest direction", "all": "all directions"}.items(), strict=True
    ):
        ax.axhspan(*BAND, color="0.92", zorder=0)
        ax.axhline(0.95, color=MUTED, linewidth=0.8)
        for index, strength in enumerate(strengths):
            some = [row for row in found if row["strength"] == strength]
            label = f"ε = {strength:g}" if key == "all" else None
            ax.plot(
                [row["samples"] for row in some],
                [row[key] for row in some],
                STYLES[index % len(STYLES)],
                label=label,
                color=(FOUND, OTHER, THIRD, MUTED, "black")[index % 5],
                markersize=5,
                linewidth=1,
            )
        if found:
            ax.set_xscale("log")
            ax.set_xlim(
                min(row["samples"] for row in found) / 1.5,
                max(row["samples"] for row in found) * 1.5,
            )
            sizes = sorted({row["samples"] for row in found})
            ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
            ax.minorticks_off()
        else:
            ax.annotate(
                "no intervals were stated", (0.5, 0.2), xycoords="axes fraction", ha="center"
            )
        lowest = min((row[key] for row in found for key in ("smallest", "all")), default=0.8)
        ax.set_ylim(floor(10 * min(lowest, 0.8)) / 10, 1.01)
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("samples N")
        tidy(ax)
    panels[0].set_ylabel("share of intervals that hold the limit")
    if found:
        made.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    return made


def _examples(
    ax: "Axes", rows: list[dict[str, Any]], place: int, power: int, colour: str, label: str
) -> None:
    """One direction's defect in one analysis for each ε, divided by a power of it, with its interval where one was stated."""
    scales = [row["strength"] ** -power for row in rows]
    values = [row["example"]["defects"][place] for row in rows]
    ends = [
        (row["example"]["intervals"] or [None] * (place + 1))[place] or [v, v]
        for row, v in zip(rows, values, strict=True)
    ]
    below = [
        scale * max(v - low, 0.0) for scale, v, (low, _) in zip(scales, values, ends, strict=True)
    ]
    above = [
        scale * max(high - v, 0.0) for scale, v, (_, high) in zip(scales, values, ends, strict=True)
    ]
    shown = [scale * v for scale, v in zip(scales, values, strict=True)]
    ax.errorbar(
        [row["strength"] for row in rows],
        shown,
        yerr=[below, above],
        fmt="o",
        color=colour,
        markersize=3,
        linewidth=1,
        capsize=2,
        label=label,
    )


def _spread(place: int, count: int) -> list[float]:
    """Heights for points of one row, so that they do not hide each other: the golden ratio fills any number evenly."""
    return [place + 0.6 * ((index * 0.6180339887) % 1.0 - 0.5) for index in range(count)]


def _decades(ax: "Axes", exponents: Sequence[int]) -> None:
    """Ticks at these powers of ten."""
    ax.set_xticks(
        [10.0**power for power in exponents], [power_of_ten(power) for power in exponents]
    )
    ax.minorticks_off()


def _middle(values: list[int]) -> int:
    """The middle one of the different values; the upper of two."""
    different = sorted(set(values))
    return different[len(different) // 2]
