"""Figures of the studies of error rates: false discoveries and traps."""

from math import floor
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liegg.report.numbers import power_of_ten
from liegg.report.plots import FOUND, MUTED, OTHER, THIRD
from liegg.studies.error_rates.tally import nonlinear
from liegg.studies.error_rates.traps_judgement import VERDICTS
from liegg.studies.figures.style import finish, frame, with_panels

SMALLEST_DEFECT = 1e-34
"""Smaller defects, zero included, are drawn here."""

RULE_QUESTIONS = {
    "none": ("a symmetry found where there is none", OTHER),
    "exact": ("exact symmetries, wrong count", FOUND),
    "broken": ("slightly broken symmetries, wrong count", THIRD),
    "trained": ("learned so(5), wrong count", MUTED),
}
"""Kinds of errors of a rule: name and color."""

COVERAGE_BAND = (0.90, 0.99)
"""Where the coverage of a correct 95 % interval lies, given the number of repeats."""

CURVE_STYLES = ("o-", "s--", "^-.", "v:", "D-", "P--", "X-.", "*:", "h-")
CURVE_COLORS = (FOUND, OTHER, THIRD, MUTED, "black")

VERDICT_COLORS = dict(zip(VERDICTS, (FOUND, MUTED, THIRD, OTHER), strict=True))
"""Color of every verdict."""


def draw_false_discovery(results: dict[str, Any]) -> dict[str, Figure]:
    """Draw the defects, the errors of every rule, the broken symmetries and the coverage."""
    return {
        "false-discovery-defects": defects_figure(results),
        "false-discovery-rules": rules_figure(results),
        "false-discovery-strength": strength_figure(results),
        "false-discovery-coverage": coverage_figure(results),
    }


def defects_figure(results: dict[str, Any]) -> Figure:
    """One point per case: the smallest defect without symmetry, the largest one of a symmetry."""
    groups = [group for group in _groups(results) if group[1]]
    made, ax = with_panels(10.0, 0.8 + 0.42 * len(groups), 1, 1)
    look: dict[str, Any] = {"markersize": 3, "alpha": 0.6, "markeredgewidth": 0}
    for place, (_, defects, color) in enumerate(groups):
        values = [max(value, SMALLEST_DEFECT) for value in defects]
        # Multiples of the golden ratio spread any number of points evenly over the row.
        heights = [place + 0.6 * ((i * 0.6180339887) % 1.0 - 0.5) for i in range(len(values))]
        ax.plot(values, heights, "o", color=color, **look)
    threshold = results["threshold"]
    frame(
        ax,
        "",
        xscale="log",
        xlim=(SMALLEST_DEFECT / 10, 100),
        ylim=(len(groups) - 0.4, -0.6),
        xlabel="smallest defect δ² without symmetry; largest of a symmetry otherwise",
    )
    ax.set_title(
        f"dotted: δ² = {threshold:g}, the largest of a symmetry", fontsize="small", loc="right"
    )
    ax.set_yticks(range(len(groups)), [f"{name}  ({len(values)})" for name, values, _ in groups])
    exponents = range(-34, 3, 4)
    ax.set_xticks([10.0**power for power in exponents], [power_of_ten(p) for p in exponents])
    ax.minorticks_off()
    ax.axvline(threshold, color="black", linestyle=":", linewidth=1)
    return made


def _groups(results: dict[str, Any]) -> list[tuple[str, list[float], str]]:
    """Name, defects and color of each row of points."""
    rows = results["cases"]
    linear = [row for row in rows if row["family"] == "asymmetric" and not row["nonlinear"]]
    confined = [row for row in rows if row["family"] == "confined"]
    groups = [
        ("no symmetry,\nclearly nonlinear", [row["next"] for row in nonlinear(rows)], OTHER),
        ("no symmetry,\nless nonlinear", [row["next"] for row in linear], OTHER),
        ("no symmetry,\ndata confined", [row["next"] for row in confined], OTHER),
        ("trained, so(5)", [row["last"] for row in results["rotations"]], THIRD),
    ]
    for strength in sorted({row["strength"] for row in results["broken"]}, reverse=True):
        values = {
            row["kind"]: row["limit"][row["expected"] - 1]
            for row in results["broken"]
            if row["strength"] == strength
        }
        groups.append((f"broken, ε = {strength:g}", list(values.values()), THIRD))
    for dtype in ("bfloat16", "float32", "float64"):
        exact = [row for row in rows if row["family"] == "exact" and row["dtype"] == dtype]
        groups.append((f"exact, {dtype}", [row["last"] for row in exact], FOUND))
    return groups


def rules_figure(results: dict[str, Any]) -> Figure:
    """Share of wrong answers of every rule for each kind of question, on the same cases."""
    rules = results["rules"]
    made, ax = with_panels(9.5, 0.9 + 0.85 * len(rules), 1, 1)
    height = 0.8 / len(RULE_QUESTIONS)
    near: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "x-small"}
    for index, (question, (name, color)) in enumerate(RULE_QUESTIONS.items()):
        errors = [rule[question] for rule in rules.values()]
        shares = [100 * one["wrong"] / one["cases"] if one["cases"] else 0.0 for one in errors]
        places = [place - 0.4 + height * (index + 0.5) for place in range(len(rules))]
        ax.barh(
            places,
            shares,
            height=0.9 * height,
            color=color,
            label=f"{name} (of {errors[0]['cases']:,})",
        )
        for place, share, one in zip(places, shares, errors, strict=True):
            ax.annotate(f"{one['wrong']}", (share, place), (3, 0), **near)
    ax.set_yticks(range(len(rules)), list(rules))
    frame(
        ax,
        "",
        ylim=(len(rules) - 0.4, -0.6),
        xlim=(0, 105),
        xlabel="wrong answers in per cent, and their number",
    )
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    finish(made, "", 2)
    return made


def strength_figure(results: dict[str, Any]) -> Figure:
    """Smallest and largest defect of every broken algebra against ε: δ² above, δ²/ε² below."""
    kinds = list(results["slopes"])
    made, panels = with_panels(13.0, 6.4, 2, len(kinds), sharex=True, sharey="row", squeeze=False)
    different = sorted({row["samples"] for row in results["broken"]})
    samples = different[len(different) // 2]
    stated = any(row["example"]["intervals"] for row in results["broken"])
    words = f"one analysis of {samples:,} samples{', with 95 % intervals' * stated}"
    for (above, under), kind in zip(panels.T, kinds, strict=True):
        limits = [row for row in results["limits"] if row["kind"] == kind]
        rows = [
            row for row in results["broken"] if (row["kind"], row["samples"]) == (kind, samples)
        ]
        strengths = np.array([row["strength"] for row in limits])
        directions = ((0, "smallest", FOUND), (rows[0]["expected"] - 1, "largest", OTHER))
        for place, name, color in directions:
            values = np.array([row["defects"][place] for row in limits])
            label = f"{name} of the algebra, large samples"
            for ax, power in ((above, 0), (under, 2)):
                scaled = values / strengths**power
                ax.plot(strengths, scaled, "-", color=color, linewidth=1, label=label)
                _examples(ax, rows, place, power, color=color, label=f"{name}, {words}")
        above.plot(
            strengths,
            limits[0]["defects"][0] / 4 * (strengths / strengths[0]) ** 2,
            "--",
            color=MUTED,
            linewidth=1,
            label="proportional to ε²",
        )
        frame(above, f"{kind}: slope {results['slopes'][kind]:.3f}", xscale="log", yscale="log")
        frame(under, "", xscale="log", yscale="log", xlabel="ε, size of the asymmetric part")
    panels[0, 0].set_ylabel("defect δ²")
    panels[1, 0].set_ylabel("δ² / ε²")
    finish(made, "", 3, panels[0, 0])
    return made


def _examples(
    ax: Axes, rows: list[dict[str, Any]], place: int, power: int, *, color: str, label: str
) -> None:
    """A direction's defect in one analysis for each ε, divided by ε^power, with its interval."""
    strengths = np.array([row["strength"] for row in rows])
    examples = [row["example"] for row in rows]
    values = np.array([example["defects"][place] for example in examples])
    ends = np.array(
        [
            (example["intervals"] or {place: None})[place] or [value, value]
            for example, value in zip(examples, values, strict=True)
        ]
    )
    scale = strengths**-power
    errors = scale * np.maximum([values - ends[:, 0], ends[:, 1] - values], 0.0)
    ax.errorbar(
        strengths,
        scale * values,
        yerr=errors,
        label=label,
        fmt="o",
        color=color,
        markersize=3,
        linewidth=1,
        capsize=2,
    )


def coverage_figure(results: dict[str, Any]) -> Figure:
    """Share of the 95 % intervals that contain the large-sample value, against N, for each ε."""
    made, panels = with_panels(10.0, 4.2, 1, 2, sharey=True)
    rows = [row for row in results["coverage"] if row["smallest"] is not None]
    sizes = sorted({row["samples"] for row in rows})
    lowest = min((row[key] for row in rows for key in ("smallest", "all")), default=0.8)
    for ax, key in zip(panels, ("smallest", "all"), strict=True):
        ax.axhspan(*COVERAGE_BAND, color="0.92", zorder=0)
        ax.axhline(0.95, color=MUTED, linewidth=0.8)
        for index, strength in enumerate(sorted({row["strength"] for row in rows})):
            curve = [(row["samples"], row[key]) for row in rows if row["strength"] == strength]
            ax.plot(
                *zip(*curve, strict=True),
                CURVE_STYLES[index % len(CURVE_STYLES)],
                label=f"ε = {strength:g}" if key == "all" else None,
                color=CURVE_COLORS[index % len(CURVE_COLORS)],
                markersize=5,
                linewidth=1,
            )
        if rows:
            ax.set(xscale="log", xlim=(sizes[0] / 1.5, sizes[-1] * 1.5))
            ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
            ax.minorticks_off()
        else:
            ax.annotate(
                "no intervals were reported", (0.5, 0.2), xycoords="axes fraction", ha="center"
            )
        frame(
            ax,
            f"{key} direction{'s' * (key == 'all')}",
            ylim=(floor(10 * min(lowest, 0.8)) / 10, 1.01),
            xlabel="samples N",
        )
    panels[0].set_ylabel("share of intervals that contain the limit")
    if rows:
        finish(made, "", 5)
    return made


def draw_traps(results: dict[str, Any]) -> dict[str, Figure]:
    """Draw the share of every verdict, family by family."""
    families = results["families"]
    made, ax = with_panels(10.0, 1.2 + 0.22 * len(families), 1, 1)
    places = range(len(families))
    left = [0.0] * len(families)
    for verdict in VERDICTS:
        shares = [found[verdict] / found["cases"] for found in families.values()]
        ax.barh(places, shares, left=left, color=VERDICT_COLORS[verdict], height=0.8, label=verdict)
        left = [begin + share for begin, share in zip(left, shares, strict=True)]
    frame(ax, "", xlim=(0, 1), ylim=(len(families) - 0.4, -0.6), xlabel="share of the cases")
    labels = [f"{name}  ({found['cases']})" for name, found in families.items()]
    ax.set_yticks(list(places), labels, fontsize="small")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(VERDICTS), frameon=False)
    return {"traps": made}
