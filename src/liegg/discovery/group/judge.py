"""Evidence for finite elements on held-out samples, and what a search has found so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.discovery.group.candidate import Candidate, with_partner
from liegg.discovery.group.effects import grade, mean_interval, ratio_interval
from liegg.discovery.group.random_maps import RandomMaps, random_maps
from liegg.discovery.group.setting import ANOTHER_SAMPLE, LARGE_MOVED_SAMPLE, Setting
from liegg.discovery.verification.measure import Question
from liegg.results.group_symmetries import GroupElement

SHUFFLES, LARGE_SHUFFLES = 4, 2
"""Times that displacements are given to other samples; fewer for large samples."""

FEWEST_TESTS = 64
"""Number of elements for which intervals are corrected at least."""

STILL = 1e-6
"""Displacement, in multiples of the data's spread, below which an element does not move the data."""

NOT_MOVED = "it does not move the samples"
BESIDE_EXACT = "it holds only nearly, beside exact symmetries"

LARGEST_OUTPUT_CONDITION = 1e3
"""Largest condition number of what an element does to the output; beyond, it loses part of the output."""


class Effects(NamedTuple):
    """What elements do to samples and outputs; m elements, n samples.

    Attributes:
        displacement: root mean square motion of the samples, in multiples of their spread.
        change: squared change of every output over the variance; infinite where an output is not finite.
        shuffled: the same for samples displaced by what the element does to another sample, mean over shuffles.
        changed: share of samples for which another class is predicted; None without classes.
    """

    displacement: Float[Tensor, " m"]
    change: Float[Tensor, "m n"]
    shuffled: Float[Tensor, "m n"]
    changed: list[float | None]


def effects(setting: Setting, candidates: Sequence[Candidate]) -> Effects:
    """Move the held-out samples by every element.

    The control displaces every sample by as much as the element moves another sample: equal displacements, without what makes the
    element a symmetry. An element along which the output hardly responds fails against it.

    Args:
        setting: model and samples.
        candidates: elements with what they do to the output.
    """
    question = setting.held_out
    x, n = question.x.double(), len(question.x)
    generator = torch.Generator().manual_seed(setting.seed)
    shuffles = LARGE_SHUFFLES if x[0].numel() >= LARGE_MOVED_SAMPLE else SHUFFLES
    orders = [torch.randperm(n, generator=generator).to(x.device) for _ in range(shuffles)]
    displacement, changes, controls, changed = [], [], [], []
    for candidate in candidates:
        moved = candidate.apply(x)
        target = candidate.apply_output(setting.shaped(question.y)).reshape(n, -1)
        complete = _replies(question, moved)
        changes.append(_squares(question, complete, target))
        others = [
            _replies(question, x + question.action.moving(x, (moved - x)[order]))
            for order in orders
        ]
        control = torch.stack([_squares(question, other, question.y) for other in others]).mean(0)
        # A translation moves all samples alike, so that shuffling compares it with itself.
        uniform = float((moved - x - (moved - x)[:1]).abs().max()) <= STILL * question.spread
        controls.append(torch.full_like(control, torch.inf) if uniform else control)
        displacement.append((moved - x).flatten(1).square().sum(1).mean().sqrt().cpu())
        other_class = complete.argmax(1) != question.complete.argmax(1)
        changed.append(float(other_class.double().mean()) if question.has_classes else None)
    return Effects(
        torch.stack(displacement) / question.spread,
        torch.stack(changes) / question.variance,
        torch.stack(controls) / question.variance,
        changed,
    )


def _replies(question: Question, moved: Tensor) -> Float[Tensor, "n k"]:
    return torch.cat([question.reply(moved[part]) for part in question.parts])


def _squares(question: Question, complete: Tensor, target: Tensor) -> Float[Tensor, " n"]:
    """Squared distance of the outputs from their targets; infinite where an output is not finite."""
    gap = question.taken(complete, slice(None)) - target
    return gap.square().sum(1).nan_to_num(nan=torch.inf, posinf=torch.inf).cpu()


@dataclass
class Findings:
    """What the spaces of a sample gave, before it becomes a record.

    Attributes:
        setting: model and samples.
        judged: elements judged so far; intervals are corrected for how many compete.
        random: what random maps of each kind of space change; measured when they are first needed.
        accepted: elements on vectors, channels and the grid that count.
        rejected: elements that were judged and do not.
        permutations: permutations of slots that count.
        slot_generators: permutations that generate those of slots.
        circular: for every axis of a grid its side, and the circular shifts that count by their number of places.
        group: closed under multiplication; None if no matrix but the identity was found.
        elements: one per element of the group, the identity left out.
        nearly: the larger group that holds only nearly, and its elements, beside an exact one; None if there is none.
        infinite: exact elements whose powers never return to the identity.
        slots: the group of the permutations; None without slots.
        shifts: smallest circular shift along every axis of a grid.
        shift_orders: orders of the groups that they generate.
        moved_circularly: the evidence for the smallest circular shifts.
        pairs: symmetries of two spaces at once, neither part of which is one alone.
        tried: number of elements by where they come from.
        notes: remarks.
    """

    setting: Setting
    judged: int = 0
    random: dict[str, RandomMaps | None] = field(default_factory=dict)
    accepted: list[GroupElement] = field(default_factory=list)
    rejected: list[GroupElement] = field(default_factory=list)
    permutations: list[GroupElement] = field(default_factory=list)
    slot_generators: list[tuple[int, ...]] = field(default_factory=list)
    circular: list[tuple[int, dict[int, GroupElement]]] = field(default_factory=list)
    group: FiniteGroup | None = None
    elements: tuple[GroupElement, ...] = ()
    nearly: tuple[FiniteGroup, tuple[GroupElement, ...]] | None = None
    infinite: list[GroupElement] = field(default_factory=list)
    slots: SlotGroup | None = None
    shifts: list[int] = field(default_factory=list)
    shift_orders: list[int] = field(default_factory=list)
    moved_circularly: list[GroupElement] = field(default_factory=list)
    pairs: list[GroupElement] = field(default_factory=list)
    tried: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = field(default_factory=list)

    @property
    def anything_exact(self) -> bool:
        """Whether a direction, an element, a permutation or a shift is exact: then nothing else is part of the group."""
        shifts = (one for _, counted in self.circular for one in counted.values())
        elements = (*self.accepted, *self.permutations, *shifts)
        return self.setting.exact_directions > 0 or any(one.grade == "exact" for one in elements)

    def judge(self, candidates: Sequence[Candidate]) -> list[GroupElement]:
        """Grade elements on held-out samples, completed with what they do to the output.

        Intervals are at the level of the thresholds, divided by the number of elements that were judged so far (Bonferroni).
        """
        if not candidates:
            return []
        setting = self.setting
        self.judged += len(candidates)
        candidates = [with_partner(candidate, setting) for candidate in candidates]
        measured = effects(setting, candidates)
        reference = self._references(candidates, measured)
        level = 1 - (1 - setting.thresholds.level) / max(FEWEST_TESTS, self.judged)
        elements = []
        for i, candidate in enumerate(candidates):
            displacement = float(measured.displacement[i])
            size = mean_interval(measured.change[i], level)
            defect = ratio_interval(measured.change[i], reference[i], level)
            conditions = [float(torch.linalg.cond(matrix)) for _, matrix in candidate.outputs]
            graded = grade(math.sqrt(size.value), defect, setting.floor, setting.thresholds)
            if max(conditions, default=1.0) > LARGEST_OUTPUT_CONDITION:
                graded = "none"
            elements.append(
                GroupElement(
                    kinds=tuple(space.kind for space, _ in candidate.factors),
                    matrices=tuple(matrix for _, matrix in candidate.factors),
                    words=candidate.words,
                    source=candidate.source,
                    output_kinds=tuple(space.kind for space, _ in candidate.outputs),
                    output_matrices=tuple(matrix for _, matrix in candidate.outputs),
                    displacement=displacement,
                    effect=math.sqrt(size.value),
                    interval=(math.sqrt(size.low), math.sqrt(size.high)),
                    reference=math.sqrt(float(reference[i].mean())),
                    defect=defect.value,
                    defect_high=defect.high,
                    changed=measured.changed[i],
                    grade=graded if displacement > STILL else "not testable",
                    reason="" if displacement > STILL else NOT_MOVED,
                )
            )
        return elements

    def _references(
        self, candidates: Sequence[Candidate], measured: Effects
    ) -> Float[Tensor, "m n"]:
        """Change by random maps of equal displacement, by shuffled displacements, or by taking another sample: the smallest."""
        reference = measured.shuffled.clone()
        for place, candidate in enumerate(candidates):
            space = candidate.factors[0][0]
            if space.kind not in self.random:
                self.random[space.kind] = random_maps(self.setting, space)
            maps = self.random[space.kind]
            row = None if maps is None else maps.at(float(measured.displacement[place]))
            if row is not None and float(row.mean()) < float(reference[place].mean()):
                reference[place] = row
        most = ANOTHER_SAMPLE / reference.mean(1, keepdim=True).clamp_min(1e-300)
        return (reference * most.clamp(max=1.0)).nan_to_num(nan=ANOTHER_SAMPLE)

    def add(self, elements: Sequence[GroupElement]) -> None:
        """Sort elements by whether they count."""
        self.accepted += [element for element in elements if element.counted]
        self.rejected += [element for element in elements if not element.counted]

    def count(self, source: str, number: int) -> None:
        """Note how many elements were tried."""
        self.tried[source] = self.tried.get(source, 0) + number


def distinct_elements(elements: Sequence[GroupElement]) -> list[GroupElement]:
    """Elements without repeats of the same matrices."""
    kept: dict[Any, GroupElement] = {}
    for one in elements:
        entries = (tuple((m / m.norm()).flatten().round(decimals=6).tolist()) for m in one.matrices)
        kept.setdefault((one.kinds, one.reason, *entries), one)
    return list(kept.values())
