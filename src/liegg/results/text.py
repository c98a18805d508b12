"""The result as a table for a terminal; reads the record and computes nothing."""

import math

from liegg._utils.diagnoses import plural
from liegg._utils.text import runs
from liegg.decision.decide import VIOLATING_SAMPLES
from liegg.decision.distribution_test import DistributionTest
from liegg.decision.two_sample import MOVED_LEVEL
from liegg.results.account import EQUAL_DEFECTS, LISTED_CANDIDATES
from liegg.results.sentence import SHOWN_VIOLATION
from liegg.results.symmetries import Symmetries
from liegg.results.tables import (
    TABLE_LINES,
    Column,
    decimal,
    fitted,
    interval,
    table_width,
    value_range,
    without_middle,
    wrapped,
)
from liegg.results.tower import in_words

SHOWN_REMARKS = 3
"""Warnings, and notes, that are shown in full."""


SMALLEST_P = 1e-12
"""p-value below which it is not written out."""


def table(sym: Symmetries, *, width: int | None = None, variance: bool = False) -> str:
    """Readable account of a result in under 40 lines: the finding, the directions around the gap, warnings and notes.

    Args:
        sym: the result of `discover`.
        width: columns of a line; those of the terminal by default.
        variance: list the paper's symmetry variance as well.
    """
    width = table_width(width)
    lines = [
        *_opening(sym, width),
        _question(sym),
        "",
        *([f"  {'; '.join(sym.decision.reasons)}"] if sym.decision.reasons else []),
        *_bottom(sym),
        *_certainty(sym),
        *_algebra(sym),
        *([] if (said := sym.account.on_output) is None else [f"  {said}"]),
        *([f"  levels: {levels}"] if (levels := in_words(sym.tower, sym.nullity)) else []),
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
    lines = wrapped(lines, width)
    rows = _directions(sym, TABLE_LINES - len(lines), width, variance) if len(sym.defects) else []
    return "\n".join([*lines, *rows]).rstrip()


def _opening(sym: Symmetries, width: int) -> tuple[str, ...]:
    """The first lines: the answers about named motions, and what was found, in plain words."""
    answers = sym.answers.lines(width)
    return (*answers, *([""] if answers else []), sym.sentence)


def _question(sym: Symmetries) -> str:
    """The question, the amount of data, and the method."""
    if sym.distribution is not None:
        return (
            f"distribution under {sym.action}: {plural(sym.samples, 'sample')}, {sym.distribution.functions}, "
            f"{sym.distribution.combinations} of them independent"
        )
    question = f"invariance under {sym.action}"
    if sym.output_action is not None:
        question = f"equivariance under {sym.action}, with {sym.output_action} on the output"
    settings = sym.settings
    return (
        f"{question}: {plural(sym.samples, 'sample')}, {plural(sym.accumulated.rows.rows, 'row')}, "
        f"outputs={settings['outputs']!r}, by {settings['route']}, {settings['dtype']}"
    )


def _directions(sym: Symmetries, room: int, width: int, variance: bool) -> list[str]:
    """One line per direction, up to some after the last symmetry; those in the middle are left out if there is no room."""
    last = max(sym.nullity, sym.decision.levels[-1])
    shown = range(
        min(len(sym.defects), last + LISTED_CANDIDATES)
    )  # some more, so that the gap can be seen
    columns = _columns(sym, shown)
    spectrum = sym.spectrum.values.tolist() if variance else []
    if spectrum:
        cells = [decimal(value) for value in spectrum[: len(shown)]]
        cells += [""] * (len(shown) - len(cells))
        columns.insert(-1, Column("σ²/|D|", cells, ">"))
    head, *rows = fitted(columns, width)
    indent = max(6, 4 + len(str(len(shown))))
    lines = [head, *without_middle(rows, max(room - 2, 4) // 2 * 2 + 1, indent=indent)]
    dots = f"{'  ...':<{indent}}"
    if (rest := len(sym.defects) - len(shown)) > 0:
        largest = f"; σ²/|D| up to {spectrum[-1]:.3g}" if spectrum else ""
        lines.append(f"{dots}{rest} more, δ² up to {float(sym.defects[-1]):.3g}{largest}")
    if sym.decision.unsolved:
        lines.append(f"{dots}{sym.decision.unsolved} more were not solved for")
    return lines


def _columns(sym: Symmetries, shown: range) -> list[Column]:
    """Number, defect, interval, grade and words of directions; of the symmetries in the readable basis, if they have one.

    A defect at the numerical floor is written as 0.
    """
    decision, readable = sym.decision, sym.account.readable
    values, ends = sym.defects.tolist(), sym.intervals.tolist()
    grades = [
        grade + "?" * (bool(doubts) and grade != "undecided")
        for grade, doubts in zip(decision.shown_grades, decision.borderline, strict=True)
    ]
    words = list(sym.account.words) or [""] * sym.nullity
    if len(readable) == sym.nullity:
        for i, one in enumerate(readable):
            values[i], ends[i], words[i] = one.defect, list(one.interval), one.words
            grades[i] = one.grade + "?" * _is_borderline(one.defect, sym)
    words += [one.words for one in sym.candidates]
    words += [""] * (len(shown) - len(words))
    level = f"{100 * decision.thresholds.level:g} % interval"
    return [
        Column("", [str(i + 1) for i in shown], ">"),
        Column("defect δ²", [decimal(values[i], floor=decision.floor) for i in shown], ">"),
        Column(level, [interval(*ends[i]) for i in shown], "^"),
        Column("grade", [grades[i] for i in shown]),
        Column("motion", [words[i] for i in shown], words=True),
    ]


def _is_borderline(defect: float, sym: Symmetries) -> bool:
    """Whether the symmetry whose defect is the first not below this one is near a threshold."""
    floor = sym.decision.floor
    above = [
        (max(value, floor), i)
        for i, value in enumerate(sym.defects[: sym.nullity].tolist())
        if max(value, floor) >= max(defect, floor) * (1 - EQUAL_DEFECTS)
    ]
    return bool(above) and bool(sym.decision.borderline[min(above)[1]])


def _first(lines: list[str], where: str) -> list[str]:
    """The first few lines, and where the rest is."""
    if len(lines) <= SHOWN_REMARKS:
        return lines
    return [*lines[: SHOWN_REMARKS - 1], f"  and {len(lines) - SHOWN_REMARKS + 1} more in {where}"]


def _bottom(sym: Symmetries) -> list[str]:
    """Say that only the smallest defects were solved for, and how well."""
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
    if sym.distribution is not None:
        return _tests(sym, sym.distribution)
    lines = []
    if (certainty := sym.decision.certainty) is not None:
        low, high = certainty.nullity
        count = plural(low, "symmetry") if low == high else f"{low} to {high} symmetries"
        what = "span" if sym.nullity > 1 else "direction" if sym.nullity else "nearest candidate"
        lines.append(
            f"  {100 * certainty.level:g} % block bootstrap ({certainty.blocks} blocks): {count}, {what} stable to "
            f"{math.degrees(certainty.angle):.2g}°{_not_seen(sym)}"
        )
    control = sym.controls.random
    if control is not None and control.draws:
        share = f"{100 * (1 - control.share):g} %"
        lines.append(
            f"  control: {share} of random directions of equal displacement have δ² above {control.low:.2g}"
        )
    return lines


def _not_seen(sym: Symmetries) -> str:
    """Which data no interval covers, where it may not be rare; the reasons say so of exact directions."""
    share = VIOLATING_SAMPLES / sym.samples
    if sym.decision.exact or share <= SHOWN_VIOLATION:
        return ""
    return f", for data without kinds of samples rarer than {100 * share:.2g} %"


def _tests(sym: Symmetries, tests: DistributionTest) -> list[str]:
    """How the symmetries of a data set were tested against chance."""
    lines = []
    if tests.found and not math.isnan(tests.span_p):
        which = "them" if tests.found == sym.nullity else f"the first {tests.found}"
        chance = f"chance explains {which} ({_p(tests.span_p)})"
        after = "" if math.isnan(tests.next_p) else f"one more is excluded ({_p(tests.next_p)})"
        lines.append(f"  against chance: {'; '.join(filter(None, (chance, after)))}")
    elif not math.isnan(tests.next_p):
        lines.append(f"  against chance: every direction is excluded ({_p(tests.next_p)})")
    if sym.decision.certainty is not None and sym.nullity:
        lines.append(f"  directions known to {math.degrees(sym.decision.uncertainty):.2g}°")
    if math.isfinite(tests.detectable):
        lines.append(
            f"  power: a defect of {tests.detectable:.2g}, as these functions see it, would have been seen with a probability of 95 %"
        )
    lines += _further(tests)
    lines += [
        f"  moved by {one.displacement:.2g} of the spread, {one.name}: {_moved(one.p_value)} ({_p(one.p_value)}, "
        f"{2 * one.samples} samples)"
        for one in tests.moved
    ]
    if tests.dispersion > 1:
        lines.append(
            f"  samples depend on each other: they count as {sym.samples / tests.dispersion:.0f} independent ones"
        )
    return lines


def _further(tests: DistributionTest) -> list[str]:
    """What further test functions say, and the finest structure that they see."""
    if not tests.further:
        return []
    least = min(test.p_value for test in tests.further)
    waves = [one.wavelength for one in tests.further if not math.isnan(one.wavelength)]
    down = f", down to a wavelength of {min(waves):.2g} of the data's size" if waves else ""
    return [
        f"  {len(tests.further)} times further test functions{down}: smallest {_p(least)}; finer structure is not seen"
    ]


def _p(value: float) -> str:
    """A p-value; tiny ones have no digits that matter."""
    return f"p < {SMALLEST_P:g}" if value < SMALLEST_P else f"p = {value:.2g}"


def _moved(p_value: float) -> str:
    """Result of comparing moved samples with others."""
    return "another distribution" if p_value <= MOVED_LEVEL else "no difference seen"


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


def _algebra(sym: Symmetries) -> list[str]:
    """Details of the algebra beyond the first sentence: its distance, or why it has no name."""
    found = sym.identification
    if not sym.nullity or not (found.known or sym.action.has_matrices):
        return []
    if not found.known:
        return [f"  algebra: {found.title()}; {found.reasons[0]}"]
    if found.angle <= 1e-6:  # also where it is NaN
        return []
    return [f"  algebra: within {math.degrees(found.angle):.2g}° of {found.name}"]
