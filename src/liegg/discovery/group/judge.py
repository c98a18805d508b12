"""Evidence for finite elements: effect, reference, interval and grade of each on held-out samples."""

import math
from collections.abc import Sequence
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.effects import (
    Effects,
    effects,
    grade,
    mean_interval,
    ratio_interval,
)
from liegg.discovery.group.random_maps import random_reference
from liegg.discovery.group.setting import ANOTHER_SAMPLE, Setting
from liegg.results.group_symmetries import GroupElement

STILL = 1e-6
"""Displacement, in multiples of the data's spread, below which an element does not move the data."""

NOT_MOVED = "it does not move the samples"
LARGEST_CONDITION = 1e3
"""Largest condition number of what an element does to the output; beyond, it loses part of the output."""


def judge(
    setting: Setting,
    action: Action,
    candidates: Sequence[Candidate],
    *,
    floor: float,
    tests: int,
) -> list[GroupElement]:
    """Measure elements on held-out samples and grade them.

    Intervals are at the level of the thresholds, divided by the number of elements that were tested in all (Bonferroni).

    Args:
        setting: model and samples.
        action: the candidates of the continuous problem, of which random maps are drawn.
        candidates: elements, with what they do to the output.
        floor: effect that rounding alone may cause.
        tests: number of elements that compete.
    """
    if not candidates:
        return []
    measured = effects(setting, candidates)
    reference = _references(setting, action, candidates, measured)
    level = 1 - (1 - setting.thresholds.level) / max(1, tests)
    found = []
    for i, candidate in enumerate(candidates):
        change = measured.change[i]
        size = mean_interval(change, level)
        defect = ratio_interval(change, reference[i], level)
        effect = math.sqrt(size.value)
        still = float(measured.displacement[i]) <= STILL
        lost = any(
            float(torch.linalg.cond(matrix)) > LARGEST_CONDITION for _, matrix in candidate.outputs
        )
        graded = grade(effect, defect, floor, setting.thresholds)
        found.append(
            GroupElement(
                kinds=tuple(space.kind for space, _ in candidate.factors),
                matrices=tuple(matrix for _, matrix in candidate.factors),
                words="",
                source=candidate.source,
                output_kinds=tuple(space.kind for space, _ in candidate.outputs),
                output_matrices=tuple(matrix for _, matrix in candidate.outputs),
                displacement=float(measured.displacement[i]),
                effect=effect,
                interval=(math.sqrt(size.low), math.sqrt(size.high)),
                reference=math.sqrt(float(reference[i].mean())),
                defect=defect.value,
                defect_high=defect.high,
                changed=None if measured.changed is None else float(measured.changed[i].double().mean()),
                grade="not testable" if still else ("none" if lost else graded),
                reason=NOT_MOVED if still else "",
            )
        )
    return found


def _references(
    setting: Setting, action: Action, candidates: Sequence[Candidate], measured: Effects
) -> Float[Tensor, "m n"]:
    """Change by random maps of equal displacement, by shuffled displacements, or by taking another sample: the smallest."""
    reference = measured.shuffled.clone()
    order = sorted(range(len(candidates)), key=lambda i: id(candidates[i].factors[0][0]))
    for _, same in groupby(order, key=lambda i: id(candidates[i].factors[0][0])):
        places = list(same)
        space = candidates[places[0]].factors[0][0]
        random = random_reference(setting, space, action, measured.displacement[places])
        if random is None:
            continue
        for row, place in zip(random, places, strict=True):
            if float(row.mean()) < float(reference[place].mean()):
                reference[place] = row
    most = ANOTHER_SAMPLE / reference.mean(1, keepdim=True).clamp_min(1e-300)
    return (reference * most.clamp(max=1.0)).nan_to_num(nan=ANOTHER_SAMPLE)
