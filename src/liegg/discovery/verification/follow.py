"""Following motions, and random ones of the same speed: the curves of generators, of the group, and of further motions."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.text import runs
from liegg.actions import Displacement
from liegg.discovery.verification.curves import curvature, curve
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import CLOSED, MAX_TURNS, Orbit, orbit
from liegg.discovery.verification.selected_times import (
    PROFILE_EVALUATIONS,
    Effort,
    Profile,
    at_selected_times,
    profile,
    shares,
)
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve
from liegg.spectrum.defects import TRIVIAL_TOLERANCE, squared_motion, whitening

CURVATURE_MOTIONS = 2 * 9
"""Motions that measure a curvature, at most."""


class CurveOptions(NamedTuple):
    """How curves are measured; see `verify`."""

    known: Symmetries | None
    points: int
    fraction: float
    controls: int
    seed: int
    longest: float | None
    effort: Effort = "auto"


@dataclass
class Controls:
    """Random directions for comparison.

    Attributes:
        displacement: M, by which they move the data as much as the directions in question.
        tolerance: share of it below which a direction does not move the data.
        directions: random directions of unit speed.
        profile: what they do to the output, if it was measured once for all curves.
    """

    displacement: Displacement
    tolerance: float
    directions: Directions
    profile: Profile | None = None

    def followed(
        self, question: Question, options: CurveOptions, ends: list[float]
    ) -> Directions | Profile:
        """The directions, or for large samples their profile as far as curves move the data.

        Args:
            question: the model and its samples.
            options: how curves are measured.
            ends: how far each curve moves the data.
        """
        if not at_selected_times(question, options.effort):
            return self.directions
        if self.profile is None or not self.profile.reaches(max(ends)):
            span = min(ends), max(ends)
            self.profile = profile(question, self.directions, span, fraction=options.fraction)
        return self.profile


def follow_all(
    question: Question,
    given: Directions,
    options: CurveOptions,
    controls: Controls,
    *,
    group: bool = True,
) -> tuple[tuple[Curve, ...], Curve | None, tuple[Remark, ...]]:
    """The curves of all generators, that of the group, and the notes.

    Output directions that are not given are those that fit best.

    Raises:
        ArgumentError: a generator does not move the samples.
    """
    if given.k is None:
        given = given._replace(k=partners(question, given.h, options.known))
    lengths = speeds(given.h, controls.displacement)
    orbits = [orbit(question, h, longest=options.longest) for h in given.h]
    for i, (path, length) in enumerate(zip(orbits, lengths.tolist(), strict=True)):
        if path.speed == 0 or not _moves(given.h[i], length, controls):
            raise ArgumentError(
                f"generator {i + 1} does not move the samples, so it cannot be verified. "
                "Leave it out."
            )
    slopes, floors, reasons = _predictions(question, given, options.known, lengths)
    notes = [*reasons, *_orbit_notes(orbits)]
    if torch.linalg.matrix_rank(given.h) >= moving(controls.displacement, controls.tolerance):
        notes.append(Diagnosis.CONTROLS_INSIDE_SPAN())
    ends = [path.longest * length for path, length in zip(orbits, lengths.tolist(), strict=True)]
    random = controls.followed(question, options, ends)
    measured = {"points": options.points, "fraction": options.fraction}
    curves = []
    for i, (path, length) in enumerate(zip(orbits, lengths.tolist(), strict=True)):
        one = given.rows(slice(i, i + 1))
        start = curvature(
            question,
            one,
            question.spread / path.speed,
            predicted=None if slopes is None else float(slopes[i]),
            predicted_floor=float(floors[i]),
            analysed=None if options.known is None else options.known.samples,
        )
        found = curve(question, one, random.scaled(length), path, curvature=start, **measured)
        curves.append(found)
    elements = None
    if group and len(given.h) > 1:
        mix = random_elements(given.h, controls.displacement, options.controls, options.seed)
        mixed = given.map(lambda rows: mix @ rows)
        ratios = lengths / torch.tensor([path.speed for path in orbits], dtype=torch.float64)
        unit = float(ratios.mean()) * question.spread
        end = min(path.longest * path.speed for path in orbits) / question.spread
        way = Orbit(question.spread, end, both_ways=False)
        elements = curve(question, mixed.scaled(unit), random.scaled(unit), way, **measured)
    return tuple(curves), elements, tuple(notes)


def follow_others(
    question: Question, h: Float[Tensor, "k g"], options: CurveOptions, controls: Controls
) -> tuple[Curve, ...]:
    """The curves of further motions; none if one of them does not move these samples."""
    try:
        return follow_all(question, Directions(h, None), options, controls, group=False)[0]
    except ArgumentError:
        return ()


def expected_evaluations(
    question: Question, generators: int, others: int, options: CurveOptions
) -> int:
    """Most samples that the model evaluates: all motions both ways, and no curve that fails early.

    Args:
        question: the model and its samples.
        generators: number of generators.
        others: number of further motions.
        options: how curves are measured.
    """
    points, controls, samples = options.points, options.controls, len(question.x)
    curves, group = generators + others, generators > 1
    again = 1 if question.resamples else 0  # there and back
    if not at_selected_times(question, options.effort):
        each = CURVATURE_MOTIONS + 2 * points * (1 + controls + again)
        return samples * (curves * each + group * points * controls * (2 + again))
    share = -(-samples // shares(samples))
    each = CURVATURE_MOTIONS + (2 + again) * points
    elements = group * points * (3 + again)  # every sample is moved by two elements, at most three
    return samples * (curves * each + elements) + share * controls * PROFILE_EVALUATIONS


def random_controls(question: Question, options: CurveOptions) -> Controls:
    """Random directions by the displacement of the analysis, or of the samples without one."""
    known = options.known
    if known is not None:
        displacement = known.accumulated.displacement
        tolerance = float(known.settings["trivial_tolerance"])
    else:
        x, action, tolerance = question.x.double(), question.action, TRIVIAL_TOLERANCE
        square = float(x.square().sum()) / len(x)
        noise = action.rounding_motion(torch.float64, square, tuple(x.shape[1:]))
        displacement = replace(action.displacement(action.moment(x).cpu(), len(x)), noise=noise)
    h = random_directions(displacement, options.controls, tolerance, options.seed)
    return Controls(displacement, tolerance, Directions(h, partners(question, h, known)))


def _moves(h: Float[Tensor, " g"], speed: float, controls: Controls) -> bool:
    """Whether a direction moves the data by more than rounding does."""
    displacement = controls.displacement
    diagonal = displacement.block.diagonal().repeat(displacement.repeat)
    return speed**2 > max(controls.tolerance * float(h.square() @ diagonal), displacement.noise)


def _orbit_notes(orbits: list[Orbit]) -> list[Remark]:
    """Which motions return only nearly, or never together."""
    near = [i for i, path in enumerate(orbits) if path.period is not None and path.gap > CLOSED]
    slow = [i for i, path in enumerate(orbits) if path.slow]
    notes = []
    if near:
        which, gap = runs([i + 1 for i in near]), max(orbits[i].gap for i in near)
        notes.append(Diagnosis.NEARLY_PERIODIC(count=len(near), generators=which, gap=gap))
    if slow:
        which = runs([i + 1 for i in slow])
        notes.append(Diagnosis.INCOMMENSURABLE(count=len(slow), generators=which, turns=MAX_TURNS))
    return notes


def _predictions(
    question: Question, given: Directions, known: Symmetries | None, lengths: Float[Tensor, " d"]
) -> tuple[Float[Tensor, " d"] | None, Float[Tensor, " d"], tuple[Remark, ...]]:
    """What the analysis says about the start of the curves, where it has the same units.

    Returns:
        The mean squared slope of the output along each direction, or None if nothing is predicted;
        the part of it that may be rounding; and why nothing is predicted.
    """
    none = torch.zeros_like(lengths)
    if known is None:
        return None, none, ()
    if known.settings["outputs"] != "each" and question.y.shape[1] > 1:
        return None, none, (Diagnosis.NO_PREDICTION_OUTPUTS(),)
    if any(part.settings().get("derivative") == "paper" for part in known.action.parts):
        return None, none, (Diagnosis.NO_PREDICTION_PAPER(),)
    columns = given.h if given.k is None else torch.cat([given.k, given.h], dim=1)
    slopes = (columns @ known.accumulated.factor.mT).square().sum(1) / known.samples
    gaps = question.slope_gaps(given.h) if question.resamples else 0.0
    floors = known.decision.floor * lengths.square() + gaps
    return slopes, known.accumulated.solution.sensitivity * floors, ()


def speeds(h: Float[Tensor, "m g"], displacement: Displacement) -> Float[Tensor, " m"]:
    r"""Root mean square speed $\sqrt{h^\top M h}$ of the data under each direction."""
    return squared_motion(h, displacement).clamp_min(0).sqrt()


def random_directions(
    displacement: Displacement, count: int, tolerance: float, seed: int
) -> Float[Tensor, "m g"]:
    r"""Directions of unit speed, uniform where it is a sphere: $h = M^{-1/2} z/|z|$ for normal $z$, on the range of $M$.

    Args:
        displacement: M of the data.
        count: number of directions.
        tolerance: share of the displacement of uncorrelated features below which nothing moves.
        seed: of the normal numbers.

    Examples:
        >>> stretched = Displacement(torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64)))
        >>> bool(
        ...     (speeds(random_directions(stretched, 9, 1e-12, seed=0), stretched) - 1).abs().max()
        ...     < 1e-12
        ... )
        True
    """
    whiten, _ = whitening(displacement, tolerance)
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(
        count, displacement.repeat, whiten.shape[1], generator=generator, dtype=torch.float64
    )
    return (z / z.flatten(1).norm(dim=1)[:, None, None] @ whiten.mT).flatten(1)


def moving(displacement: Displacement, tolerance: float) -> int:
    """Number of independent directions that move the data."""
    return displacement.repeat * whitening(displacement, tolerance)[0].shape[1]


def random_elements(
    span: Float[Tensor, "d g"], displacement: Displacement, count: int, seed: int
) -> Float[Tensor, "m d"]:
    """Combinations of directions that move the data: unit speed, uniform where it is a sphere."""
    parts = span.reshape(len(span), displacement.repeat, -1)
    between = torch.einsum("drs,st,ert->de", parts, displacement.block, parts)
    squares, axes = torch.linalg.eigh(between)
    independent = squares > 1e-12 * squares[-1]
    generator = torch.Generator().manual_seed(seed + 1)  # not the numbers of the controls
    z = torch.randn(count, int(independent.sum()), generator=generator, dtype=torch.float64)
    return z / z.norm(dim=1, keepdim=True) @ (axes[:, independent] / squares[independent].sqrt()).mT


def partners(
    question: Question, h: Float[Tensor, "m g"], known: Symmetries | None = None
) -> Float[Tensor, "m p"] | None:
    """Output directions that fit input directions of unit speed best; None for invariance.

    Those of an analysis, or fitted by least squares on small motions. With any other output direction,
    a control would look worse than it is.
    """
    action = question.output_action
    if action is None:
        return None
    if known is not None:
        return known.accumulated.partners(h)
    y = question.y.reshape(len(question.y), *question.model.output_shape)
    step = question.eps ** (1 / 3) * question.spread
    inverse = torch.linalg.pinv(action.displacement(action.moment(y), 1).dense(), hermitian=True)
    total = torch.zeros(len(h), action.size, dtype=torch.float64, device=y.device)
    for part in question.parts:
        forth, back = question.outputs(torch.cat([h, -h]) * step, part).chunk(2)
        for i, slope in enumerate((forth - back) / (2 * step)):
            rows = action.contract(slope.reshape(y[part].shape)[:, None], y[part])
            total[i] += rows.sum((0, 1))
    return (total @ inverse.to(total)).cpu()
