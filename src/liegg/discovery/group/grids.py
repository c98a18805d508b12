"""Elements of a grid: the square or the cube exactly, circular shifts, and the angles at which an image network returns."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.effects import mean_interval
from liegg.discovery.group.judge import BESIDE_EXACT, Findings
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.measure import Question
from liegg.inputs.task import predicted
from liegg.results.group_symmetries import Angle

FOLDS = (2, 3, 4, 5, 6, 8, 10, 12, 16)
"""Numbers k of which rotations by multiples of 360°/k are tried."""

ANGLE_SAMPLES = 96
"""Samples that are rotated."""

BETWEEN_PIXELS = 45.0
"""Angle in degrees that leaves fewest pixels in their places."""

BETWEEN_FACTOR = 2.0
"""How many times larger the effect between the kept angles is, at least, than at them."""


def search_grid(space: GridSpace, findings: Findings) -> None:
    """Judge all elements of the grid but the identity."""
    candidates = [Candidate(((space, h),), "element of the grid") for h in space.elements[1:]]
    findings.count("elements of the grid", len(candidates))
    findings.add(findings.judge(candidates))


def search_shifts(space: ShiftSpace, findings: Findings) -> None:
    """Find the circular shifts that are symmetries.

    Only divisors of the side are tried: any other shift generates one of them.
    """
    divisors = [d for d in range(1, space.side) if space.side % d == 0]
    judged = findings.judge(
        [Candidate(((space, space.shift(d)),), f"circular shift by {d}") for d in divisors]
    )
    pairs = zip(divisors, judged, strict=True)
    findings.circular.append((space.side, {d: element for d, element in pairs if element.counted}))
    findings.count("circular shifts", len(judged))
    findings.rejected += [element for element in judged if not element.counted]


def assemble_shifts(findings: Findings) -> None:
    """The smallest circular shift along every axis, in places; 0 for none. Only exact ones where anything is exact."""
    exact = findings.anything_exact
    for side, counted in findings.circular:
        kept = {d: one for d, one in counted.items() if one.grade == "exact" or not exact}
        findings.rejected += [
            replace(one, reason=BESIDE_EXACT) for d, one in counted.items() if d not in kept
        ]
        smallest = min(kept, default=side)
        findings.shifts.append(smallest % side)
        findings.shift_orders.append(side // smallest)
        if kept:
            findings.moved_circularly.append(kept[smallest])


def rotations(setting: Setting) -> tuple[Angle, ...]:
    """Effect of rotations of images by many angles, with interpolation; empty where there is no rotation."""
    question, rotate = setting.held_out, _rotation(setting)
    if rotate is None:
        return ()
    x = question.x[:ANGLE_SAMPLES].double()
    classes = question.complete[: len(x)].argmax(1)
    shares = sorted({i / k for k in FOLDS for i in range(1, k)})
    found = []
    for share in shares:
        complete = question.reply(rotate(360 * share, x))
        size = mean_interval(_changes(question, complete), setting.thresholds.level)
        changed = float((predicted(complete) != classes).double().mean())
        found.append(
            Angle(
                degrees=360 * share,
                effect=math.sqrt(size.value),
                interval=(math.sqrt(size.low), math.sqrt(size.high)),
                changed=changed if question.has_classes else None,
            )
        )
    return tuple(found)


def interpolation_loss(setting: Setting) -> float:
    """Effect of a rotation by half a right angle and back: what interpolation alone does to the output; 0 without a rotation.

    Images with details of the size of a pixel do not survive it, and then no rotation between pixels can return the output.
    """
    question, rotate = setting.held_out, _rotation(setting)
    if rotate is None:
        return 0.0
    x = question.x[:ANGLE_SAMPLES].double()
    complete = question.reply(rotate(-BETWEEN_PIXELS, rotate(BETWEEN_PIXELS, x)))
    return math.sqrt(float(_changes(question, complete).mean()))


def _rotation(setting: Setting) -> Callable[[float, Tensor], Tensor] | None:
    """Images rotated by an angle in degrees; None where there is no rotation."""
    question, action = setting.held_out, setting.action
    motions = action.motions(tuple(question.x.shape[1:]))
    if "rotation" not in motions or action.stage != "grid" or setting.output_spaces:
        return None
    motion = motions["rotation"]
    mover = motion.action or action
    if len(motion.generators) != 1:
        return None
    h = mover.as_coefficients(motion.generators)[0].double()
    return lambda degrees, x: mover.act(math.radians(degrees) * h.to(x), x)


def _changes(question: Question, complete: Float[Tensor, "b k"]) -> Float[Tensor, " b"]:
    """Squared change of the output of the first samples over the variance."""
    gap = question.taken(complete, slice(0, len(complete))) - question.y[: len(complete)]
    return gap.square().sum(1).cpu() / question.variance


def kept_rotations(angles: tuple[Angle, ...], most: float) -> tuple[int, float] | None:
    """The largest k such that all rotations by multiples of 360°/k return the output, and their largest effect.

    They return it if no effect exceeds `most` and the angles between them change the output at least twice as much; where all angles
    that were tried return it there is no k.

    Examples:
        >>> tried = [
        ...     Angle(
        ...         degrees=d,
        ...         effect=0.01 if d % 90 == 0 else 0.2,
        ...         interval=(0.0, 1.0),
        ...         changed=None,
        ...     )
        ...     for d in (45.0, 90.0, 120.0, 180.0, 240.0, 270.0)
        ... ]
        >>> kept_rotations(tuple(tried), 0.05)
        (4, 0.01)
    """
    known = {round(angle.degrees, 6): angle.effect for angle in angles}
    for k in sorted(FOLDS, reverse=True):
        own = [round(360 * i / k, 6) for i in range(1, k)]
        if not all(degrees in known for degrees in own):
            continue
        largest = max(known[degrees] for degrees in own)
        between = [effect for degrees, effect in known.items() if degrees not in own]
        if (
            largest <= most
            and between
            and torch.tensor(between).median() >= BETWEEN_FACTOR * largest
        ):
            return k, largest
    return None
