"""Permutations of slots: transpositions to connected components, then cycles and blocks where transpositions fail."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.slots import SlotSpace
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.setting import ANOTHER_SAMPLE, Setting
from liegg.results.group_symmetries import GroupElement

Order = tuple[int, ...]
Judge = Callable[[Sequence[Candidate]], list[GroupElement]]

SCREEN_SAMPLES = 24
"""Samples on which transpositions are screened."""

SCREENED = 0.15
"""Squared change, relative to shuffled displacements, up to which a transposition is looked at further."""

AT_ONCE = 2**13
"""Moved samples per call of the model."""

JUDGED_SWAPS = 12
"""Most transpositions of a component that are judged one by one; permutations of the complete component are judged beside them."""

MOST_BLOCKS = 64
"""Most cycles and block permutations that are judged."""

FEW_SLOTS = 6
"""Slots up to which all cycles of three and pairs of transpositions are tried; above it cycles of three neighbours."""


class SlotFindings(NamedTuple):
    """What was found of the slots.

    Attributes:
        generators: permutations that generate the group.
        accepted: evidence for some of them, and for random permutations of large components.
        rejected: permutations that were judged and are no symmetries.
        tried: number of permutations that were tried.
    """

    generators: list[Order]
    accepted: list[GroupElement]
    rejected: list[GroupElement]
    tried: int


def search_slots(setting: Setting, space: SlotSpace, judge: Judge) -> SlotFindings:
    """Permutations that are symmetries.

    Each slot is compared with the slots that are left, in one batch: a set of n equal slots takes n − 1 transpositions, not n(n − 1)/2.
    Those that pass on a few samples are judged. Then cycles, exchanges of blocks and even permutations are tried.

    Args:
        setting: model and samples.
        space: the slots.
        judge: grades elements on held-out samples.
    """
    n = space.side
    found = SlotFindings([], [], [], 0)
    left, components, tried = list(range(n)), [], 0
    generator = torch.Generator().manual_seed(setting.seed)
    while left:
        first, *others = left
        swaps = [_swap(n, first, other) for other in others]
        tried += len(swaps)
        ratios = _ratios(setting, space, swaps).tolist()
        near = [other for other, ratio in zip(others, ratios, strict=True) if ratio <= SCREENED]
        same = _judged_component(space, first, near, judge, found, generator)
        components.append([first, *same])
        left = [slot for slot in others if slot not in set(same)]
    blocks = list(dict.fromkeys(_further(n, components)))
    promising = _screened(setting, space, blocks)[:MOST_BLOCKS]
    judged = judge([_candidate(space, order, words) for order, words in promising])
    _sort(found, judged)
    if not found.generators and not found.rejected:
        _sort(found, judge([_candidate(space, _swap(n, 0, 1), "swap of slots")]))
    return found._replace(tried=tried + len(blocks))


def _sort(found: SlotFindings, judged: Sequence[GroupElement]) -> None:
    """Add judged permutations to those that count or to the others."""
    for element in judged:
        (found.accepted if element.counted else found.rejected).append(element)
        if element.counted:
            found.generators.append(tuple(element.matrices[0].argmax(1).tolist()))


def _judged_component(
    space: SlotSpace,
    first: int,
    near: list[int],
    judge: Judge,
    found: SlotFindings,
    generator: torch.Generator,
) -> list[int]:
    """Slots that can be exchanged with the first one.

    Of many, some transpositions and two random permutations of all of them are judged; all transpositions if one of these fails.
    """
    if not near:
        return []
    n = space.side
    swaps = {other: _swap(n, first, other) for other in near}
    if len(near) > JUDGED_SWAPS:
        some = near[:: len(near) // JUDGED_SWAPS][:JUDGED_SWAPS]
        mixed = [_mixed(n, [first, *near], generator) for _ in range(2)]
        judged = judge(
            [_candidate(space, swaps[other], "swap of slots") for other in some]
            + [_candidate(space, order, "random permutation of slots") for order in mixed]
        )
        if all(element.counted for element in judged):
            found.accepted.extend(judged)
            found.generators.extend(swaps.values())
            return near
    judged = judge([_candidate(space, order, "swap of slots") for order in swaps.values()])
    _sort(found, judged)
    return [other for other, element in zip(near, judged, strict=True) if element.counted]


def _candidate(space: SlotSpace, order: Order, words: str) -> Candidate:
    return Candidate(((space, space.matrix(order)),), words)


def _swap(n: int, i: int, j: int) -> Order:
    order = list(range(n))
    order[i], order[j] = j, i
    return tuple(order)


def _ratios(setting: Setting, space: SlotSpace, orders: Sequence[Order]) -> Float[Tensor, " m"]:
    """Squared change of the output by every permutation over that by shuffled displacements, on a few samples.

    Zero where only rounding changes the output; with an output action the output may be permuted too.
    """
    question = setting.search
    x = question.x[:SCREEN_SAMPLES].double()
    y = question.y[: len(x)]
    shaped = setting.shaped(y)
    room = max(1, min(AT_ONCE // len(x), question.capacity // max(1, x[0].numel() * len(x))))
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


def _mixed(n: int, component: list[int], generator: torch.Generator) -> Order:
    """A random permutation of a component."""
    order = list(range(n))
    places = torch.randperm(len(component), generator=generator).tolist()
    for slot, place in zip(component, places, strict=True):
        order[slot] = component[place]
    return tuple(order)


def _screened(
    setting: Setting, space: SlotSpace, orders: list[tuple[Order, str]]
) -> list[tuple[Order, str]]:
    ratios = _ratios(setting, space, [order for order, _ in orders]).tolist()
    return [one for one, ratio in zip(orders, ratios, strict=True) if ratio <= SCREENED]


def _further(n: int, components: list[list[int]]) -> Iterator[tuple[Order, str]]:
    """Cycles, reversals, block permutations and even permutations that transpositions do not already generate."""
    every = tuple(range(n))
    number = {slot: k for k, component in enumerate(components) for slot in component}
    if len(components) == 1:
        return

    def new(order: Order) -> bool:
        return any(number[order[i]] != number[i] for i in every)

    found: list[tuple[Order, str]] = []
    for step in (d for d in range(1, n) if n % d == 0):
        found.append((every[step:] + every[:step], "cyclic shift of slots"))
    found.append((every[::-1], "reversal of slots"))
    for size in (d for d in range(2, n) if n % d == 0):
        blocks = [every[start : start + size] for start in range(0, n, size)]
        strided = [every[start :: n // size] for start in range(n // size)]
        for parts in (blocks, strided):
            found += [
                (_exchanged(n, parts[0], part), "exchange of blocks of slots") for part in parts[1:]
            ]
    for one, other in itertools.combinations(components, 2):
        if len(one) == len(other) > 1:
            found.append((_exchanged(n, one, other), "exchange of blocks of slots"))
    triples = (
        itertools.combinations(every, 3)
        if n <= FEW_SLOTS
        else zip(every, every[1:], every[2:], strict=False)
    )
    for i, j, k in triples:
        order = list(every)
        order[i], order[j], order[k] = j, k, i
        found.append((tuple(order), "cycle of three slots"))
    if n <= FEW_SLOTS:
        for (i, j), (k, m) in itertools.combinations(itertools.combinations(every, 2), 2):
            if len({i, j, k, m}) == 4:
                order = list(_swap(n, i, j))
                order[k], order[m] = m, k
                found.append((tuple(order), "two swaps of slots"))
    yield from (one for one in found if new(one[0]) and one[0] != every)


def _exchanged(n: int, one: Sequence[int], other: Sequence[int]) -> Order:
    """The permutation that exchanges two blocks of equal size."""
    order = list(range(n))
    for i, j in zip(one, other, strict=True):
        order[i], order[j] = j, i
    return tuple(order)
