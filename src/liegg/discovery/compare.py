"""Compare two results: do the models share symmetries, and which of them is more invariant?"""

import math
from collections.abc import Sequence
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.actions.settings import NAME_SETTINGS, without
from liegg.algebra.subspace import principal_angles
from liegg.decision.rank import evidence
from liegg.discovery.about.pair import (
    has_predictions,
    may_have_predictions,
    pair_answers,
    sizes_that_differ,
)
from liegg.results.account import direction_error, words_of
from liegg.results.comparison import SAME_SPAN, Comparison, Measured, PairedDefect, Side
from liegg.results.group_comparison import GroupComparison, compare_groups
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.layer_comparison import LayerComparison
from liegg.results.layers import LayerSymmetries
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import squared_motion

MAX_EXPLAINED = math.pi / 4
"""Largest angle that uncertainties may explain: beyond it two directions differ more than not."""

NEAREST = 3
"""Candidates that are compared if neither model has a symmetry."""


@overload
def compare(  # noqa: D418
    a: Symmetries, b: Symmetries, *, about: Any = None, names: Sequence[str] = ("a", "b")
) -> Comparison:
    """Two results of `discover`."""


@overload
def compare(  # noqa: D418
    a: LayerSymmetries, b: LayerSymmetries, *, about: Any = None, names: Sequence[str] = ("a", "b")
) -> LayerComparison:
    """Two results of `discover_layers`."""


@overload
def compare(  # noqa: D418
    a: GroupSymmetries, b: GroupSymmetries, *, about: Any = None, names: Sequence[str] = ("a", "b")
) -> GroupComparison:
    """Two results of `discover_group`."""


@checked()
def compare(
    a: Symmetries | LayerSymmetries | GroupSymmetries,
    b: Symmetries | LayerSymmetries | GroupSymmetries,
    *,
    about: Any = None,
    names: Sequence[str] = ("a", "b"),
) -> Comparison | LayerComparison | GroupComparison:
    r"""Compare two results: the same symmetries? which model is more invariant?

    A direction is shared if the principal angle between the two spans is one that the uncertainties
    of both explain. Its defect in each model is that of the model's own version of it. A direction
    that only one model has is measured in the other as it is. Their intervals are taken as
    independent, also if both models saw the same data.

    Two results of `liegg.discover_layers` are compared layer by layer, by the names of the layers; two results of
    `liegg.discover_group` element by element.

    Args:
        a: result of `liegg.discover`, `liegg.discover_layers` or `liegg.discover_group`, or read by `liegg.load`.
        b: a result of the same kind with the same candidates; derivatives and the layout of samples may differ.
        about: named motions, as for `Symmetries.about`; by default those that both results have answered. Which model changes
            less under each, by how much, and whether that is significant; paired where both saw the same samples.
        names: what the two models are called.

    Returns:
        A `Comparison`; a `LayerComparison` of two results of `discover_layers`, a `GroupComparison` of two results of
        `discover_group`.

    Raises:
        ArgumentError: the results have different candidates, are about different questions, or are of different kinds; names
            that are not two.

    Examples:
        >>> import liegg
        >>> x = torch.randn(300, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> ball = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
        >>> cylinder = liegg.discover(
        ...     lambda x: x[:, :2].square().sum(1) + x[:, 2] ** 3, x, liegg.Linear(3)
        ... )
        >>> print(compare(ball, cylinder).sentence)
        a has the so(2) of b and 2 more directions, so(3) in all; on the shared one both are exact.
    """
    if isinstance(a, GroupSymmetries) and isinstance(b, GroupSymmetries):
        return compare_groups(a, b, names=checked_names(names))
    for group, other, result in (("a", "b", a), ("b", "a", b)):
        if isinstance(result, GroupSymmetries):
            raise ArgumentError(
                f"{group} holds a group of finite symmetries and {other} does not: compare two results of "
                f"liegg.discover_group. Its continuous part is {group}.continuous."
            )
    if isinstance(a, LayerSymmetries) and isinstance(b, LayerSymmetries):
        from liegg.discovery.compare_layers import compare_layers

        return compare_layers(a, b, about=about, names=checked_names(names))
    for layers, other, result in (("a", "b", a), ("b", "a", b)):
        if isinstance(result, LayerSymmetries):
            raise ArgumentError(
                f"{layers} holds the layers of a network and {other} the symmetries of one: compare "
                "two results of liegg.discover, or two of liegg.discover_layers. One layer alone is "
                f"{layers}[{result.names[-1]!r}].invariance."
            )
    return compare_results(a, b, about=about, names=checked_names(names))  # pyright: ignore[reportArgumentType]


def compare_results(
    a: Symmetries, b: Symmetries, *, about: Any = None, names: tuple[str, str] = ("a", "b")
) -> Comparison:
    """Compare two results of `discover`; see `compare`."""
    check_comparable(a, b)
    span_a, span_b = (
        orthonormal_rows(sym.action.whole_coefficients(sym.coefficients)) for sym in (a, b)
    )
    angles = principal_angles(span_a, span_b)
    explained = min(
        max(SAME_SPAN, math.hypot(a.decision.uncertainty, b.decision.uncertainty)), MAX_EXPLAINED
    )
    shared = int((angles <= explained).sum())
    # Principal vectors, paired by their angles; those without a partner come last.
    left, _, right = torch.linalg.svd(span_a @ span_b.mT)
    vectors_a, vectors_b = left.mT @ span_a, right @ span_b
    directions = _directions(a, b, vectors_a, vectors_b, shared=shared)
    overall = None
    if shared:
        means = (
            within(sym, sym.action.own_coefficients(vectors[:shared]))
            for sym, vectors in ((a, vectors_a), (b, vectors_b))
        )
        overall = PairedDefect("both", "mean of the shared", None, *means)
    elif not directions and (directions := _by_rank(a, b)):
        overall = directions[0]
        directions = [*directions, _nearest("a", names[0], a, b), _nearest("b", names[1], b, a)]
    answers = pair_answers(a, b, about, names)
    return Comparison(
        a=_side(a),
        b=_side(b),
        question="invariance" if a.output_action is None else "equivariance",
        action=repr(a.action),
        level=a.settings["level"],
        angles=angles,
        explained=explained,
        shared=shared,
        directions=tuple(directions),
        overall=overall,
        output_difference=_output_difference(a, b, vectors_a[:shared], vectors_b[:shared]),
        notes=(*_notes(a, b, names), *sizes_that_differ(answers, names)),
        names=names,
        answers=answers,
    )


def _directions(
    a: Symmetries,
    b: Symmetries,
    vectors_a: Float[Tensor, "d g"],
    vectors_b: Float[Tensor, "e g"],
    *,
    shared: int,
) -> list[PairedDefect]:
    """Every direction found in either model, in bases that depend on the spans alone.

    Of a shared direction each model has its own version: the projection onto its symmetries.
    """
    spans = {
        "both": vectors_a[:shared] + vectors_b[:shared],
        "a": vectors_a[shared:],
        "b": vectors_b[shared:],
    }
    errors = {"a": direction_error(a.decision), "b": direction_error(b.decision)}
    called = a.action if _has_names(a.action) else b.action
    pairs = []
    for found_in, span in spans.items():
        for h in canonical_basis(orthonormal_rows(span))[:, None]:
            defects = [
                within(sym, sym.action.own_coefficients(h @ vectors.mT @ vectors))
                if found_in in ("both", name)
                else along(sym, sym.action.own_coefficients(h))
                for name, sym, vectors in (("a", a, vectors_a), ("b", b, vectors_b))
            ]
            own = a.action.own_coefficients(h)
            error = max(errors[name] for name in ("a", "b") if found_in in ("both", name))
            words = _words(called, called.own_coefficients(h), error)
            pairs.append(PairedDefect(found_in, words, _generator(a.action, own), *defects))
    return pairs


def _nearest(side: str, name: str, sym: Symmetries, other: Symmetries) -> PairedDefect:
    """The nearest candidate of one model, measured in both."""
    h = sym.accumulated.solution.directions[:1] / sym.accumulated.solution.directions[:1].norm()
    words = _words(sym.action, h, direction_error(sym.decision))
    there = along(other, other.action.own_coefficients(sym.action.whole_coefficients(h)))
    defects = (_of_rank(sym, 0), there) if side == "a" else (there, _of_rank(sym, 0))
    return PairedDefect(
        "neither", f"nearest of {name}: {words}", _generator(sym.action, h), *defects
    )


def _words(action: Action, h: Float[Tensor, "1 g"], error: float) -> str:
    """What a direction does, in the words of print and page; of large matrices only their size."""
    words = words_of(action, h, error)
    if not words and isinstance(action, MatrixAction):
        return f"motion of {action.ambient} coordinates"
    return words[0]


def _has_names(action: Action) -> bool:
    return isinstance(action, MatrixAction) and action.axes is not None


def _generator(action: Action, h: Float[Tensor, "1 g"]) -> Float[Tensor, "..."]:
    """A generator as a matrix, or its coefficients if the action has no matrices."""
    return action.matrices(h)[0] if isinstance(action, MatrixAction) else h[0]


def checked_names(names: Any) -> tuple[str, str]:
    """Two different names."""
    if len(names) != 2 or isinstance(names, str) or len({*map(str.strip, names), ""}) < 3:
        raise ArgumentError(
            f"names={names!r}: expected two different names, for example names=('plain', 'augmented')."
        )
    return names[0], names[1]


def _side(sym: Symmetries) -> Side:
    return Side(
        model=sym.subject,
        samples=sym.samples,
        nullity=sym.nullity,
        nullity_interval=sym.decision.nullity_interval,
        algebra=sym.name,
        undecided=sym.decision.undecided,
        uncertainty=min(sym.decision.uncertainty, math.pi / 2),
        of_data=sym.distribution is not None or sym.settings.get("question") is not None,
    )


def _output_difference(
    a: Symmetries, b: Symmetries, shared_a: Float[Tensor, "s g"], shared_b: Float[Tensor, "s g"]
) -> float:
    """Largest relative difference between output generators of shared directions."""
    if a.output_action is None or not len(shared_a):
        return 0.0
    basis = canonical_basis(orthonormal_rows(shared_a + shared_b))
    one, other = (
        sym.accumulated.partners(sym.action.own_coefficients(basis @ own.mT @ own))
        for sym, own in ((a, shared_a), (b, shared_b))
    )
    sizes = torch.maximum(one.norm(dim=1), other.norm(dim=1)).clamp_min(SAME_SPAN)
    return float(((one - other).norm(dim=1) / sizes).max())


def _notes(a: Symmetries, b: Symmetries, names: tuple[str, str]) -> tuple[Remark, ...]:
    """What differs between the two analyses, and what is not known."""
    notes = [Diagnosis.INDEPENDENT_INTERVALS()]
    both = dict(zip(("first", "second"), names, strict=True))
    for name, sym in zip(names, (a, b), strict=True):
        total = sym.accumulated
        if total.blocks is total.means is None and bool((sym.defects > sym.decision.floor).any()):
            none = (
                Diagnosis.NO_INTERVALS
                if bool(sym.intervals.isnan().all())
                else Diagnosis.NO_INTERVALS_FOR_OTHERS
            )
            notes.append(none(model=name))
    finite = [any(map(has_predictions, sym.answers)) for sym in (a, b)]
    moved = [any(one.finite is not None for one in sym.answers) for sym in (a, b)]
    if all(moved) and finite[0] != finite[1]:
        classes, values = names if finite[0] else names[::-1]
        either = all(any(map(may_have_predictions, sym.answers)) for sym in (a, b))
        differ = Diagnosis.TASK_ASSUMED if either else Diagnosis.TASKS_DIFFER
        notes.append(differ(classes=classes, values=values))
    for key in ("outputs", "output", "target", "level", "threshold", "minimum_gap"):
        values = {"a": a.settings.get(key), "b": b.settings.get(key)}
        if values["a"] != values["b"]:
            notes.append(Diagnosis.SETTING_DIFFERS(name=key, **values, **both))
    one, other = (without(sym.action.settings(), NAME_SETTINGS) for sym in (a, b))
    if one != other and repr(a.action) != repr(b.action):
        notes.append(Diagnosis.ACTION_DIFFERS(a=repr(a.action), b=repr(b.action), **both))
    return tuple(notes)


def within(sym: Symmetries, h: Float[Tensor, "s g"]) -> Measured:
    r"""Mean defect over a space of symmetries, with the interval that allows for their choice.

    In the solution's basis of unit motion, $A$ is diagonal and $M$ the identity: the mean is a
    weighted mean of the solution's defects, with the diagonal of the projector as weights, and its
    ends are at most as far out as theirs, weighted alike.

    Args:
        sym: the result that has these symmetries.
        h: coefficients of independent directions in their span.
    """
    directions = sym.accumulated.solution.directions[: sym.nullity]
    speeds = squared_motion(directions, sym.accumulated.displacement).sqrt()
    unit = directions / speeds[:, None]
    weights = orthonormal_rows(h @ torch.linalg.pinv(unit)).square().sum(0) / len(h)
    values = sym.defects[: sym.nullity]
    bounds = sym.intervals[: sym.nullity]
    case = evidence(values, bounds, floor=sym.decision.floor)
    low, high = (float(weights @ ends) for ends in (case.low, case.high))
    if bool(sym.intervals.isnan().all()):
        low = high = math.nan
    return _measured(sym, float(weights @ values), low, high)


def along(sym: Symmetries, h: Float[Tensor, "1 g"]) -> Measured:
    """Defect of a direction that was found in other data."""
    value, (low, high) = float(sym.defect(h)), sym.defect_interval(h)[0].tolist()
    if sym.decision.undecided and value <= sym.decision.floor:
        value = math.nan  # no sample determines it
    return _measured(sym, value, low, high)


def _of_rank(sym: Symmetries, rank: int) -> Measured:
    """Defect of one of a result's own directions."""
    return _measured(sym, float(sym.defects[rank]), *sym.intervals[rank].tolist())


def _by_rank(a: Symmetries, b: Symmetries) -> list[PairedDefect]:
    """The candidates of smallest defect of two models without symmetries; their motions differ."""
    if a.decision.undecided or b.decision.undecided:
        return []
    return [
        PairedDefect(
            "neither",
            f"candidate {i + 1} of each, two motions",
            None,
            _of_rank(a, i),
            _of_rank(b, i),
        )
        for i in range(min(NEAREST, len(a.defects), len(b.defects)))
    ]


def _measured(sym: Symmetries, value: float, low: float, high: float) -> Measured:
    """A defect with its interval; from 0 to the numerical floor if it is exact."""
    floor = sym.decision.floor
    if value <= floor:
        return Measured(value, 0.0, floor, exact=True)
    return Measured(value, low, high, exact=False)


def check_comparable(a: Any, b: Any) -> None:
    """Raise `ArgumentError` unless two results have the same candidates and the same question."""
    for name, sym in (("a", a), ("b", b)):
        if not isinstance(sym, Symmetries):
            raise ArgumentError(
                f"{name} is a {type(sym).__name__}; expected a result of liegg.discover or liegg.load."
            )
    check_same_question(a, b)


def check_same_question(a: Symmetries | LayerSymmetries, b: Symmetries | LayerSymmetries) -> None:
    """Raise `ArgumentError` unless two results have the same candidates and the same question."""
    if not a.action.same_motions(b.action):
        other = "" if repr(a.action) != repr(b.action) else ", of other directions"
        raise ArgumentError(
            f"a is about {a.action} and b about {b.action}{other}: only results with the same "
            "candidates can be compared. Run both with the same action, for example "
            f"liegg.discover(model, data, {a.action})."
        )
    one, other = a.output_action, b.output_action
    same = one is None and other is None
    if not same and (one is None or other is None or not one.same_motions(other)):
        questions = [
            "invariance" if action is None else f"equivariance with {action}"
            for action in (one, other)
        ]
        raise ArgumentError(
            f"a is about {questions[0]}, b about {questions[1]}. Run both with the same output_action."
        )
