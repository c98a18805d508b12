"""A comparison in a sentence, as a table for a terminal, and as JSON values."""

import math
import textwrap
from typing import Any

from liegg._utils.diagnoses import Diagnosis, Remark, plural
from liegg.results.comparison import Comparison, Measured, PairedDefect, Side
from liegg.results.json_values import json_values

WIDTH = 120
"""Columns of a table."""

MAX_LINES = 38
"""Lines of a table; directions in the middle are left out and counted."""

MAX_WORDS = 32
"""Characters of a motion's description."""

OUTPUT_DIFFERENCE = 0.1
"""Relative difference above which output generators differ, unless uncertainties explain more."""

SAME_SPAN = 1e-6
"""Angle in radians below which two spans are one: rounding in exact directions."""


def remarks(comparison: Comparison) -> tuple[Remark, ...]:
    """What the comparison shows: which symmetries are shared, and which model has them better.

    Args:
        comparison: the result of `liegg.compare`.
    """
    a, b = comparison.a, comparison.b
    if a.undecided or b.undecided:
        models = " and ".join(name for name, side in (("a", a), ("b", b)) if side.undecided)
        return (Diagnosis.NOT_COMPARABLE(models=models),)
    if not a.nullity and not b.nullity:
        return (Diagnosis.NEITHER_SYMMETRIC(), *_nearest(comparison.overall))
    if not comparison.shared:
        return tuple(_nothing_shared(comparison))
    found = [_shared(comparison), *_amount(comparison)]
    difference = comparison.output_difference
    if difference > max(OUTPUT_DIFFERENCE, comparison.explained):
        found.append(Diagnosis.OUTPUTS_DIFFER(percent=100 * difference))
    return tuple(found)


def sentence(comparison: Comparison) -> str:
    """The remarks in one sentence."""
    return "; ".join(remarks(comparison)) + "."


def _shared(comparison: Comparison) -> Remark:
    """Which symmetries both models have."""
    a, b, shared = comparison.a, comparison.b, comparison.shared
    adjective = _adjective(comparison)
    if comparison.same and a.algebra == b.algebra:
        return Diagnosis.SAME_ALGEBRA(adjective=adjective, algebra=_algebra(a))
    if comparison.same:
        return Diagnosis.SAME_DIRECTIONS(
            adjective=adjective, shared=shared, a=a.algebra, b=b.algebra
        )
    if comparison.only_a and comparison.only_b:
        return Diagnosis.PARTLY_SHARED(
            shared=shared,
            only_a=comparison.only_a,
            only_b=comparison.only_b,
            a=a.algebra,
            b=b.algebra,
        )
    larger, smaller, whole, part = ("a", "b", a, b) if comparison.only_a else ("b", "a", b, a)
    return Diagnosis.ONE_CONTAINS_OTHER(
        larger=larger,
        smaller=smaller,
        part=_algebra(part),
        more=whole.nullity - shared,
        algebra=_algebra(whole),
    )


def _nothing_shared(comparison: Comparison) -> list[Remark]:
    """One model has no symmetry, or both have different ones."""
    a, b = comparison.a, comparison.b
    if a.nullity and b.nullity:
        angle = math.degrees(float(comparison.angles[0]))
        found = [Diagnosis.NOTHING_SHARED(a=_algebra(a), b=_algebra(b), angle=angle)]
    else:
        one, other, side = ("a", "b", a) if a.nullity else ("b", "a", b)
        found = [
            Diagnosis.ONLY_ONE_SYMMETRIC(
                one=one, other=other, adjective=_adjective(comparison), algebra=_algebra(side)
            )
        ]
    for one, other in (("a", "b"), ("b", "a")):
        pairs = [pair for pair in comparison.directions if pair.found_in == one]
        values = [value for pair in pairs if not math.isnan(value := getattr(pair, other).value)]
        if values:
            found.append(Diagnosis.DEFECT_IN_OTHER(one=one, other=other, defects=_range(values)))
    return found


def _nearest(overall: PairedDefect | None) -> list[Remark]:
    """How near the nearest candidates come."""
    if overall is None:
        return []
    values = Diagnosis.NEAREST_CANDIDATES(a=_value(overall.a), b=_value(overall.b))
    if not overall.smaller:
        return [values, Diagnosis.NOT_CLEARLY_CLOSER()]
    return [values, Diagnosis.CLEARLY_CLOSER(model=overall.smaller)]


def _amount(comparison: Comparison) -> list[Remark]:
    """Which model is more invariant on the shared directions, and by how much."""
    overall, adjective = comparison.overall, _adjective(comparison)
    ones = "one" if comparison.shared == 1 else "ones"
    where = "" if comparison.same else f"on the shared {ones} "
    if overall is None:
        return [Diagnosis.AMOUNT_UNKNOWN(where=where)]
    a, b = overall.a, overall.b
    if a.exact and b.exact:
        return [Diagnosis.BOTH_EXACT(where=where)]
    if a.exact or b.exact:
        exact, other, measured = ("a", "b", b) if a.exact else ("b", "a", a)
        return [Diagnosis.ONE_EXACT(where=where, exact=exact, other=other, defect=_value(measured))]
    if (ratio := overall.ratio) is None:
        return [Diagnosis.AMOUNT_UNKNOWN(where=where)]
    if math.isnan(ratio[1]):
        return [Diagnosis.MEANS_ONLY(where=where, a=_value(a), b=_value(b))]
    value, low, high = ratio
    if overall.smaller == "b":
        value, low, high = 1 / value, 1 / high, 1 / low
    times = {"where": where, "adjective": adjective, "ratio": _interval(value, low, high)}
    if overall.smaller:
        return [Diagnosis.MORE_SYMMETRIC(model=overall.smaller, **times)]
    clear = [pair.smaller for pair in comparison.directions if pair.found_in == "both"]
    return [
        Diagnosis.NOT_MORE_SYMMETRIC(**times),
        *(
            Diagnosis.MORE_SYMMETRIC_ON_SOME(
                model=name, count=clear.count(name), shared=comparison.shared
            )
            for name in ("a", "b")
            if name in clear
        ),
    ]


def _algebra(side: Side) -> str:
    """Name of the algebra, or the number of directions of one without a name."""
    if side.algebra == "unknown":
        return f"{plural(side.nullity, 'direction')} without a name"
    return side.algebra


def _adjective(comparison: Comparison) -> str:
    return "invariant" if comparison.question == "invariance" else "equivariant"


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"


def _interval(value: float, low: float, high: float) -> str:
    return f"{value:.2g} ({low:.2g} to {high:.2g})"


def _value(measured: Measured) -> str:
    if math.isnan(measured.low):
        return f"{measured.value:.2g}"
    return (
        "0, exactly" if measured.exact else _interval(measured.value, measured.low, measured.high)
    )


def table(comparison: Comparison) -> str:
    """Readable account of a comparison in under 40 lines.

    Args:
        comparison: the result of `liegg.compare`.
    """
    lines = [
        f"{comparison.question} under {comparison.action}, two models side by side",
        f"  a: {_side(comparison.a)}",
        f"  b: {_side(comparison.b)}",
        "",
        f"  {comparison.sentence}",
        *_angles(comparison),
        *(f"  note: {note}" for note in comparison.notes),
    ]
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent="    ", break_on_hyphens=False).wrap
    lines = [part for line in lines for part in wrap(line) or [""]]
    return "\n".join([*lines, *_rows(comparison, MAX_LINES - len(lines))])


def _side(side: Side) -> str:
    low, high = side.nullity_interval
    interval = "" if low == high else f" ({low} to {high})"
    algebra = f", {side.algebra}" if side.nullity else ""
    undecided = f", {side.undecided} undecided" if side.undecided else ""
    count = f"{plural(side.nullity, 'symmetry')}{interval}{algebra}{undecided}"
    return f"{side.model}, {plural(side.samples, 'sample')}: {count}"


def _angles(comparison: Comparison) -> list[str]:
    if not len(comparison.angles):
        return []
    angles = [angle if angle > SAME_SPAN else 0.0 for angle in comparison.angles.tolist()]
    return [
        f"  principal angles between the two spans: {_range([*map(math.degrees, angles)])}°; "
        f"up to {math.degrees(comparison.explained):.2g}° are explained by the uncertainties: "
        f"{plural(comparison.shared, 'direction')} shared, {comparison.only_a} only in a, "
        f"{comparison.only_b} only in b"
    ]


def _rows(comparison: Comparison, room: int) -> list[str]:
    """One line per direction, and the mean of the shared ones last."""
    pairs = list(comparison.directions)
    if not pairs:
        return []
    if comparison.overall is not None and comparison.shared > 1:
        pairs.append(comparison.overall)
    level = f"{100 * comparison.level:g} % interval"
    heading = (
        f"  {'found in':<8}  {'δ² in a':>9}  {level:^19}  {'δ² in b':>9}  {level:^19}  "
        f"{'clearly smaller':<16}  motion"
    )
    lines = [_row(pair) for pair in pairs]
    capacity = max(room - 2, 4)
    if (hidden := len(lines) - capacity + 1) > 1:
        half = capacity // 2
        lines = [*lines[:half], f"  ...       {hidden} more", *lines[half + hidden :]]
    return ["", heading, *lines]


def _row(pair: PairedDefect) -> str:
    words = pair.words if len(pair.words) <= MAX_WORDS else f"{pair.words[: MAX_WORDS - 1]}…"
    clear = "–"
    if pair.smaller:
        ratio = pair.ratio
        times = 1.0 if ratio is None else ratio[0] if pair.smaller == "a" else 1 / ratio[0]
        clear = f"{pair.smaller}, {'exact' if ratio is None else f'{times:.2g} times'}"
    cells = f"{_cells(pair.a)}  {_cells(pair.b)}  {clear:<16}"
    return f"  {pair.found_in:<8}  {cells}  {words}".rstrip()


def _cells(measured: Measured) -> str:
    if math.isnan(measured.value):
        return f"{'–':>9}  {'':^19}"
    ends = "" if math.isnan(measured.low) else f"{measured.low:.2e} – {measured.high:.2e}"
    return f"{measured.value:>9.2e}  {'exact' if measured.exact else ends:^19}"


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Everything of a comparison as JSON values; infinities and NaN become null.

    Args:
        comparison: the result of `liegg.compare`.
    """
    record = json_values(comparison)
    overall = comparison.overall
    return record | {
        "sentence": comparison.sentence,
        "remarks": [remark.to_dict() for remark in remarks(comparison)],
        "same": comparison.same,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "directions": [_pair_dict(pair) for pair in comparison.directions],
        "overall": None if overall is None else _pair_dict(overall),
    }


def _pair_dict(pair: PairedDefect) -> dict[str, Any]:
    return json_values(pair) | {"smaller": pair.smaller, "ratio": json_values(pair.ratio)}
