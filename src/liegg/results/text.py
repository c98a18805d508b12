"""The record as a table a person can read in a terminal."""

import math
import textwrap

from jaxtyping import Float
from torch import Tensor

from liegg.decision.decide import plural, runs
from liegg.results.symmetries import Symmetries

SHOWN_AFTER = 3
"""Directions listed after the last symmetry, so that the gap can be seen."""

MOST = 38
"""Lines of a table; the middle of the directions is left out and said to be."""

REMARKS = 3
"""Warnings, and notes, that are shown in full."""

WIDTH = 120
"""Columns of a table; sentences are wrapped."""

LONGEST = 300
"""Letters of the generators in words; the rest is counted."""

MANY = 2048
"""Candidates beyond which the paper's variances are not solved for to be printed."""

NAMED = 12
"""Generators told in words."""


def table(sym: Symmetries) -> str:
    """Readable account of a result in under 40 lines: the verdict, the directions around the gap, warnings and notes.

    Args:
        sym: the result of `discover`.
    """
    question = "invariance" if sym.output_action is None else "equivariance"
    lines = [
        f"{question} of {sym.model} under {sym.action}: "
        f"{'at least ' * sym.is_lower_bound}{sym.nullity} {'symmetry' if sym.nullity == 1 else 'symmetries'}",
        f"{plural(sym.samples, 'sample')}, {plural(sym.rows, 'row')}, outputs={sym.settings['outputs']!r}, "
        f"by {sym.settings['route']}, {sym.settings['dtype']}",
        "",
        f"  {sym.decision.sentence}",
        *(f"  {reason}" for reason in sym.decision.reasons),
        *_solved(sym),
        *_sure(sym),
        *_named(sym),
        *_learned(sym),
        *_verified(sym),
        *_shortened(
            [f"  warning: {warning}" for warning in sym.decision.warnings], "sym.decision.warnings"
        ),
        *_shortened([f"  note: {note}" for note in sym.notes], "sym.notes"),
        "",
    ]
    lines = [part for line in lines for part in _wrapped(line)]
    return "\n".join([*lines, *_directions(sym, MOST - len(lines))])


def _wrapped(line: str) -> list[str]:
    """A line in lines of bounded length."""
    return textwrap.wrap(
        line, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    ) or [""]


def _directions(sym: Symmetries, room: int) -> list[str]:
    """One line to a direction, up to some after the last symmetry; the middle is left out where there is no room."""
    total, variances = len(sym.defects), _variances(sym)
    level = f"{100 * sym.settings['level']:g} % interval"
    lines = [
        f"  {'':>4}  {'defect δ²':>11}  {level:^23}  {'grade':<13}  {'variance σ²/|D|':>15}   (paper's, its own order)"
    ]
    if variances is None:
        lines = [lines[0].partition("variance")[0].rstrip()]
    listed = list(range(min(total, sym.nullity + SHOWN_AFTER)))
    most = max(room - 2, 4)
    if skipped := max(0, len(listed) - most):
        listed = [*listed[: most // 2], -1, *listed[len(listed) - most // 2 :]]
        skipped = min(total, sym.nullity + SHOWN_AFTER) - len(listed) + 1
    for i in listed:
        if i < 0:
            lines.append(f"  ...   {skipped} more")
            continue
        low, high = sym.intervals[i].tolist()
        ends = f"{low:.3e} – {high:.3e}" if math.isfinite(low) and low < high else ""
        mark = (
            "undecided"
            if i < sym.decision.undecided
            else sym.grades[i] + ("?" if sym.decision.borderline[i] else "")
        )
        variance = "" if variances is None else f"{float(variances[i]):>15.3e}"
        lines.append(
            f"  {i + 1:>4}  {float(sym.defects[i]):>11.3e}  {ends:^23}  {mark:<13}  {variance}".rstrip()
        )
    if sym.unsolved:
        lines.append(f"  ...   {sym.unsolved} more were not solved for")
    if (rest := total - sym.nullity - SHOWN_AFTER) > 0:
        largest = "" if variances is None else f"; variance up to {float(variances[-1]):.3g}"
        lines.insert(
            len(lines) - (sym.unsolved > 0),
            f"  ...   {rest} more, δ² up to {float(sym.defects[-1]):.3g}{largest}",
        )
    return lines


def _variances(sym: Symmetries) -> Float[Tensor, " g"] | None:
    """The paper's variances; None where they are so many that to solve for them takes longer than a look should."""
    return sym.spectrum.values if sym.action.size <= MANY else None


def _shortened(lines: list[str], where: str) -> list[str]:
    """The first few, and where the rest is."""
    return (
        lines
        if len(lines) <= REMARKS
        else [*lines[: REMARKS - 1], f"  and {len(lines) - REMARKS + 1} more in {where}"]
    )


def _solved(sym: Symmetries) -> list[str]:
    """That only the smallest defects were solved for, and how well."""
    if sym.bottom is None:
        return []
    off = (
        f"each right to {float(sym.bottom.residuals.max()):.1g}"
        if len(sym.bottom.residuals)
        else "none was there"
    )
    known = "; of the others it is known that they are no smaller" if sym.unsolved else ""
    return [
        f"  the {plural(len(sym.defects), 'smallest defect')} of {sym.bottom.moving} solved for, {off}{known}"
    ]


def _sure(sym: Symmetries) -> list[str]:
    """How sure the number and the span are, and what random directions reach."""
    lines = []
    if (sure := sym.certainty) is not None:
        low, high = sure.nullity
        number = f"{low}" if low == high else f"{low} to {high}"
        number += " symmetry" if low == high == 1 else " symmetries"
        whose = (
            "the nearest candidate"
            if not sym.nullity
            else "its direction"
            if sym.nullity == 1
            else "their span"
        )
        angle = f", {whose} turns by at most {math.degrees(sure.angle):.2g}°"
        lines.append(
            f"  over draws of the samples ({sure.blocks} blocks, {100 * sure.level:g} %): {number}{angle}"
        )
    if sym.control is not None and sym.control.draws:
        share = f"{100 * (1 - sym.control.share):g} %"
        lines.append(
            f"  control: {share} of random directions of equal displacement have δ² above {sym.control.low:.2g}"
        )
    return lines


def _learned(sym: Symmetries) -> list[str]:
    """Which directions lie clearly below those of fresh weights."""
    if sym.reinitialised is None:
        return []
    draws, shown = sym.reinitialised.along.shape
    learned = [i + 1 for i, yes in enumerate(sym.reinitialised.learned) if yes]
    said = f"direction{'s' * (len(learned) > 1)} {runs(learned)}" if learned else "no direction"
    middle = sym.reinitialised.along.median(0).values[: max(sym.nullity, 1)]
    low, high = f"{float(middle.min()):.2g}", f"{float(middle.max()):.2g}"
    lines = [
        f"  fresh weights, {draws} draws: δ² along the same directions {low if low == high else f'{low} to {high}'}; "
        f"learned (clearly below them): {said} of the first {shown}"
    ]
    return [
        *lines,
        *_shortened(
            [f"  note: {note}" for note in sym.reinitialised.notes], "sym.reinitialised.notes"
        ),
    ]


def _verified(sym: Symmetries) -> list[str]:
    """What finite motions showed."""
    if sym.verification is None:
        return []
    return [f"  finite motions: {sym.verification.summary}"]


def _named(sym: Symmetries) -> list[str]:
    """The algebra's name, how near it is, and its generators in words."""
    if not sym.nullity:
        return []
    found = sym.identification
    if not sym.action.has_matrices:
        return [f"  generators: {'; '.join(sym.words[:NAMED])}"]
    if not found.known:
        return [f"  algebra: {found.title()}; {found.reasons[0]}"]
    near = f"; the nearest is {math.degrees(found.angle):.2g}° away" if found.angle > 1e-6 else ""
    words = list(found.readable.words[:NAMED])
    more = [f"{found.dimension - NAMED} more"] if found.dimension > NAMED else []
    while len(account := f"generators: {', '.join(words + more)}") > LONGEST and len(words) > 1:
        words = words[:-1]
        more = [f"{found.dimension - len(words)} more"]
    return [f"  algebra: {found.title()}{near}", f"  {account}"]
