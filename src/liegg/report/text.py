"""The record as a table a person can read in a terminal."""

import math
import textwrap

from liegg.symmetries import Symmetries

SHOWN_AFTER = 3
"""Directions listed after the last symmetry, so that the gap can be seen."""

LONGEST = 24
"""Directions listed at most; the middle is left out and said to be."""

NAMED = 12
"""Generators told in words."""


def table(sym: Symmetries) -> str:
    """Readable account of a result: the verdict, the directions around the gap, warnings and notes.

    Args:
        sym: the result of `discover`.
    """
    question = "invariance" if sym.output_action is None else "equivariance"
    total = len(sym.defects)
    lines = [
        f"{question} of {sym.model} under {sym.action}: {sym.nullity} {'symmetry' if sym.nullity == 1 else 'symmetries'}",
        f"{sym.samples} samples, {sym.rows} rows, outputs={sym.settings['outputs']!r}, by {sym.settings['route']}, "
        f"{sym.settings['dtype']}",
        "",
        *(f"  {reason}" for reason in sym.decision.reasons),
        *_named(sym),
        *(f"  warning: {warning}" for warning in sym.decision.warnings),
        *(f"  note: {note}" for note in sym.notes),
        "",
        f"  {'':>4}  {'defect δ²':>11}  {'':<9}   {'':>4}  {'variance σ²/|D|':>15}   (paper's spectrum, its own order)",
    ]
    spectrum = sym.spectrum.values
    listed = list(range(min(total, sym.nullity + SHOWN_AFTER)))
    skipped = max(0, len(listed) - LONGEST)
    if skipped:
        listed = [*listed[: LONGEST // 2], -1, *listed[len(listed) - LONGEST // 2 :]]
    for i in listed:
        if i < 0:
            lines.append(f"  ...   {skipped} more")
            continue
        mark = "exact" if i < sym.decision.exact else "symmetry" if i < sym.nullity else ""
        mark = "undecided" if i < sym.decision.undecided else mark
        lines.append(f"  {i + 1:>4}  {float(sym.defects[i]):>11.3e}  {mark:<9}   {i + 1:>4}  {float(spectrum[i]):>15.3e}")
    if (rest := total - sym.nullity - SHOWN_AFTER) > 0:
        lines.append(f"  ...   {rest} more, δ² up to {float(sym.defects[-1]):.3g}; variance up to {float(spectrum[-1]):.3g}")
    return "\n".join(lines)


def _named(sym: Symmetries) -> list[str]:
    """The algebra's name, how near it is, and its generators in words."""
    if not sym.nullity:
        return []
    found = sym.identification
    if not found.known:
        return [f"  algebra: {found.title()}; {found.reasons[0]}"]
    near = f"; the nearest is {math.degrees(found.angle):.2g}° away" if found.angle > 1e-6 else ""
    words = list(found.readable.words[:NAMED])
    more = [f"{found.dimension - NAMED} more"] if found.dimension > NAMED else []
    account = f"generators: {', '.join(words + more)}"
    return [f"  algebra: {found.title()}{near}", *textwrap.wrap(account, 120, initial_indent="  ", subsequent_indent="    ")]
