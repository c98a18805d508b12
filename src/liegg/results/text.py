"""The result as a table for a terminal; reads the record and computes nothing."""

import math

from liegg._utils.diagnoses import plural
from liegg._utils.text import runs
from liegg.results.account import NEAREST
from liegg.results.symmetries import Symmetries
from liegg.results.tables import TABLE_LINES, value_range, without_middle, wrapped
from liegg.results.tower import in_words

SHOWN_REMARKS = 3
"""Warnings, and notes, that are shown in full."""

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
        f"{question} of {sym.subject} under {sym.action}: {count}",
        f"{plural(sym.samples, 'sample')}, {plural(sym.accumulated.rows.rows, 'row')}, "
        f"outputs={sym.settings['outputs']!r}, by {sym.settings['route']}, {sym.settings['dtype']}",
        "",
        f"  {sym.decision.sentence}",
        *([f"  {'; '.join(sym.decision.reasons)}"] if sym.decision.reasons else []),
        *_bottom(sym),
        *_certainty(sym),
        *_algebra(sym),
        *_tower(sym),
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
    lines = wrapped(lines)
    return "\n".join([*lines, *_directions(sym, TABLE_LINES - len(lines))])


def _directions(sym: Symmetries, room: int) -> list[str]:
    """One line per direction, up to some after the last symmetry; those in the middle are left out if there is no room."""
    variances = None if sym._spectrum is None else sym._spectrum.values.tolist()
    level = f"{100 * sym.decision.thresholds.level:g} % interval"
    head = f"  {'':>4}  {'defect δ²':>11}  {level:^23}  {'grade':<13}"
    if variances is not None:
        head += f"  {'variance σ²/|D|':>15}   (paper's, its own order)"
    end = (
        max(sym.nullity, sym.decision.levels[-1]) + NEAREST
    )  # some more, so that the gap can be seen
    rows = [
        f"{_row(sym, i)}  {'' if variances is None else f'{variances[i]:>15.3e}'}".rstrip()
        for i in range(min(len(sym.defects), end))
    ]
    lines = [head, *without_middle(rows, max(room - 2, 4) // 2 * 2 + 1, indent=8)]
    if (rest := len(sym.defects) - end) > 0:
        largest = "" if variances is None else f"; variance up to {variances[-1]:.3g}"
        lines.append(f"  ...   {rest} more, δ² up to {float(sym.defects[-1]):.3g}{largest}")
    if sym.decision.unsolved:
        lines.append(f"  ...   {sym.decision.unsolved} more were not solved for")
    return lines


def _row(sym: Symmetries, i: int) -> str:
    """Number, defect, interval and grade of one direction."""
    low, high = sym.intervals[i].tolist()
    ends = f"{low:.3e} – {high:.3e}" if math.isfinite(low) and low < high else ""
    grade = sym.decision.grades[i] + "?" * bool(sym.decision.borderline[i])
    grade = "undecided" if i < sym.decision.undecided else grade
    return f"  {i + 1:>4}  {float(sym.defects[i]):>11.3e}  {ends:^23}  {grade:<13}"


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
    medians = control.along.median(0).values.tolist()  # NaN where a draw is undecided
    learned = [i + 1 for i, yes in enumerate(control.learned) if yes]
    if control.test is not None:
        what, span = str(control.test.remark), control.test.dimension
    else:  # earlier versions compared every direction
        what = f"learned: directions {runs(learned)}" if learned else "learned: none"
        span = max(sym.nullity, 1)
    return [
        f"  re-initialised models ({len(control.along)} draws): δ² {value_range(medians[:span])} along the same directions; {what}",
        *_first([f"  note: {text}" for text in control.notes], "sym.controls.reinitialised.notes"),
    ]


def _tower(sym: Symmetries) -> list[str]:
    """The levels, if there are several, or one that is not counted."""
    words = in_words(sym.tower, sym.nullity)
    return [f"  levels: {words}"] if words else []


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
