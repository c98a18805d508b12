"""The assembly: a model, held-out samples and symmetries in, their finite verification out."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._errors import ArgumentError
from liegg._random import seeded
from liegg.actions import Action, Displacement
from liegg.data import Batches, Data, as_batches
from liegg.defect import TRIVIAL_TOLERANCE
from liegg.model import Model, opened, probe
from liegg.polarization import check_output_action
from liegg.symmetries import Symmetries
from liegg.verification.controls import best_partners, moving, random_directions, random_elements, speeds
from liegg.verification.curvature import curvature
from liegg.verification.curves import curve
from liegg.verification.measure import CONSTANT, Directions, Question
from liegg.verification.orbits import Orbit, orbit
from liegg.verification.record import Curve, Verification
from liegg.verification.request import actions_of, check_numbers, directions_of


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


def verify(
    model: Any,
    data: Data,
    sym: Symmetries | Action,
    generators: Float[Tensor, "d n n"] | None = None,
    *,
    output_action: Action | None = None,
    output_generators: Float[Tensor, "d m m"] | None = None,
    samples: int = 256,
    fraction: float = 0.05,
    points: int = 25,
    controls: int = 8,
    seed: int = 0,
    longest: float | None = None,
) -> Verification:
    r"""Move held-out samples by finite motions along symmetries, and see how much the output changes.

    Measures $r(t) = \mathrm{mean}\,|f(e^{th}x) - e^{tk}f(x)|^2 / \mathrm{var} f$ for every generator $h$, with $k = 0$ for
    invariance, over a whole period where the motion has one, and for random candidates that move the data as much.

    Args:
        model: as for `liegg.discover`; best the same.
        data: held-out samples, of which the first `samples` are read; shuffle them if they are sorted.
        sym: what `liegg.discover` found; or an action, for generators of your own.
        generators: verify these in place of those found; needed with an action.
        output_action: action on the outputs, where `sym` is an action and the question is equivariance.
        output_generators: what each of `generators` is to do to the output; by default what suits it best.
        samples: samples read, at most.
        fraction: share of the output's variance up to which a motion holds.
        points: times at which each motion is looked at.
        controls: random directions, and random elements of the group.
        seed: of these, and for whatever a loader draws.
        longest: how far to go in every direction, as motion at the speed of the start in multiples of the data's spread; by default
            a whole period, or 1 for motions that do not come back.

    Returns:
        A curve to a generator and one for the group, with radius and curvature. No curve if there is nothing to verify, or if the
        output is the same for all samples; the notes say so.

    Raises:
        ArgumentError: arguments that make no sense, fewer than two samples, or a generator that does not move them.

    Examples:
        >>> import liegg
        >>> x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x[:200], liegg.Linear(3))
        >>> found = verify(lambda x: x.square().sum(1), x[200:], sym)
        >>> found.holds, bool(found.curves[0].change.max() < 1e-20)
        (True, True)
    """
    check_numbers(samples, fraction, points, controls, seed, longest)
    known = sym if isinstance(sym, Symmetries) else None
    action, output_action = actions_of(sym, output_action)
    given = directions_of(sym, action, output_action, generators, output_generators)
    name = known.model if known else getattr(model, "__name__", type(model).__name__)
    about = {"fraction": fraction, "controls": controls, "seed": seed, "action": repr(action)}
    if not len(given.h):
        nothing = "there is no symmetry to verify: none was found" if generators is None else "no generator was given to verify"
        return Verification((), None, variance=None, spread=None, samples=0, model=name, notes=(nothing,), **about)
    with seeded(seed), torch.inference_mode(False), torch.no_grad(), opened(model) as function:
        batches = Batches(as_batches(data).source, samples, function.dtype, function.device)
        x = _read(batches, samples)
        action.check(tuple(x.shape[1:]))
        function = probe(function, x)
        if output_action is not None:
            check_output_action(output_action, function)
        if known is not None and known.settings["outputs"] == "sum":  # the sum was asked about, and is what is looked at here
            function = replace(function, function=_summed(function), output_shape=(1,))
        question = Question(function, action, output_action, x)
        if not bool(torch.isfinite(question.y).all()):
            raise ArgumentError(f"{function.name} returned NaN or infinity for a sample. Check it there, or remove the sample.")
        about |= {"spread": question.spread, "samples": len(x), "model": function.name}
        if question.variance <= (CONSTANT * torch.finfo(x.dtype).eps) ** 2 * question.output_square:
            same = "the output is the same for all samples (to rounding): it has no variance to measure a change by"
            return Verification((), None, variance=question.variance, notes=(*function.notes, same), **about)
        if output_action is not None and given.k is None:
            given = given._replace(k=known._partners(given.h) if known else best_partners(question, given.h))
        curves, group, notes = _follow_all(question, given, known, points, fraction, controls, seed, longest)
    return Verification(curves, group, variance=question.variance, notes=(*function.notes, *notes), **about)


def _summed(function: Model) -> Callable[[Tensor], Tensor]:
    """The sum of a function's outputs."""
    return lambda x: function(x).sum(1, keepdim=True)


def _follow_all(
    question: Question,
    given: Directions,
    known: Symmetries | None,
    points: int,
    fraction: float,
    controls: int,
    seed: int,
    longest: float | None,
) -> tuple[tuple[Curve, ...], Curve | None, list[str]]:
    """The curves of all generators, that of the group, and what there is to note."""
    frame = _frame(question, known, controls, seed)
    lengths = speeds(given.h, frame.displacement)
    orbits = [orbit(question, h, longest=longest) for h in given.h]
    still = [
        i
        for i, (o, v) in enumerate(zip(orbits, lengths, strict=True), start=1)
        if o.speed == 0 or not _moves(given.h[i - 1], float(v), frame)
    ]
    if still:
        raise ArgumentError(f"generator {still[0]} does not move the samples, so nothing can be said of it. Leave it out.")
    predicted, floors, notes = _predictions(question, given, known, lengths)
    notes += [f"generator {i}: {o.note}" for i, o in enumerate(orbits, start=1) if o.note]
    if torch.linalg.matrix_rank(given.h) >= moving(frame.displacement, frame.tolerance):
        notes.append(
            "the generators span all candidates, so random directions are made of them: ask about more candidates for a contrast"
        )
    curves = []
    for i, (path, speed) in enumerate(zip(orbits, lengths, strict=True)):
        one = Directions(given.h[i : i + 1], None if given.k is None else given.k[i : i + 1])
        start = curvature(
            question, one, question.spread / path.speed, predicted=None if predicted is None else float(predicted[i]),
            predicted_floor=float(floors[i]), analysed=known.samples if known else None,
        )  # fmt: skip
        others = frame.controls.scaled(float(speed))
        curves.append(curve(question, one, others, path, points=points, fraction=fraction, curvature=start))
    group = None
    if len(given.h) > 1:
        mixed = random_elements(given.h, frame.displacement, controls, seed)
        elements = Directions(mixed @ given.h, None if given.k is None else mixed @ given.k)
        unit = float(sum(v / o.speed for o, v in zip(orbits, lengths, strict=True))) / len(orbits) * question.spread
        far = min(o.longest * o.speed for o in orbits) / question.spread
        way = Orbit(question.spread, far, None, both_ways=False)
        group = curve(question, elements.scaled(unit), frame.controls.scaled(unit), way, points=points, fraction=fraction)
    return tuple(curves), group, notes


def _frame(question: Question, known: Symmetries | None, controls: int, seed: int) -> Frame:
    """Displacement of the analysis, or of the samples where there was none; and random directions by it."""
    if known is not None:
        displacement, tolerance = known.displacement, float(known.settings["trivial_tolerance"])
    else:
        x = question.x.double()
        noise = question.action.noise(torch.float64, float(x.square().sum()) / len(x), tuple(x.shape[1:]))
        measured = question.action.displacement(question.action.moment(x).cpu(), len(x))
        displacement, tolerance = replace(measured, noise=noise), TRIVIAL_TOLERANCE
    h = random_directions(displacement, controls, tolerance, seed)
    if question.output_action is None:
        return Frame(displacement, tolerance, Directions(h, None))
    return Frame(displacement, tolerance, Directions(h, known._partners(h) if known else best_partners(question, h)))


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
        return None, floors, ["no curvature was predicted: the analysis did not take each output alone (outputs='each')"]
    if "'derivative': 'paper'" in str(known.action.settings()):
        return None, floors, ["no curvature was predicted: derivative='paper' takes its slopes in other units than motions have"]
    columns = given.h if given.k is None else torch.cat([given.k, given.h], dim=1)
    slopes = (columns @ known.factor.mT).square().sum(1) / known.samples
    return slopes, known.decision.floor * known.scale_free.sensitivity * lengths.square(), []


def _read(batches: Batches, samples: int) -> Float[Tensor, "n ..."]:
    """The first samples, at least two."""
    found, count = [], 0
    with closing(iter(batches)) as left:
        for batch in left:
            found.append(batch[: samples - count])
            count += len(found[-1])
            if count == samples:
                break
    if count < 2:
        raise ArgumentError(f"the data holds {count} sample; a variance needs 2 or more, and a trustworthy one some 100.")
    return torch.cat(found)
