"""Two results side by side: have both models the same symmetries, and which of them is more invariant?"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, orthonormal_rows
from liegg.actions import Action, Restricted
from liegg.algebra.subspace import principal_angles
from liegg.algebra.words.describe import describe
from liegg.discovery.paired_defects import Contrast, along, by_rank, of_rank, within
from liegg.results.symmetries import Symmetries

LEAST = 1e-6
"""Angle in radians below which two spans are one: rounding in exact directions, as far as usual data magnifies it."""

MOST = math.pi / 4
"""Largest angle that uncertainties may explain: beyond it two directions are less alike than not."""

FUZZY = 0.2
"""Share of a generator's largest entry that its name may leave out, at most."""

DETAILS = ("layout", "derivative", "border", "sigma", "shape", "frame", "label")
"""Settings of an action that say how it is computed, and not which motions it holds."""


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes:
        model: name of the model.
        samples: number of samples seen.
        nullity: number of symmetries.
        nullity_interval: its interval.
        algebra: name of the algebra.
        undecided: directions that its data does not decide.
        uncertainty: angle in radians that its directions may be off by.
    """

    model: str
    samples: int
    nullity: int
    nullity_interval: tuple[int, int]
    algebra: str
    undecided: int
    uncertainty: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Symmetries of two models, side by side; printed as a table.

    Attributes:
        a: the first result.
        b: the second.
        question: `"invariance"` or `"equivariance"`.
        action: the candidate generators, in words.
        level: nominal coverage of the intervals.
        angles: principal angles in radians, ascending, between the two spans of symmetries.
        explained: largest of them that the uncertainties of both explain.
        shared: number of directions that both have: angles up to `explained`.
        contrasts: every direction found in either, shared ones once; nearest candidates by rank if there is none.
        overall: mean over all that is shared, in the data's metric, or the nearest candidates; None if there is neither.
        output_difference: of equivariances that are shared, the largest relative difference of their output generators; else 0.
        notes: what to know of the numbers.
    """

    a: Side
    b: Side
    question: str
    action: str
    level: float
    angles: Float[Tensor, " k"]
    explained: float
    shared: int
    contrasts: tuple[Contrast, ...]
    overall: Contrast | None
    output_difference: float
    notes: tuple[str, ...]

    @property
    def only_a(self) -> int:
        """Number of directions that only the first model has."""
        return self.a.nullity - self.shared

    @property
    def only_b(self) -> int:
        """Number of directions that only the second model has."""
        return self.b.nullity - self.shared

    @property
    def same(self) -> bool:
        """Whether both have the same symmetries, one at least."""
        return self.shared > 0 and not self.only_a and not self.only_b

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        from liegg.results.comparison_text import sentence

        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; NaN and infinities become null."""
        from liegg.results.comparison_text import comparison_dict

        return comparison_dict(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, with its columns kept."""
        from html import escape

        return f'<pre style="overflow-x: auto; line-height: 1.35">{escape(str(self))}</pre>'

    def __str__(self) -> str:
        from liegg.results.comparison_text import table

        return table(self)

    def __repr__(self) -> str:
        return f"Comparison(shared={self.shared}, only_a={self.only_a}, only_b={self.only_b}, question={self.question!r})"


def compare(a: Symmetries, b: Symmetries) -> Comparison:
    r"""Hold two results against each other: the same symmetries? which model is more invariant?

    A direction is shared if the principal angle between the two spans is one that the uncertainties of both explain. Each model is
    then asked about its own version of it. Of a direction that only one has, the other is asked as it is. Whether both saw the same
    data is not known; their intervals are taken as independent.

    Args:
        a: result of `liegg.discover`, or read by `liegg.load`.
        b: one of the same candidates; how derivatives are taken and how samples are laid out may differ.

    Raises:
        ArgumentError: the results are of different candidates, or of different questions.

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
    check_comparable(a, b)
    own, other = (orthonormal_rows(_outer(sym.action, sym.coefficients)) for sym in (a, b))
    angles = principal_angles(own, other)
    explained = min(max(LEAST, math.hypot(a.uncertainty, b.uncertainty)), MOST)
    shared = int((angles <= explained).sum())
    left, _, right = torch.linalg.svd(own @ other.mT)
    mine, theirs = (
        left.mT @ own,
        right @ other,
    )  # paired by the principal angles; those without a partner come last
    contrasts, overall = _contrasts(a, b, mine, theirs, shared, min(explained, FUZZY)), None
    if shared:
        means = (
            within(a, _inner(a.action, mine[:shared])),
            within(b, _inner(b.action, theirs[:shared])),
        )
        overall = Contrast("both", "mean of the shared", None, *means)
    elif not contrasts:
        contrasts = by_rank(a, b)
        overall = contrasts[0] if contrasts else None
        contrasts += _crosswise(a, b) if contrasts else []
    n_output_generators = _output_difference(a, b, mine[:shared], theirs[:shared])
    return Comparison(
        _side(a),
        _side(b),
        "invariance" if a.output_action is None else "equivariance",
        repr(a.action),
        a.settings["level"],
        angles,
        explained,
        shared,
        tuple(contrasts),
        overall,
        n_output_generators,
        _notes(a, b),
    )


def _contrasts(
    a: Symmetries,
    b: Symmetries,
    mine: Float[Tensor, "d g"],
    theirs: Float[Tensor, "e g"],
    shared: int,
    tolerance: float,
) -> list[Contrast]:
    """Every direction found in either, in bases that depend on the spans alone; shared ones once, each model in its own version."""
    found = []
    for name in ("both", "a", "b"):
        span = {"both": mine[:shared] + theirs[:shared], "a": mine[shared:], "b": theirs[shared:]}[
            name
        ]
        for h in canonical_basis(orthonormal_rows(span))[:, None]:
            generator = a.action.matrices(_inner(a.action, h))[0]
            words = describe(
                generator,
                coordinates=a.action.axes,
                homogeneous=a.action.homogeneous,
                tolerance=tolerance,
            )
            in_a, in_b = (
                along(sym, _inner(sym.action, h))
                if name == stranger
                else within(sym, _inner(sym.action, h @ whole.mT @ whole))
                for sym, whole, stranger in ((a, mine, "b"), (b, theirs, "a"))
            )
            found.append(Contrast(name, words, generator, in_a, in_b))
    return found


def _crosswise(a: Symmetries, b: Symmetries) -> list[Contrast]:
    """The nearest candidate of each model, asked in both: which of them is nearer is then a question about one motion."""
    found = []
    for name, sym in (("a", a), ("b", b)):
        h = _outer(sym.action, sym.solution.directions[:1])
        generator = sym.action.matrices(sym.solution.directions[:1])[0]
        generator = generator / generator.norm()
        words = describe(
            generator,
            coordinates=sym.action.axes,
            homogeneous=sym.action.homogeneous,
            tolerance=0.1,
        )
        own, other = of_rank(sym, 0), b if sym is a else a
        there = along(other, _inner(other.action, h))
        found.append(
            Contrast(
                "neither",
                f"nearest of {name}: {words}",
                generator,
                *((own, there) if name == "a" else (there, own)),
            )
        )
    return found


def _outer(action: Action, h: Float[Tensor, "d r"]) -> Float[Tensor, "d g"]:
    """Coefficients in the action that a restricted one is taken from: two of the same span may have different bases of it."""
    return h @ action.basis if isinstance(action, Restricted) else h


def _inner(action: Action, h: Float[Tensor, "d g"]) -> Float[Tensor, "d r"]:
    """Inverse of `_outer`."""
    return h @ action.basis.mT if isinstance(action, Restricted) else h


def _side(sym: Symmetries) -> Side:
    turned = min(sym.uncertainty, math.pi / 2)
    return Side(
        sym.model,
        sym.samples,
        sym.nullity,
        sym.nullity_interval,
        sym.name,
        sym.decision.undecided,
        turned,
    )


def _output_difference(
    a: Symmetries, b: Symmetries, mine: Float[Tensor, "s g"], theirs: Float[Tensor, "s g"]
) -> float:
    """Largest relative difference between the output generators of directions that both have; 0 for invariance."""
    if a.output_action is None or not len(mine):
        return 0.0
    basis = canonical_basis(orthonormal_rows(mine + theirs))
    one, other = (
        _inner(sym.action, basis @ own.mT @ own)
        @ sym.coefficients.mT
        @ sym.output_generators.flatten(1)
        for sym, own in ((a, mine), (b, theirs))
    )
    sizes = torch.maximum(one.norm(dim=1), other.norm(dim=1)).clamp_min(LEAST)
    return float(((one - other).norm(dim=1) / sizes).max())


def _notes(a: Symmetries, b: Symmetries) -> tuple[str, ...]:
    """What the two were asked differently, and what is not known."""
    notes = ["intervals are taken as independent: whether both saw the same data is not known"]
    for name, sym in (("a", a), ("b", b)):
        if sym.resampled is None and bool((sym.defects > sym.decision.floor).any()):
            notes.append(
                f"{name} has no intervals"
                + ("" if sym.bounds is None else " for directions that only the other has")
            )
    for key in ("outputs", "level", "threshold", "minimum_gap"):
        if a.settings[key] != b.settings[key]:
            notes.append(f"{key} was {a.settings[key]!r} in a and {b.settings[key]!r} in b")
    if a.action.settings() != b.action.settings() and repr(a.action) != repr(b.action):
        notes.append(f"the motions were computed by {a.action} in a and by {b.action} in b")
    return tuple(notes)


def check_comparable(a: Any, b: Any) -> None:
    """Raise `ArgumentError` unless two results are of the same candidates and the same question."""
    for name, sym in (("a", a), ("b", b)):
        if not isinstance(sym, Symmetries):
            raise ArgumentError(
                f"{name} is a {type(sym).__name__}; expected a result of liegg.discover or liegg.load."
            )
    if not _alike(a.action, b.action):
        other = "" if repr(a.action) != repr(b.action) else ", of other directions"
        raise ArgumentError(
            f"a is about {a.action} and b about {b.action}{other}: only results of the same candidates can be compared. Run both "
            f"with the same action, for example liegg.discover(model, data, {a.action})."
        )
    if (a.output_action is None) != (b.output_action is None) or (
        a.output_action is not None and not _alike(a.output_action, b.output_action)
    ):
        asked = [
            "invariance" if s.output_action is None else f"equivariance with {s.output_action}"
            for s in (a, b)
        ]
        raise ArgumentError(
            f"a asks for {asked[0]}, b for {asked[1]}. Run both with the same output_action."
        )


def _alike(one: Action, other: Action) -> bool:
    """Whether two actions hold the same motions, whatever the details of their computation."""
    if isinstance(one, Restricted) and isinstance(other, Restricted):
        same = one.basis.shape == other.basis.shape and _alike(one.parent, other.parent)
        return same and float(principal_angles(one.basis, other.basis).max()) < LEAST
    return _motions(one.settings()) == _motions(other.settings())


def _motions(settings: Any) -> Any:
    """Settings without the details."""
    if isinstance(settings, dict):
        return {key: _motions(value) for key, value in settings.items() if key not in DETAILS}
    return [_motions(value) for value in settings] if isinstance(settings, list) else settings
