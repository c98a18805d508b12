"""Following motions: the curves of given generators, of the whole group, and of further motions."""

from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

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
from liegg.discovery.verification.further_curves import Others
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import Orbit, orbit
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve
from liegg.spectrum.defects import TRIVIAL_TOLERANCE


class Frame(NamedTuple):
    """What the directions are measured against.

    Attributes:
        displacement: M, by which the controls move the data as much as the directions in question.
        tolerance: share of it below which a direction moves nothing.
        controls: random directions of unit speed.
    """

    displacement: Displacement
    tolerance: float
    controls: Directions


class Asked(NamedTuple):
    """How curves are to be taken; see `verify`."""

    known: Symmetries | None
    points: int
    fraction: float
    controls: int
    seed: int
    longest: float | None


def follow_others(question: Question, beside: Others, asked: Asked) -> tuple[Curve, ...]:
    """The curves of further motions; none where one of them does not move these samples."""
    known = asked.known
    partners = (
        known._partners(beside.coefficients)
        if known is not None and question.output_action is not None
        else None
    )
    try:
        return follow_all(question, Directions(beside.coefficients, partners), asked, group=False)[
            0
        ]
    except ArgumentError:
        return ()


def follow_all(
    question: Question, given: Directions, asked: Asked, *, group: bool = True
) -> tuple[tuple[Curve, ...], Curve | None, list[str]]:
    """The curves of all generators, that of the group, and what there is to note."""
    known, points, fraction, controls, seed, longest = asked
    frame = _frame(question, known, controls, seed)
    lengths = speeds(given.h, frame.displacement)
    orbits = [orbit(question, h, longest=longest) for h in given.h]
    still = [
        i
        for i, (o, v) in enumerate(zip(orbits, lengths, strict=True), start=1)
        if o.speed == 0 or not _moves(given.h[i - 1], float(v), frame)
    ]
    if still:
        raise ArgumentError(
            f"generator {still[0]} does not move the samples, so nothing can be said of it. Leave it out."
        )
    predicted, floors, notes = _predictions(question, given, known, lengths)
    notes += _of_orbits(orbits)
    if torch.linalg.matrix_rank(given.h) >= moving(frame.displacement, frame.tolerance):
        notes.append(
            "the generators span all candidates, so random directions are made of them: ask about more candidates for a contrast"
        )
    curves = []
    for i, (path, speed) in enumerate(zip(orbits, lengths, strict=True)):
        one = Directions(given.h[i : i + 1], None if given.k is None else given.k[i : i + 1])
        start = curvature(
            question,
            one,
            question.spread / path.speed,
            predicted=None if predicted is None else float(predicted[i]),
            predicted_floor=float(floors[i]),
            analysed=known.samples if known else None,
        )
        others = frame.controls.scaled(float(speed))
        curves.append(
            curve(question, one, others, path, points=points, fraction=fraction, curvature=start)
        )
    whole = None
    if group and len(given.h) > 1:
        mixed = random_elements(given.h, frame.displacement, controls, seed)
        elements = Directions(mixed @ given.h, None if given.k is None else mixed @ given.k)
        unit = (
            float(sum(v / o.speed for o, v in zip(orbits, lengths, strict=True)))
            / len(orbits)
            * question.spread
        )
        far = min(o.longest * o.speed for o in orbits) / question.spread
        way = Orbit(question.spread, far, None, both_ways=False)
        whole = curve(
            question,
            elements.scaled(unit),
            frame.controls.scaled(unit),
            way,
            points=points,
            fraction=fraction,
        )
    return tuple(curves), whole, notes


def _of_orbits(orbits: list[Orbit]) -> list[str]:
    """What is out of the ordinary about the motions, each remark once."""
    said: dict[str, list[int]] = {}
    for i, path in enumerate(orbits, start=1):
        if path.note:
            said.setdefault(path.note, []).append(i)
    return [
        f"generator{'s' if len(which) > 1 else ''} {runs(which)}: {note}"
        for note, which in said.items()
    ]


def _frame(question: Question, known: Symmetries | None, controls: int, seed: int) -> Frame:
    """Displacement of the analysis, or of the samples where there was none; and random directions by it."""
    if known is not None:
        displacement, tolerance = known.displacement, float(known.settings["trivial_tolerance"])
    else:
        x = question.x.double()
        noise = question.action.rounding_motion(
            torch.float64, float(x.square().sum()) / len(x), tuple(x.shape[1:])
        )
        measured = question.action.displacement(question.action.moment(x).cpu(), len(x))
        displacement, tolerance = replace(measured, noise=noise), TRIVIAL_TOLERANCE
    h = random_directions(displacement, controls, tolerance, seed)
    if question.output_action is None:
        return Frame(displacement, tolerance, Directions(h, None))
    return Frame(
        displacement,
        tolerance,
        Directions(h, known._partners(h) if known else best_partners(question, h)),
    )


def _moves(h: Float[Tensor, " g"], speed: float, frame: Frame) -> bool:
    """Whether a direction moves the data by more than rounding does."""
    diagonal = frame.displacement.block.diagonal().repeat(frame.displacement.repeat)
    return speed**2 > max(frame.tolerance * float(h.square() @ diagonal), frame.displacement.noise)


def _predictions(
    question: Question, given: Directions, known: Symmetries | None, lengths: Float[Tensor, " d"]
) -> tuple[Float[Tensor, " d"] | None, Float[Tensor, " d"], list[str]]:
    """Mean squared slope of the output by the analysis, what of it may be rounding, and why there is none."""
    floors = torch.zeros_like(lengths)
    if known is None:
        return None, floors, []
    if known.settings["outputs"] != "each" and question.y.shape[1] > 1:
        return (
            None,
            floors,
            [
                "no curvature was predicted: the analysis did not take each output alone (outputs='each')"
            ],
        )
    if "'derivative': 'paper'" in str(known.action.settings()):
        return (
            None,
            floors,
            [
                "no curvature was predicted: derivative='paper' takes its slopes in other units than motions have"
            ],
        )
    columns = given.h if given.k is None else torch.cat([given.k, given.h], dim=1)
    slopes = (columns @ known.factor.mT).square().sum(1) / known.samples
    floors = known.decision.floor * lengths.square() + (
        question.slope_gaps(given.h) if question.resamples else 0
    )
    return slopes, known.solution.sensitivity * floors, []
