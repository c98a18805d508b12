"""The result as a table for a terminal; reads the record and computes nothing."""

import math
import statistics
import textwrap

from liegg._utils.diagnoses import plural
from liegg.decision.decide import runs
from liegg.results.symmetries import Symmetries

ROWS_AFTER = 3
"""Directions listed after the last symmetry, so that the gap can be seen."""

TABLE_LINES = 38
"""Lines of a table; directions in the middle are left out, and the table says so."""

SHOWN_REMARKS = 3
"""Warnings, and notes, that are shown in full."""

WIDTH = 120
"""Columns of a table; sentences are wrapped."""

WORDS_LENGTH = 300
"""Letters of the generators in words; the rest is counted."""

SHOWN_WORDS = 12
"""Generators described in words."""


def table(sym: Symmetries) -> str:
    """Readable account of a result in under 40 lines: the verdict, the directions around the gap, warnings and notes.

    Args:
        sym: the result of `discover`.
    """
    question = "invariance" if sym.output_action is None else "equivariance"
    count = f"{'at least ' * sym.decision.is_lower_bound}{plural(sym.nullity, 'symmetry')}"
    lines = [
        f"{question} of {sym.model} under {sym.action}: {count}",
        f"{plural(sym.samples, 'sample')}, {plural(sym.accumulated.rows.rows, 'row')}, "
        f"outputs={sym.settings['outputs']!r}, by {sym.settings['route']}, {sym.settings['dtype']}",
        "",
        f"  {sym.decision.sentence}",
        *([f"  {'; '.join(sym.decision.reasons)}"] if sym.decision.reasons else []),
        *_bottom(sym),
        *_certainty(sym),
        *_algebra(sym),
        *_reinitialised(sym),
        *(
            []
            if sym.verification is None
            else [f"  finite transformations: {sym.verification.summary}"]
        ),
        *_first([f"  warning: {text}" for text in sym.decision.warnings], "sym.decision.warnings"),
        *_first([f"  note: {text}" for text in sym.notes], "sym.notes"),
        "",
    ]
    lines = [part for line in lines for part in _wrapped(line)]
    return "\n".join([*lines, *_directions(sym, TABLE_LINES - len(lines))])


def _wrapped(line: str) -> list[str]:
    """A line in lines of bounded length."""
    return textwrap.wrap(
        line, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    ) or [""]


def _directions(sym: Symmetries, room: int) -> list[str]:
    """One line per direction, up to some after the last symmetry; those in the middle are left out if there is no room."""
    spectrum = sym._spectrum
    variances = None if spectrum is None else spectrum.values.tolist()
    total, end = len(sym.defects), min(len(sym.defects), sym.nullity + ROWS_AFTER)
    level = f"{100 * sym.decision.thresholds.level:g} % interval"
    head = f"  {'':>4}  {'defect δ²':>11}  {level:^23}  {'grade':<13}"
    lines = [
        head if variances is None else f"{head}  {'variance σ²/|D|':>15}   (paper's, its own order)"
    ]
    half = max(room - 2, 4) // 2
    places = (
        list(range(end)) if end <= 2 * half + 1 else [*range(half), -1, *range(end - half, end)]
    )
    defects, intervals = sym.defects.tolist(), sym.intervals.tolist()
    for i in places:
        if i < 0:
            lines.append(f"  ...   {end - 2 * half} more")
            continue
        low, high = intervals[i]
        ends = f"{low:.3e} – {high:.3e}" if math.isfinite(low) and low < high else ""
        mark = sym.grades[i] + "?" * bool(sym.decision.borderline[i])
        mark = "undecided" if i < sym.decision.undecided else mark
        variance = "" if variances is None else f"{variances[i]:>15.3e}"
        lines.append(
            f"  {i + 1:>4}  {defects[i]:>11.3e}  {ends:^23}  {mark:<13}  {variance}".rstrip()
        )
    if (rest := total - sym.nullity - ROWS_AFTER) > 0:
        largest = "" if variances is None else f"; variance up to {variances[-1]:.3g}"
        lines.append(f"  ...   {rest} more, δ² up to {defects[-1]:.3g}{largest}")
    if sym.decision.unsolved:
        lines.append(f"  ...   {sym.decision.unsolved} more were not solved for")
    return lines


def _first(lines: list[str], where: str) -> list[str]:
    """The first few lines, and where the rest is."""
    if len(lines) <= SHOWN_REMARKS:
        return lines
    return [*lines[: SHOWN_REMARKS - 1], f"  and {len(lines) - SHOWN_REMARKS + 1} more in {where}"]


def _bottom(sym: Symmetries) -> list[str]:
    """That only the smallest defects were solved for, and how well."""
    bottom = sym.accumulated.bottom
    if bottom is None:
        return []
    error = "there were none"
    if len(bottom.residuals):
        error = f"each accurate to {max(bottom.residuals.tolist()):.1g}"
    others = "; the others are no smaller" if sym.decision.unsolved else ""
    return [
        f"  solved for the {plural(len(sym.defects), 'smallest defect')} of {bottom.moving}, {error}{others}"
    ]


def _certainty(sym: Symmetries) -> list[str]:
    """How sure the count and the span are, and what random directions reach."""
    lines = []
    if (certainty := sym.decision.certainty) is not None:
        low, high = certainty.nullity
        count = plural(low, "symmetry") if low == high else f"{low} to {high} symmetries"
        what = "span" if sym.nullity > 1 else "direction" if sym.nullity else "nearest candidate"
        lines.append(
            f"  {100 * certainty.level:g} % block bootstrap ({certainty.blocks} blocks): {count}, {what} stable to "
            f"{math.degrees(certainty.angle):.2g}°"
        )
    control = sym.controls.random
    if control is not None and control.draws:
        share = f"{100 * (1 - control.share):g} %"
        lines.append(
            f"  control: {share} of random directions of equal displacement have δ² above {control.low:.2g}"
        )
    return lines


def _reinitialised(sym: Symmetries) -> list[str]:
    """Which directions are far below those of re-initialised models."""
    control = sym.controls.reinitialised
    if control is None:
        return []
    draws = control.along.tolist()
    medians = [
        math.nan if any(map(math.isnan, column)) else statistics.median_low(column)
        for column in zip(*draws, strict=True)
    ]
    low, high = (f"{end(medians[: max(sym.nullity, 1)]):.2g}" for end in (min, max))
    learned = [i + 1 for i, yes in enumerate(control.learned) if yes]
    what = f"none of the first {len(control.learned)} directions is far below them"
    if learned:
        noun, verb = ("direction", "is") if len(learned) == 1 else ("directions", "are")
        what = f"{noun} {runs(learned)} {verb} far below them"
    line = (
        f"  re-initialised models ({len(draws)} draws): δ² {low if low == high else f'{low} to {high}'} along the same directions; "
        f"learned: {what}"
    )
    return [
        line,
        *_first([f"  note: {text}" for text in control.notes], "sym.controls.reinitialised.notes"),
    ]


def _algebra(sym: Symmetries) -> list[str]:
    """The algebra's name, how near it is, and its generators in words."""
    if not sym.nullity:
        return []
    found = sym.identification
    lines = []
    if found.known:
        near = f"; within {math.degrees(found.angle):.2g}° of it" if found.angle > 1e-6 else ""
        lines.append(f"  algebra: {found.title()}{near}")
    elif sym.action.has_matrices:
        lines.append(f"  algebra: {found.title()}; {found.reasons[0]}")
    words = sym.words if found.known or not sym.action.has_matrices else ()
    if words:
        number = min(len(words), SHOWN_WORDS)
        while number > 1 and len(", ".join(words[:number])) > WORDS_LENGTH:
            number -= 1
        more = [f"{len(words) - number} more"] if len(words) > number else []
        lines.append(f"  generators: {', '.join([*words[:number], *more])}")
    return lines
