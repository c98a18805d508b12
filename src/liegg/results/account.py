"""Words and numbers of the directions for text, page and JSON, computed once with the result."""

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ArgumentError, UnavailableError
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.identification import Identification
from liegg.algebra.words.readable import word_tolerance
from liegg.decision.decide import Decision
from liegg.decision.gap import mixing_angle
from liegg.decision.grades import GRADES
from liegg.polarization.memory import readable
from liegg.results.accumulated import Accumulated
from liegg.results.naming import INSIDE_SPAN, NAMED_DEFECT_FACTOR, coefficients_within, on_output
from liegg.spectrum.spectrum import Spectrum, symmetry_bias

LISTED_CANDIDATES = 3
"""Directions after the last symmetry that are listed and described."""

EQUAL_DEFECTS = 1e-6
"""Relative difference up to which two defects are equal."""

LARGEST_SIZE = 2**27
"""Numbers in all generators up to which they are built as matrices: 1 GB."""

PRINTABLE_SIZE, PRINTABLE_SIDE = 2**21, 512
"""Numbers in all generators, and rows of one, up to which they are described, drawn and listed, which takes seconds."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A symmetry, or a nearest candidate, in words and numbers.

    Attributes:
        words: what it does.
        defect: its defect δ².
        interval: lower and upper end of the defect's interval; NaN without one.
        grade: its grade.
        coefficients: `[g]`, unit coefficients.
    """

    words: str
    defect: float
    interval: tuple[float, float]
    grade: str
    coefficients: Float[Tensor, " g"]


@dataclass(frozen=True, eq=False)
class Account:
    """The directions described: words, readable basis, nearest candidates.

    Attributes:
        words: what each found generator does, in the order of the generators; empty if they are too many or too large.
        defects: `[d]`, defect of each found generator.
        variances: `[d]`, the paper's symmetry variance of each.
        candidates: the nearest directions after the last symmetry.
        bias: `[g]`, the paper's bias of every direction of the spectrum against the named algebra; None if it has no name.
        generators: `[d, n, n]`, the symmetries as matrices; None if there are none, or if they are too many or too large.
        output_generators: `[d, m, m]`, what they do to the output; None for invariance too.
        readable: the readable basis of the symmetries, if their algebra has a name: a motion in words with its defect, the interval
            of a motion that was fixed beforehand, and the grade that this defect has among the symmetries. Empty without a name,
            if it mixes exact motions with others, and for results of earlier versions.
        on_output: what they do to the output, in words; None for invariance, without symmetries, and for outputs without matrices.
    """

    words: tuple[str, ...]
    defects: Float[Tensor, " d"]
    variances: Float[Tensor, " d"]
    candidates: tuple[Candidate, ...]
    bias: Float[Tensor, " g"] | None = None
    generators: Float[Tensor, "d n n"] | None = None
    output_generators: Float[Tensor, "d m m"] | None = None
    readable: tuple[Candidate, ...] = ()
    on_output: Remark | None = None


def account_of(
    action: Action,
    accumulated: Accumulated,
    decision: Decision,
    *,
    output_action: Action | None,
    coefficients: Float[Tensor, "d g"],
    intervals: Float[Tensor, "r 2"],
    spectrum: Spectrum | None,
    identification: Identification,
) -> Account:
    """Describe the symmetries and the nearest directions.

    Args:
        action: the candidate generators.
        accumulated: what the pass left.
        decision: how many directions are symmetries.
        output_action: the action on the outputs; None for invariance.
        coefficients: those of the symmetries.
        intervals: of every defect.
        spectrum: the paper's, if solved.
        identification: the name of their algebra.
    """
    solution, nullity = accumulated.solution, decision.nullity
    tolerance = decision.thresholds.trivial_tolerance
    near = solution.directions[nullity : nullity + LISTED_CANDIDATES]
    error = direction_error(decision)
    candidates = tuple(
        Candidate(
            words=words,
            defect=float(solution.values[place]),
            interval=tuple(intervals[place].tolist()),
            grade=decision.grades[place],
            coefficients=direction,
        )
        for place, (words, direction) in enumerate(
            zip(words_of(action, near, error), near, strict=False), start=nullity
        )
    )
    none, partners = coefficients.new_zeros(0), accumulated.partners(coefficients)
    return Account(
        words=words_of(action, coefficients, error),
        defects=accumulated.defect(coefficients, trivial_tolerance=tolerance) if nullity else none,
        variances=accumulated.variance(coefficients) if nullity else none,
        candidates=candidates,
        bias=_bias(action, spectrum, identification),
        generators=matrices_of(action, coefficients),
        output_generators=matrices_of(output_action, partners),
        readable=_readable(action, accumulated, decision, identification),
        on_output=on_output(
            action,
            output_action,
            coefficients,
            partners,
            uncertainty=decision.uncertainty,
            identification=identification,
        ),
    )


def _readable(
    action: Action, accumulated: Accumulated, decision: Decision, identification: Identification
) -> tuple[Candidate, ...]:
    """The readable basis with its defects; empty without a name, outside the candidates, or if it mixes grades."""
    if not (decision.nullity and identification.known and isinstance(action, MatrixAction)):
        return ()
    basis = identification.readable
    if not basis.words or (rows := coefficients_within(action, basis.generators)) is None:
        return ()
    rows = rows.to(torch.float64)
    rows = rows / rows.norm(dim=1, keepdim=True)
    thresholds = decision.thresholds
    values = accumulated.defect(rows, trivial_tolerance=thresholds.trivial_tolerance)
    if bool(values.isnan().any()):  # a motion of the basis that does not move the data
        return ()
    ends = accumulated.interval(rows, values, floor=decision.floor, level=thresholds.level)
    found = accumulated.solution.values[: decision.nullity].tolist()
    exact = _exact(rows, accumulated, decision)
    grades = [
        "exact" if is_exact else _grade_among(defect, found, decision)
        for is_exact, defect in zip(exact, values.tolist(), strict=True)
    ]
    if grades.count("exact") < decision.exact:  # the words would hide what is exact
        return ()
    return tuple(
        Candidate(words=words, defect=defect, interval=(low, high), grade=grade, coefficients=row)
        for words, defect, (low, high), grade, row in zip(
            basis.words, values.tolist(), ends.tolist(), grades, rows, strict=True
        )
    )


def _exact(rows: Float[Tensor, "d g"], accumulated: Accumulated, decision: Decision) -> list[bool]:
    """Whether unit directions lie in the span of the exact ones, within what these may be off."""
    exact = orthonormal_rows(accumulated.solution.directions[: decision.exact])
    error = mixing_angle(accumulated.solution.values, decision.exact, decision.floor)
    outside = (rows - rows @ exact.mT @ exact).norm(dim=1)
    return (outside <= max(INSIDE_SPAN, error)).tolist() if decision.exact else [False] * len(rows)


def _grade_among(defect: float, found: list[float], decision: Decision) -> str:
    """Grade of a direction in the span of the symmetries: the worst of those whose defect is the first not below its own.

    A rounded generator may leave the span a little. Up to `NAMED_DEFECT_FACTOR` times their largest defect, or the threshold, it has the
    worst of their grades; above, it is weak.
    """
    own = max(defect, decision.floor) * (1 - EQUAL_DEFECTS)
    lifted = [max(value, decision.floor) for value in found]
    worst = partial(max, key=GRADES.index)
    above = [value for value in lifted if value >= own]
    if above:
        return worst(decision.grades[i] for i, value in enumerate(lifted) if value == min(above))
    is_near = defect <= max(NAMED_DEFECT_FACTOR * max(lifted), decision.thresholds.threshold)
    return worst(decision.grades[: len(found)]) if is_near else "weak"


def direction_error(decision: Decision) -> float:
    """Angle in radians by which a unit generator may be off: a symmetry, or the nearest candidate if there is none."""
    certainty = decision.certainty
    return decision.uncertainty if decision.nullity or certainty is None else certainty.angle


def words_of(action: Action, coefficients: Float[Tensor, "d g"], error: float) -> tuple[str, ...]:
    """Directions in words, without entries that the error explains; empty if there are too many or they are too large.

    All words of directions come from here, so that a direction has the same words in print, page, verification and comparison.

    Args:
        action: the candidate generators.
        coefficients: one row per direction.
        error: angle in radians by which a unit generator may be off.
    """
    side = action.ambient if isinstance(action, MatrixAction) else 1
    if not is_printable(len(coefficients), side):
        return ()
    return action.describe(coefficients, tolerance=word_tolerance(side, error))


def matrices_of(
    action: Action | None, coefficients: Float[Tensor, "d g"]
) -> Float[Tensor, "d n n"] | None:
    """Directions as matrices that can be printed; None if there are none, or if they are too many or too large."""
    if not isinstance(action, MatrixAction) or not is_printable(len(coefficients), action.ambient):
        return None
    return generators_of(action, coefficients)


def _bias(
    action: Action, spectrum: Spectrum | None, identification: Identification
) -> Float[Tensor, " g"] | None:
    """Bias against the named algebra; None if there is none, or if it lies outside the candidates."""
    if spectrum is None or not identification.known or not len(identification.generators):
        return None
    try:
        return symmetry_bias(spectrum, action, identification.generators)
    except ArgumentError:
        return None


def generators_of(action: Action, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
    """Generators as matrices.

    Args:
        action: the candidate generators.
        coefficients: one row per generator.

    Raises:
        UnavailableError: the action has no matrices, or they are too large to be built.
    """
    if not isinstance(action, MatrixAction):
        raise UnavailableError(
            f"{action!r} has no matrices: its generators are vector fields. Use sym.coefficients and sym.words."
        )
    count, n = len(coefficients), action.ambient
    if count * n**2 > LARGEST_SIZE:
        raise UnavailableError(
            f"{count} generators of {n} × {n} take {readable(8 * count * n**2)} as matrices. Build a few of them with "
            "sym.action.matrices(sym.coefficients[:3])."
        )
    return action.matrices(coefficients)


def is_printable(count: int, side: int) -> bool:
    """Whether this many matrices of this side can be described, drawn and listed.

    >>> is_printable(10, 5), is_printable(3000, 3000), is_printable(1, 3000)
    (True, False, False)
    """
    return side <= PRINTABLE_SIDE and count * side**2 <= PRINTABLE_SIZE
