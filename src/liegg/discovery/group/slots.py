"""Permutations of slots: transpositions to connected components, then cycles, blocks, what probes suggest, and of few slots all."""

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.actions.finite.slots import SlotSpace
from liegg.algebra.finite.slots import permutation_group
from liegg.discovery.group.assemble import NOT_A_GROUP
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.judge import BESIDE_EXACT, Findings
from liegg.discovery.group.setting import ANOTHER_SAMPLE, Setting
from liegg.discovery.group.slot_probes import probed_permutations
from liegg.results.group_symmetries import GroupElement

Order = tuple[int, ...]

SWAP, MIXED = "swap of slots", "random permutation of slots"
"""Where most permutations come from."""

SCREEN_SAMPLES = 24
"""Samples on which transpositions are screened."""

SCREENED = 0.15
"""Squared change, relative to shuffled displacements, up to which a transposition is looked at further."""

SCREENED_AT_ONCE = 2**13
"""Moved samples per call of the model."""

JUDGED_SWAPS = 12
"""Most transpositions of a component that are judged one by one; permutations of the complete component are judged beside them."""

MOST_BLOCKS = 64
"""Most cycles and block permutations that are judged."""

JUDGED_PRODUCTS = 120
"""Products of inexact permutations that are judged."""

FEW_SLOTS = 6
"""Slots up to which all permutations are tried; above it cycles of three neighbours."""

GLANCE_SAMPLES, FIRST_SCREENED = 4, 0.5
"""Samples on which many permutations are looked at first, and their squared change up to which they are screened."""


def search_slots(space: SlotSpace, findings: Findings) -> None:
    """Find the permutations that are symmetries: the exact ones or, if none is exact, those that count.

    Args:
        space: the slots.
        findings: what was found on all spaces.
    """
    search = _SlotSearch(space, findings, exact=True)
    search.run()
    if not search.generators and search.nearly:
        search = _SlotSearch(space, findings, exact=False)
        search.run()
    findings.permutations += search.permutations
    findings.slot_generators += search.generators
    findings.rejected += search.rejected
    findings.rejected += [replace(one, reason=BESIDE_EXACT) for one in search.nearly]


def assemble_slots(space: SlotSpace, findings: Findings) -> None:
    """The group of the permutations; those that are not exact must form a group whose elements count, if nothing is exact."""
    n, found = space.side, findings.permutations
    nearly = [one for one in found if one.grade != "exact"]
    if nearly and findings.anything_exact:
        findings.rejected += [replace(one, reason=BESIDE_EXACT) for one in nearly]
        findings.permutations = [one for one in found if one.grade == "exact"]
        findings.slot_generators = [_order(one) for one in findings.permutations]
    elif nearly and not _all_count(space, findings, findings.slot_generators):
        kept: list[GroupElement] = []
        for one in sorted(found, key=lambda one: one.effect):
            orders = [_order(other) for other in (*kept, one)]
            if _all_count(space, findings, orders):
                kept.append(one)
            else:
                findings.rejected.append(replace(one, reason=NOT_A_GROUP))
        findings.permutations = kept
        findings.slot_generators = [_order(one) for one in kept]
    findings.slots = permutation_group(findings.slot_generators, n, noun=space.noun)
    if n > FEW_SLOTS and findings.slots.order < math.factorial(n):
        findings.notes.append(Diagnosis.GROUP_SOME_PERMUTATIONS(slots=n))


def _order(element: GroupElement) -> Order:
    return tuple(element.matrix.argmax(1).tolist())


def _all_count(space: SlotSpace, findings: Findings, generators: Sequence[Order]) -> bool:
    """Whether products of permutations are symmetries: all of a small group, some of a large one."""
    products, front = {tuple(range(space.side))}, [tuple(range(space.side))]
    while front and len(products) < JUDGED_PRODUCTS:
        one = front.pop(0)
        new = {tuple(step[i] for i in one) for step in generators} - products
        products |= new
        front += sorted(new)
    moving = sorted(products - {tuple(range(space.side))})[:JUDGED_PRODUCTS]
    judged = findings.judge([Candidate(((space, space.matrix(p)),), "product") for p in moving])
    return all(one.counted for one in judged)


@dataclass
class _SlotSearch:
    """The permutations that were found so far.

    Attributes:
        space: the slots.
        findings: what was found on all spaces.
        exact: whether only exact permutations are looked for.
        generators: permutations that generate the group.
        permutations: those of them that were judged.
        nearly: permutations that count and are not exact, where exact ones are looked for.
        rejected: permutations that were judged and are not symmetries.
    """

    space: SlotSpace
    findings: Findings
    exact: bool
    generators: list[Order] = field(default_factory=list)
    permutations: list[GroupElement] = field(default_factory=list)
    nearly: list[GroupElement] = field(default_factory=list)
    rejected: list[GroupElement] = field(default_factory=list)

    def run(self) -> None:
        """Search transpositions, then cycles, exchanges of blocks and others.

        Each slot is compared with the slots that are left, in one batch: a set of n equal slots takes n − 1 transpositions, not
        n(n − 1)/2. Those that pass on a few samples are judged.
        """
        n = self.space.side
        generator = torch.Generator().manual_seed(self.findings.setting.seed)
        left, components = list(range(n)), []
        while left:
            first, *others = left
            near = self.screened({swap(n, first, other): SWAP for other in others})
            near = [other for other in others if swap(n, first, other) in near]
            same = self.component(first, near, generator)
            components.append([first, *same])
            left = [slot for slot in others if slot not in same]
        further: dict[Order, str] = {}
        for order, source in _further(n, components):
            further.setdefault(order, source)
        if n > FEW_SLOTS and len(components) > 1:
            for order, source in probed_permutations(self.findings.setting, self.space, components):
                further.setdefault(order, source)
        self.judge_new(self.screened(further))
        if not self.generators and not self.rejected and not self.nearly:
            self.judge({swap(n, 0, 1): SWAP})

    def holds(self, element: GroupElement) -> bool:
        """Whether a permutation is one that is looked for."""
        return element.counted and (element.grade == "exact" or not self.exact)

    def screened(self, orders: dict[Order, str]) -> dict[Order, str]:
        """The permutations that pass on a few samples, with where they come from."""
        self.findings.count("permutations of slots", len(orders))
        for samples, most in ((GLANCE_SAMPLES, FIRST_SCREENED), (SCREEN_SAMPLES, SCREENED)):
            ratios = _ratios(self.findings.setting, self.space, list(orders), samples).tolist()
            passed = (ratio <= most for ratio in ratios)
            orders = dict(itertools.compress(orders.items(), passed))
        return orders

    def measured(self, orders: dict[Order, str]) -> list[GroupElement]:
        """Evidence for permutations on held-out samples."""
        factors = {order: (self.space, self.space.matrix(order)) for order in orders}
        return self.findings.judge([Candidate((factors[o],), orders[o]) for o in orders])

    def judge(self, orders: dict[Order, str]) -> list[GroupElement]:
        """Add permutations to those that hold or to the others."""
        judged = self.measured(orders)
        for order, element in zip(orders, judged, strict=True):
            if self.holds(element):
                self.permutations.append(element)
                self.generators.append(order)
            else:
                (self.nearly if element.counted else self.rejected).append(element)
        return judged

    def judge_new(self, orders: dict[Order, str]) -> None:
        """Judge one permutation after the other, but those that the ones that hold already generate."""
        group = permutation_group(self.generators, self.space.side)
        left = MOST_BLOCKS
        for order, source in orders.items():
            if order in group:
                continue
            if all(map(self.holds, self.judge({order: source}))):
                group = permutation_group(self.generators, self.space.side)
            left -= 1
            if not left:
                return

    def component(self, first: int, near: list[int], generator: torch.Generator) -> list[int]:
        """Slots that can be exchanged with the first one.

        Of many, some transpositions and two random permutations of all of them are judged; all transpositions if one of these fails.
        """
        n = self.space.side
        swaps = {swap(n, first, other): SWAP for other in near}
        if len(near) > JUDGED_SWAPS:
            step, slots = len(near) // JUDGED_SWAPS, torch.tensor([first, *near])
            some = dict(list(swaps.items())[::step][:JUDGED_SWAPS])
            for _ in range(2):
                shuffle = torch.randperm(len(slots), generator=generator)
                some[_moved(n, slots.tolist(), slots[shuffle].tolist())] = MIXED
            judged = self.measured(some)
            if all(map(self.holds, judged)):
                self.permutations.extend(judged)
                self.generators.extend(swaps)
                return near
        judged = self.judge(swaps)
        return [other for other, element in zip(near, judged, strict=True) if self.holds(element)]


def swap(n: int, i: int, j: int) -> Order:
    """The permutation that exchanges two slots."""
    return _moved(n, (i, j), (j, i))


def _ratios(
    setting: Setting, space: SlotSpace, orders: Sequence[Order], samples: int
) -> Float[Tensor, " m"]:
    """Squared change of the output by every permutation over that by shuffled displacements, on a few samples.

    Zero where only rounding changes the output; with an output action the output may be permuted too.
    """
    question = setting.search
    x = question.x[:samples].double()
    y = question.y[: len(x)]
    shaped = setting.shaped(y)
    room = max(
        1, min(SCREENED_AT_ONCE // len(x), question.capacity // max(1, x[0].numel() * len(x)))
    )
    same = [s for s in setting.output_spaces if isinstance(s, SlotSpace) and s.side == space.side]
    rounding = (100 * question.eps) ** 2 * question.output_square
    found = []
    for start in range(0, len(orders), room):
        some = orders[start : start + room]
        moved = torch.stack([space.permute(order, x) for order in some])
        other = x + moved.roll(1, 1) - x.roll(1, 0)  # displaced as the sample before it is
        both = torch.cat([moved, other]).flatten(0, 1)
        part = slice(0, len(x))
        replies = question.reply(both).unflatten(0, (-1, len(x)))
        outputs = question.taken(replies, part)
        change = (outputs[: len(some)] - y).square().sum(2).mean(1)
        if same:
            targets = torch.stack([same[0].permute(o, shaped).reshape(y.shape) for o in some])
            change = change.minimum((outputs[: len(some)] - targets).square().sum(2).mean(1))
        control = (outputs[len(some) :] - y).square().sum(2).mean(1)
        control = control.clamp(max=ANOTHER_SAMPLE * question.variance)
        ratio = change / control.clamp_min(torch.finfo(torch.float64).tiny)
        found.append(torch.where(change <= rounding, 0.0, ratio).nan_to_num(nan=torch.inf).cpu())
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.float64)


def _further(n: int, components: list[list[int]]) -> Iterator[tuple[Order, str]]:
    """Cycles, reversals, block permutations and others that transpositions do not already generate."""
    if len(components) == 1:
        return
    number = {slot: k for k, component in enumerate(components) for slot in component}
    for order, source in (*_cycles_and_blocks(n, components), *_other_permutations(n)):
        if any(number[order[i]] != number[i] for i in range(n)):
            yield order, source


def _cycles_and_blocks(n: int, components: list[list[int]]) -> Iterator[tuple[Order, str]]:
    every = tuple(range(n))
    divisors = [d for d in range(1, n) if n % d == 0]
    for step in divisors:
        yield every[step:] + every[:step], "cyclic shift of slots"
    yield every[::-1], "reversal of slots"
    pairs: list[tuple[Sequence[int], Sequence[int]]] = []
    for size in divisors[1:]:
        blocks = [every[start : start + size] for start in range(0, n, size)]
        strided = [every[start :: n // size] for start in range(n // size)]
        for parts in (blocks, strided):
            for images in ([p[1:] + p[:1] for p in parts], [p[::-1] for p in parts]):
                yield _moved(n, sum(parts, ()), sum(images, ())), "cycle of all blocks of slots"
        pairs += [(parts[0], part) for parts in (blocks, strided) for part in parts[1:]]
    pairs += [
        (one, other)
        for one, other in itertools.combinations(components, 2)
        if len(one) == len(other) > 1
    ]
    for one, other in pairs:
        yield _moved(n, (*one, *other), (*other, *one)), "exchange of blocks of slots"


def _other_permutations(n: int) -> Iterator[tuple[Order, str]]:
    """All permutations of a few slots, those that move fewest first; of more slots the cycles of three neighbours."""
    every = range(n)
    if n <= FEW_SLOTS:
        orders = itertools.permutations(every)
        for order in sorted(orders, key=lambda order: sum(map(operator.ne, order, every))):
            yield order, "permutation of slots"
        return
    for i, j, k in zip(every, every[1:], every[2:], strict=False):
        yield _moved(n, (i, j, k), (j, k, i)), "cycle of three slots"


def _moved(n: int, slots: Sequence[int], images: Sequence[int]) -> Order:
    """The permutation that takes some slots to others and leaves the rest."""
    order = list(range(n))
    for slot, image in zip(slots, images, strict=True):
        order[slot] = image
    return tuple(order)
