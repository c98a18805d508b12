"""Two results side by side: in a sentence, as a table a person can read in a terminal, and as JSON values."""

import dataclasses
import math
import textwrap
from typing import Any

from liegg.decision.decide import plural
from liegg.discovery.compare import LEAST, Comparison, Side
from liegg.discovery.paired_defects import Contrast, Measured

WIDTH = 120
"""Columns of a table."""

MOST = 38
"""Lines of a table; the middle of the directions is left out and said to be."""

LONGEST = 32
"""Letters of a motion's name, at most."""

UNLIKE = 0.1
"""Relative difference from which on output generators are said to differ, unless the uncertainties explain more."""


def sentence(found: Comparison) -> str:
    """The comparison in plain words.

    Args:
        found: the result of `liegg.compare`.
    """
    a, b = found.a, found.b
    if a.undecided or b.undecided:
        return _undecided(found)
    if not a.nullity and not b.nullity:
        return f"No symmetry in either{_nearest(found.overall)}."
    if not found.shared:
        return _apart(found)
    differ = (
        ""
        if not _unlike(found)
        else f"; but they move the outputs differently, by {100 * found.output_difference:.0f} %"
    )
    amount = _amount(found) + differ
    if found.same:
        names = (
            _algebra(a)
            if a.algebra == b.algebra
            else f"the same {_directions(found.shared)} ({a.algebra}, {b.algebra})"
        )
        return f"Both are {_adjective(found)} under {names}; {amount}."
    shared = "shared one" if found.shared == 1 else "shared ones"
    if found.only_a and found.only_b:
        return (
            f"{_directions(found.shared)} shared; {found.only_a} more only in a ({a.algebra} in all), {found.only_b} only in b "
            f"({b.algebra} in all); on the {shared} {amount}."
        )
    one, other, whole, part = ("a", "b", a, b) if found.only_a else ("b", "a", b, a)
    more = _directions(whole.nullity - found.shared, "more ")
    return f"{one} has the {_algebra(part)} of {other} and {more}, {_algebra(whole)} in all; on the {shared} {amount}."


def _directions(number: int, which: str = "") -> str:
    return f"{number} {which}direction{'s' * (number != 1)}"


def _algebra(side: Side) -> str:
    """Name of the algebra, or how many directions one without a name has."""
    return (
        f"{_directions(side.nullity)} without a name" if side.algebra == "unknown" else side.algebra
    )


def _adjective(found: Comparison) -> str:
    return "invariant" if found.question == "invariance" else "equivariant"


def _unlike(found: Comparison) -> bool:
    return found.output_difference > max(UNLIKE, found.explained)


def _undecided(found: Comparison) -> str:
    which = " and ".join(name for name, side in (("a", found.a), ("b", found.b)) if side.undecided)
    return (
        f"Not decided: the data of {which} leaves directions open (too few samples, or nothing that moves the output), so the "
        "models cannot be compared. See its warnings."
    )


def _nearest(overall: Contrast | None) -> str:
    """How near the nearest candidates come."""
    if overall is None:
        return ""
    closer = (
        f"; {overall.smaller} clearly comes closer"
        if overall.smaller
        else "; neither clearly comes closer"
    )
    return f"; the nearest candidate has a δ² of {_value(overall.a)} in a and {_value(overall.b)} in b{closer}"


def _apart(found: Comparison) -> str:
    """One has none, or both have others."""
    a, b = found.a, found.b
    if a.nullity and b.nullity:
        angle = f"{math.degrees(float(found.angles[0])):.2g}°"
        told = (
            f"No symmetry in common: {_algebra(a)} in a, {_algebra(b)} in b, at least {angle} apart"
        )
        across = [(one, _known(found, one, other)) for one, other in (("a", "b"), ("b", "a"))]
        return (
            told
            + "".join(
                f"; along those of {one} the other has a δ² of {_range(values)}"
                for one, values in across
                if values
            )
            + "."
        )
    name, other, side = ("a", "b", a) if a.nullity else ("b", "a", b)
    values = _known(found, name, other)
    along = f": along the same directions its δ² is {_range(values)}" if values else ""
    return f"{name} is {_adjective(found)} under {_algebra(side)}, {other} has no symmetry{along}."


def _known(found: Comparison, one: str, other: str) -> list[float]:
    """Defects in the other model along the directions that only one has."""
    values = [
        getattr(contrast, other).value for contrast in found.contrasts if contrast.found == one
    ]
    return [value for value in values if not math.isnan(value)]


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"


def _amount(found: Comparison) -> str:
    """Which of the two is more invariant on what they share, and by how much."""
    overall, word = found.overall, _adjective(found)
    if overall is None:
        return "nothing can be said of the amount"
    if overall.a.exact and overall.b.exact:
        return "both are exact"
    if overall.a.exact or overall.b.exact:
        exact, other, measured = ("a", "b", overall.b) if overall.a.exact else ("b", "a", overall.a)
        return f"{exact} is exact, {other} has a mean δ² of {_value(measured)}"
    ratio = overall.ratio
    if ratio is None:
        return "nothing can be said of the amount"
    if math.isnan(ratio[1]):
        return f"the mean δ² is {_value(overall.a)} in a and {_value(overall.b)} in b, without intervals"
    value, low, high = (
        ratio if overall.smaller != "b" else (1 / ratio[0], 1 / ratio[2], 1 / ratio[1])
    )
    times = f"{value:.2g} ({low:.2g} to {high:.2g})"
    if overall.smaller:
        return f"{overall.smaller} is {times} times more {word}"
    return f"neither is clearly more {word} (mean δ² in b over that in a: {times}){_each(found)}"


def _each(found: Comparison) -> str:
    """What single directions tell, where the mean tells nothing."""
    clear = [
        contrast.smaller
        for contrast in found.contrasts
        if contrast.found == "both" and contrast.smaller
    ]
    said = [
        f"{name} is on {clear.count(name)} of {found.shared}"
        for name in ("a", "b")
        if name in clear
    ]
    return f", but {' and '.join(said)}" if said else ""


def _value(measured: Measured) -> str:
    if math.isnan(measured.low):
        return f"{measured.value:.2g}"
    return (
        "0, exactly"
        if measured.exact
        else f"{measured.value:.2g} ({measured.low:.2g} to {measured.high:.2g})"
    )


def table(found: Comparison) -> str:
    """Readable account of a comparison in under 40 lines.

    Args:
        found: the result of `liegg.compare`.
    """
    lines = [
        f"{found.question} under {found.action}, two models side by side",
        f"  a: {_side(found.a)}",
        f"  b: {_side(found.b)}",
        "",
        f"  {found.sentence}",
        *_angles(found),
        *(f"  note: {note}" for note in found.notes),
    ]
    lines = [
        part
        for line in lines
        for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        or [""]
    ]
    return "\n".join([*lines, *_rows(found, MOST - len(lines))])


def _side(side: Side) -> str:
    low, high = side.nullity_interval
    sure = "" if low == high else f" ({low} to {high})"
    number = "1 symmetry" if side.nullity == 1 else f"{side.nullity} symmetries"
    algebra = f", {side.algebra}" if side.nullity else ""
    undecided = f", {side.undecided} undecided" if side.undecided else ""
    return f"{side.model}, {plural(side.samples, 'sample')}: {number}{sure}{algebra}{undecided}"


def _angles(found: Comparison) -> list[str]:
    if not len(found.angles):
        return []
    angles = _range(
        [math.degrees(angle) if angle > LEAST else 0.0 for angle in found.angles.tolist()]
    )
    return [
        f"  principal angles between the two spans: {angles}°; up to {math.degrees(found.explained):.2g}° are explained by the "
        f"uncertainties: {_directions(found.shared)} shared, {found.only_a} only in a, {found.only_b} only in b"
    ]


def _rows(found: Comparison, room: int) -> list[str]:
    """One line to a direction, and the mean of shared ones last."""
    level = f"{100 * found.level:g} % interval"
    lines = [
        f"  {'found in':<8}  {'δ² in a':>9}  {level:^19}  {'δ² in b':>9}  {level:^19}  {'clearly smaller':<16}  motion"
    ]
    contrasts = list(found.contrasts)
    if found.overall is not None and found.shared > 1:
        contrasts.append(found.overall)
    most, left_out = max(room - 2, 4), -1
    if len(contrasts) > most:
        left_out = len(contrasts) - most + 1
        contrasts = [*contrasts[: most // 2], *contrasts[most // 2 + left_out :]]
    for number, contrast in enumerate(contrasts):
        if left_out > 0 and number == most // 2:
            lines.append(f"  ...       {left_out} more")
        words = (
            contrast.words
            if len(contrast.words) <= LONGEST
            else contrast.words[: LONGEST - 1] + "…"
        )
        cells = f"{_cells(contrast.a)}  {_cells(contrast.b)}  {_clearly(contrast):<16}"
        lines.append(f"  {contrast.found:<8}  {cells}  {words}".rstrip())
    return ["", *lines] if contrasts else []


def _cells(measured: Measured) -> str:
    if math.isnan(measured.value):
        return f"{'–':>9}  {'':^19}"
    ends = (
        "exact"
        if measured.exact
        else ""
        if math.isnan(measured.low)
        else f"{measured.low:.2e} – {measured.high:.2e}"
    )
    return f"{measured.value:>9.2e}  {ends:^19}"


def _clearly(contrast: Contrast) -> str:
    if not contrast.smaller:
        return "–"
    if contrast.ratio is None:
        return f"{contrast.smaller}, exact"
    times = contrast.ratio[0] if contrast.smaller == "a" else 1 / contrast.ratio[0]
    return f"{contrast.smaller}, {times:.2g} times"


def comparison_dict(found: Comparison) -> dict[str, Any]:
    """Everything of a comparison as JSON values: finite numbers, strings, lists; infinities and NaN become null.

    Args:
        found: the result of `liegg.compare`.
    """
    return _plain(
        {
            "question": found.question,
            "action": found.action,
            "a": dataclasses.asdict(found.a),
            "b": dataclasses.asdict(found.b),
            "sentence": found.sentence,
            "same": found.same,
            "shared": found.shared,
            "only_a": found.only_a,
            "only_b": found.only_b,
            "angles": found.angles.tolist(),
            "explained": found.explained,
            "level": found.level,
            "directions": [_contrast(contrast) for contrast in found.contrasts],
            "overall": None if found.overall is None else _contrast(found.overall),
            "output_difference": found.output_difference,
            "notes": list(found.notes),
        }
    )


def _contrast(contrast: Contrast) -> dict[str, Any]:
    return {
        "found": contrast.found,
        "words": contrast.words,
        "generator": None if contrast.generator is None else contrast.generator.tolist(),
        "a": dataclasses.asdict(contrast.a),
        "b": dataclasses.asdict(contrast.b),
        "smaller": contrast.smaller,
        "ratio": contrast.ratio,
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN; say so with null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
