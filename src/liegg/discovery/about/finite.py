"""Finite motions of samples: how far each goes, and what it and random motions of equal displacement change."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.checks import checksum
from liegg.actions import Motion
from liegg.discovery.about.effort import FOLLOWED_GENERATORS, Effort
from liegg.discovery.about.moved import move
from liegg.discovery.about.random_motions import RandomMotions
from liegg.discovery.about.shares import mean_difference, proportion
from liegg.discovery.verification.curves import radius
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import CLOSED, orbit
from liegg.results.answer import HOLDS, FiniteChange, LargestOutput


@dataclass(frozen=True, eq=False)
class Followed:
    """A motion that was followed.

    Attributes:
        motion: the motion.
        whole_turn: whether the times are spread over a whole turn.
        times: `[t]`, times of the first generator.
        sizes: `[t]`, the same in the unit of the motion.
        first: the motions by the first generator, in time.
        displacement: `[t]`, root mean square motion of the samples, in multiples of their spread.
        change: `[t, n]`, squared change of every output over the variance: mean over generators and
            senses.
        changed: `[t, n]`, the same of changed predictions; None without classes.
        classes: `[t, n]`, classes that are predicted after each motion of `first`; None without classes.
    """

    motion: Motion
    whole_turn: bool
    times: Float[Tensor, " t"]
    sizes: Float[Tensor, " t"]
    first: Directions
    displacement: Float[Tensor, " t"]
    change: Float[Tensor, "t n"]
    changed: Float[Tensor, "t n"] | None
    classes: Int[Tensor, "t n"] | None

    def reported(self, values: Float[Tensor, "t n"]) -> Float[Tensor, " n"]:
        """Values at the reported size: a random angle, or the largest size."""
        return values.mean(0) if self.whole_turn else values[-1]


class Shown(NamedTuple):
    """Samples whose predictions are stored.

    Attributes:
        question: the model and these samples.
        moved: whether they are the first of those that are moved, so that they need not be moved again.
    """

    question: Question
    moved: bool


def follow(
    question: Question, motion: Motion, k: Float[Tensor, "k p"] | None, effort: Effort
) -> Followed | None:
    """Move the samples along a motion; None if it does not move them.

    Args:
        question: the model and its samples, with the action of the motion.
        motion: what is asked.
        k: what each generator does to the output; None for invariance.
        effort: how often each sample is moved.
    """
    h = motion.generators
    some = torch.linspace(0, len(h) - 1, min(len(h), FOLLOWED_GENERATORS)).long()
    h, k = h[some], None if k is None else k[some]
    orbits = [orbit(question, row) for row in h]
    if min(path.speed for path in orbits) <= 0:
        return None
    turn = motion.longest is None and all(
        path.period is not None and path.gap <= CLOSED for path in orbits
    )
    if turn:
        count = effort.angles_each(len(h))
        shares = (torch.arange(count, dtype=torch.float64) + 0.5) / count
        ends = torch.tensor([path.period for path in orbits], dtype=torch.float64)
    else:
        shares = torch.tensor(effort.sizes, dtype=torch.float64)
        ends = torch.tensor(
            [motion.longest or question.spread / path.speed for path in orbits], dtype=torch.float64
        )
    signed = shares if turn else torch.cat([shares, -shares])
    times = ends[:, None] * signed
    motions = Directions(h, k).along(times)
    moved = move(question, motions)
    if turn:
        sizes = 360 * shares
    elif motion.unit:
        sizes = torch.tensor([motion.size(float(t)) for t in ends[0] * shares], dtype=torch.float64)
    else:
        sizes = shares * float(ends[0]) * orbits[0].speed / question.spread
    shape = (len(h), len(signed) // len(shares), len(shares))
    return Followed(
        motion,
        turn,
        times[0, : len(shares)],
        sizes,
        motions.rows(slice(len(shares))),
        moved.displacement.reshape(shape).square().mean((0, 1)).sqrt(),
        moved.change.unflatten(0, shape).mean((0, 1)),
        None if moved.changed is None else moved.changed.double().unflatten(0, shape).mean((0, 1)),
        None if moved.classes is None else moved.classes[: len(shares)],
    )


def finite_change(
    found: Followed,
    random: RandomMotions,
    shown: Shown | None,
    *,
    samples: str,
    level: float,
    beside: bool = False,
) -> FiniteChange:
    """What a motion and random ones of equal displacement change.

    Args:
        found: the motion that was followed.
        random: the random motions.
        shown: the samples whose predictions are stored; None for none.
        samples: checksum of the samples that were moved.
        level: nominal coverage of intervals.
        beside: whether predictions decide nothing: the question is about a part of the output, or the
            largest output may not be a prediction.
    """
    change, changed = found.change, found.changed
    random_change, random_changed = random.at(found.displacement)
    largest = None
    if beside and changed is not None and random_changed is not None:
        own = found.reported(changed)
        mean_random = float(found.reported(random_changed).mean())
        largest, changed = LargestOutput(proportion(own, level), mean_random, own), None
    mean = change.mean(1)
    longest = 360.0 if found.whole_turn else float(found.sizes[-1])
    within = radius(found.sizes, mean, HOLDS) if bool((mean > HOLDS).any()) else longest
    each, random_each = found.reported(change), found.reported(random_change)
    share, random_share, gap = None, None, (each, random_each)
    if changed is not None and random_changed is not None:
        gap = found.reported(changed), found.reported(random_changed)
        share, random_share = proportion(gap[0], level), float(gap[1].mean())
    worst = max(float(mean.max()), 0.0 if changed is None else float(changed.mean(1).max()))
    return FiniteChange(
        sizes=found.sizes,
        unit="°" if found.whole_turn else found.motion.unit,
        whole_turn=found.whole_turn,
        displacement=found.displacement,
        change=mean,
        changed=None if changed is None else changed.mean(1),
        random_change=random_change.mean(1),
        random_changed=None
        if changed is None or random_changed is None
        else random_changed.mean(1),
        each_change=each,
        each_changed=None if share is None else gap[0],
        share=share,
        random_share=random_share,
        amount=float(each.mean()) ** 0.5,
        random_amount=float(random_each.mean()) ** 0.5,
        holds=worst <= HOLDS,
        milder=bool(gap[0].isfinite().all())
        and mean_difference(*gap, paired=True, level=level).high < 0,
        radius=within,
        samples=samples,
        level=level,
        shown=() if shown is None else tuple(checksum(x)[:16] for x in shown.question.x),
        predictions=None if shown is None else _predictions(shown, found),
        times=found.times,
        largest=largest,
    )


def _predictions(shown: Shown, found: Followed) -> Int[Tensor, "s u"] | None:
    """Predicted classes before and after every motion; None without classes."""
    question, classes = shown.question, found.classes
    if not shown.moved:
        action = found.motion.action or question.action
        classes = move(question.changed(question.complete, action=action), found.first).classes
    if classes is None:
        return None
    before = question.complete.argmax(1).cpu()
    return torch.cat([before[:, None], classes[:, : len(before)].mT], dim=1)
