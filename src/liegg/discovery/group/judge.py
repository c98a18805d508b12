"""Evidence for finite elements: effect, reference, interval and grade of each on held-out samples."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.effects import Effects, effects, grade, mean_interval, ratio_interval
from liegg.discovery.group.random_maps import RandomMaps
from liegg.discovery.group.setting import ANOTHER_SAMPLE, Setting
from liegg.results.group_symmetries import GroupElement

STILL = 1e-6
"""Displacement, in multiples of the data's spread, below which an element does not move the data."""

NOT_MOVED = "it does not move the samples"

LARGEST_OUTPUT_CONDITION = 1e3
"""Largest condition number of what an element does to the output; beyond, it loses part of the output."""


def judge(
    setting: Setting,
    random: dict[str, RandomMaps | None],
    candidates: Sequence[Candidate],
    *,
    tests: int,
) -> list[GroupElement]:
    """Measure elements on held-out samples and grade them.

    Intervals are at the level of the thresholds, divided by the number of elements that were tested in all (Bonferroni).

    Args:
        setting: model and samples.
        random: what random maps of each kind of space change.
        candidates: elements, with what they do to the output.
        tests: number of elements that compete.
    """
    if not candidates:
        return []
    measured = effects(setting, candidates)
    reference = _references(candidates, measured, random)
    level = 1 - (1 - setting.thresholds.level) / max(1, tests)
    found = []
    for i, candidate in enumerate(candidates):
        change = measured.change[i]
        size = mean_interval(change, level)
        defect = ratio_interval(change, reference[i], level)
        effect = math.sqrt(size.value)
        still = float(measured.displacement[i]) <= STILL
        lost = any(
            float(torch.linalg.cond(matrix)) > LARGEST_OUTPUT_CONDITION
            for _, matrix in candidate.outputs
        )
        graded = grade(effect, defect, setting.floor, setting.thresholds)
        found.append(
            GroupElement(
                kinds=tuple(space.kind for space, _ in candidate.factors),
                matrices=tuple(matrix for _, matrix in candidate.factors),
                words=candidate.words,
                source=candidate.source,
                output_kinds=tuple(space.kind for space, _ in candidate.outputs),
                output_matrices=tuple(matrix for _, matrix in candidate.outputs),
                displacement=float(measured.displacement[i]),
                effect=effect,
                interval=(math.sqrt(size.low), math.sqrt(size.high)),
                reference=math.sqrt(float(reference[i].mean())),
                defect=defect.value,
                defect_high=defect.high,
                changed=measured.changed[i],
                grade="not testable" if still else ("none" if lost else graded),
                reason=NOT_MOVED if still else "",
            )
        )
    return found


def _references(
    candidates: Sequence[Candidate], measured: Effects, random: dict[str, RandomMaps | None]
) -> Float[Tensor, "m n"]:
    """Change by random maps of equal displacement, by shuffled displacements, or by taking another sample: the smallest."""
    reference = measured.shuffled.clone()
    for place, candidate in enumerate(candidates):
        maps = random.get(candidate.factors[0][0].kind)
        if maps is not None:
            row = maps.at(float(measured.displacement[place]))
            if float(row.mean()) < float(reference[place].mean()):
                reference[place] = row
    most = ANOTHER_SAMPLE / reference.mean(1, keepdim=True).clamp_min(1e-300)
    return (reference * most.clamp(max=1.0)).nan_to_num(nan=ANOTHER_SAMPLE)
