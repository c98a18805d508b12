"""Following motions: the curves of given generators, of the group, and of further motions."""

from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg.actions import Displacement
from liegg.decision.decide import runs
from liegg.discovery.verification.controls import (
    best_partners,
    moving,
    random_directions,
    random_elements,
    speeds,
)
from liegg.discovery.verification.curvature import curvature
from liegg.discovery.verification.curves import curve
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import CLOSED, MAX_TURNS, Orbit, orbit
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve
from liegg.spectrum.defects import TRIVIAL_TOLERANCE


class CurveOptions(NamedTuple):
    """How curves are measured; see `verify`."""

    known: Symmetries | None
    points: int
    fraction: float
    controls: int
    seed: int
    longest: float | None


class Controls(NamedTuple):
    """Random directions for comparison.

    Attributes:
        displacement: M, by which they move the data as much as the directions in question.
        tolerance: share of it below which a direction does not move the data.
        directions: random directions of unit speed.
    """

    displacement: Displacement
    tolerance: float
    directions: Directions


class Predictions(NamedTuple):
    """What the analysis says about the start of the curves.

    Attributes:
        slopes: mean squared slope of the output along each direction; None if it predicts nothing.
        floors: part of it that may be rounding.
        notes: why nothing is predicted.
    """

    slopes: Float[Tensor, " d"] | None
    floors: Float[Tensor, " d"]
    notes: tuple[Remark, ...] = ()


def follow_all(
    question: Question, given: Directions, options: CurveOptions, *, group: bool = True
) -> tuple[tuple[Curve, ...], Curve | None, tuple[Remark, ...]]:
    """The curves of all generators, that of the group, and the notes.

    Raises:
        ArgumentError: a generator does not move the samples.
    """
    controls = _controls(question, options)
    lengths = speeds(given.h, controls.displacement)
    orbits = [orbit(question, h, longest=options.longest) for h in given.h]
    for i, (path, length) in enumerate(zip(orbits, lengths, strict=True)):
        if path.speed == 0 or not _moves(given.h[i], float(length), controls):
            raise ArgumentError(
                f"generator {i + 1} does not move the samples, so it cannot be verified. "
                "Leave it out."
            )
    predictions = _predictions(question, given, options.known, lengths)
    notes = [*predictions.notes, *_orbit_notes(orbits)]
    if torch.linalg.matrix_rank(given.h) >= moving(controls.displacement, controls.tolerance):
        notes.append(Diagnosis.CONTROLS_INSIDE_SPAN())
    knobs = {"points": options.points, "fraction": options.fraction}
    curves = []
    for i, (path, length) in enumerate(zip(orbits, lengths, strict=True)):
        one = given.rows(slice(i, i + 1))
        start = curvature(
            question,
            one,
            question.spread / path.speed,
            predicted=None if predictions.slopes is None else float(predictions.slopes[i]),
            predicted_floor=float(predictions.floors[i]),
            analysed=None if options.known is None else options.known.samples,
        )
        others = controls.directions.scaled(float(length))
        curves.append(curve(question, one, others, path, curvature=start, **knobs))
    elements = None
    if group and len(given.h) > 1:
        mix = random_elements(given.h, controls.displacement, options.controls, options.seed)
        mixed = Directions(mix @ given.h, None if given.k is None else mix @ given.k)
        ratios = [float(length) / path.speed for path, length in zip(orbits, lengths, strict=True)]
        unit = sum(ratios) / len(ratios) * question.spread
        end = min(path.longest * path.speed for path in orbits) / question.spread
        way = Orbit(question.spread, end, both_ways=False)
        elements = curve(
            question, mixed.scaled(unit), controls.directions.scaled(unit), way, **knobs
        )
    return tuple(curves), elements, tuple(notes)


def follow_others(
    question: Question, h: Float[Tensor, "k g"], options: CurveOptions
) -> tuple[Curve, ...]:
    """The curves of further motions; none if one of them does not move these samples."""
    directions = Directions(h, partners(question, options.known, h))
    try:
        return follow_all(question, directions, options, group=False)[0]
    except ArgumentError:
        return ()


def partners(
    question: Question, known: Symmetries | None, h: Float[Tensor, "m g"]
) -> Float[Tensor, "m p"] | None:
    """Output directions that fit input directions best; None for invariance."""
    if question.output_action is None or known is None:
        return best_partners(question, h)
    return known._partners(h)


def _controls(question: Question, options: CurveOptions) -> Controls:
    """Random directions by the displacement of the analysis, or of the samples without one."""
    known = options.known
    if known is not None:
        displacement, tolerance = known.displacement, float(known.settings["trivial_tolerance"])
    else:
        x, action, tolerance = question.x.double(), question.action, TRIVIAL_TOLERANCE
        square = float(x.square().sum()) / len(x)
        noise = action.rounding_motion(torch.float64, square, tuple(x.shape[1:]))
        displacement = replace(action.displacement(action.moment(x).cpu(), len(x)), noise=noise)
    h = random_directions(displacement, options.controls, tolerance, options.seed)
    return Controls(displacement, tolerance, Directions(h, partners(question, known, h)))


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
        gap = max(orbits[i].gap for i in near)
        which = runs([i + 1 for i in near])
        notes.append(Diagnosis.NEARLY_PERIODIC(count=len(near), generators=which, gap=gap))
    if slow:
        which = runs([i + 1 for i in slow])
        notes.append(Diagnosis.INCOMMENSURABLE(count=len(slow), generators=which, turns=MAX_TURNS))
    return notes


def _predictions(
    question: Question, given: Directions, known: Symmetries | None, lengths: Float[Tensor, " d"]
) -> Predictions:
    """Mean squared slope of the output by the analysis, where it has the same units."""
    none = torch.zeros_like(lengths)
    if known is None:
        return Predictions(None, none)
    if known.settings["outputs"] != "each" and question.y.shape[1] > 1:
        return Predictions(None, none, (Diagnosis.NO_PREDICTION_OUTPUTS(),))
    if any(part.settings().get("derivative") == "paper" for part in known.action.parts):
        return Predictions(None, none, (Diagnosis.NO_PREDICTION_PAPER(),))
    columns = given.h if given.k is None else torch.cat([given.k, given.h], dim=1)
    slopes = (columns @ known.factor.mT).square().sum(1) / known.samples
    gaps = question.slope_gaps(given.h) if question.resamples else 0.0
    floors = known.decision.floor * lengths.square() + gaps
    return Predictions(slopes, known.solution.sensitivity * floors)
