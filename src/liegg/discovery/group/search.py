"""The assembly of a search: every space in turn, one judge, one group, one record."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.actions import Action
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.slots import SlotGroup, permutation_group
from liegg.discovery.group.algebra import algebra_on, uncertainty_of
from liegg.discovery.group.assemble import Assembled, Frame, assemble
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.grids import grid_candidates, rotations, search_shifts
from liegg.discovery.group.judge import judge
from liegg.discovery.group.matrices import search_matrices
from liegg.discovery.group.partner import with_partner
from liegg.discovery.group.random_maps import RandomMaps, random_maps
from liegg.discovery.group.record import record
from liegg.discovery.group.setting import Setting, rounding_floor
from liegg.discovery.group.slots import search_slots
from liegg.discovery.group.verdict import factor_words
from liegg.discovery.verification.measure import CONSTANT
from liegg.results.group_symmetries import GroupElement, GroupSymmetries
from liegg.results.symmetries import Symmetries

FEW_MIXED = 4
"""Refuted elements of each of two spaces that are tried together."""

MOST_MIXED = 2
"""Pairs that are noted."""

FEWEST_TESTS = 64
"""Number of elements for which intervals are corrected at least."""


@dataclass
class Tests:
    """Judges elements and counts them, so that intervals are corrected for how many compete.

    Attributes:
        setting: model and samples.
        action: the candidates of the continuous problem.
        floor: effect that rounding alone may cause.
        count: elements judged so far.
        random: what random maps of each kind of space change; measured when they are first needed.
    """

    setting: Setting
    action: Action
    floor: float
    count: int = 0
    random: dict[str, RandomMaps | None] = field(default_factory=dict)

    def __call__(self, candidates: Sequence[Candidate]) -> list[GroupElement]:
        """Judge elements, completed with what they do to the output."""
        self.count += len(candidates)
        completed = [one if one.outputs else with_partner(one, self.setting) for one in candidates]
        for one in completed:
            space = one.factors[0][0]
            if space.kind not in self.random:
                self.random[space.kind] = random_maps(self.setting, space, self.action)
        tests = max(FEWEST_TESTS, self.count)
        return judge(self.setting, self.random, completed, floor=self.floor, tests=tests)


@dataclass
class Findings:
    """What the spaces of a sample gave, before it becomes a record.

    Attributes:
        accepted: elements on vectors, channels and the grid that count.
        rejected: elements that were judged and do not.
        slots: generators on slots with their evidence.
        shifts: smallest circular shift along every axis of a grid.
        shift_orders: orders of the groups that they generate.
        tried: number of elements by where they come from.
        notes: remarks.
    """

    accepted: list[GroupElement] = field(default_factory=list)
    rejected: list[GroupElement] = field(default_factory=list)
    slots: list[GroupElement] = field(default_factory=list)
    shifts: list[int] = field(default_factory=list)
    shift_orders: list[int] = field(default_factory=list)
    tried: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = field(default_factory=list)

    def add(self, elements: Sequence[GroupElement]) -> None:
        """Sort elements by whether they count."""
        self.accepted += [element for element in elements if element.counted]
        self.rejected += [element for element in elements if not element.counted]

    def count(self, source: str, number: int) -> None:
        """Note how many elements were tried."""
        self.tried[source] = self.tried.get(source, 0) + number


def search(
    setting: Setting, spaces: Sequence[Space], action: Action, continuous: Symmetries | None
) -> GroupSymmetries:
    """Search every space, close what was found, and record it.

    Args:
        setting: model and samples.
        spaces: what elements act on.
        action: the candidates of the continuous problem.
        continuous: its answer; None where there are no candidates.
    """
    floor = rounding_floor(setting.held_out)
    findings = Findings()
    question = setting.held_out
    constant = (CONSTANT * question.eps) ** 2 * question.output_square
    if min(question.variance, setting.search.variance) <= constant:
        findings.notes.append(Diagnosis.CONSTANT_HELD_OUT_OUTPUT())
        return record(setting, findings, None, None, action, continuous, floor=floor, judged=0)
    tests = Tests(setting, action, floor)
    algebras: dict[int, Float[Tensor, "d n n"]] = {}
    slots: SlotGroup | None = None
    for space in spaces:
        if isinstance(space, VectorSpace):
            algebras[id(space)] = algebra_on(space, action, continuous)
            uncertainty = uncertainty_of(continuous)
            search_matrices(setting, space, algebras[id(space)], tests, findings, uncertainty)
        elif isinstance(space, GridSpace):
            candidates = grid_candidates(space)
            findings.count("elements of the grid", len(candidates))
            findings.add(tests(candidates))
        elif isinstance(space, ShiftSpace):
            steps, judged = search_shifts(space, tests)
            findings.shifts.append(steps)
            findings.shift_orders.append(space.side // steps if steps else 1)
            findings.count("circular shifts", len(judged))
            findings.rejected += [element for element in judged if not element.counted]
        elif isinstance(space, SlotSpace):
            own = search_slots(setting, space, tests)
            findings.slots += own.accepted
            findings.rejected += own.rejected
            findings.count("permutations of slots", own.tried)
            slots = permutation_group(own.generators, space.side)
    matrix_spaces = tuple(s for s in spaces if isinstance(s, VectorSpace | GridSpace))
    _add_mixed(spaces, findings, tests)
    algebra = side_by_side(matrix_spaces, algebras)
    uncertain = bool(len(algebra)) and uncertainty_of(continuous) > 0
    assembled = _assembled(setting, matrix_spaces, algebra, findings, tests, uncertain=uncertain)
    return record(
        setting,
        findings,
        assembled,
        slots,
        action,
        continuous,
        floor=floor,
        judged=tests.count,
        algebra=algebra,
        angles=rotations(setting, action),
    )


def _add_mixed(spaces: Sequence[Space], findings: Findings, tests: Tests) -> None:
    """Try pairs of refuted elements of two spaces: a mirror image with two slots exchanged may be a symmetry though neither is.

    A pair that counts is a note; it is not part of the group.
    """
    refuted = [
        [
            one
            for one in findings.rejected
            if one.kinds == (space.kind,) and one.grade != "not testable"
        ]
        for space in spaces
    ]
    by_kind = {space.kind: space for space in spaces}
    pairs = []
    for first, second in itertools.combinations(range(len(spaces)), 2):
        kinds = {spaces[first].kind, spaces[second].kind}
        if len(kinds) == 1 or "shifts" in kinds:  # shifts do not commute with the grid
            continue
        ones, others = refuted[first][:FEW_MIXED], refuted[second][:FEW_MIXED]
        pairs += [(one, other) for one in ones for other in others if not one.reason + other.reason]
    candidates = [
        Candidate(
            tuple((by_kind[one.kinds[0]], one.matrices[0]) for one in pair),
            "pair of refuted elements",
        )
        for pair in pairs
    ]
    findings.count("pairs of elements", len(candidates))
    counted = [one for one in tests(candidates) if one.counted]
    for one in counted[:MOST_MIXED]:
        words = " and ".join(
            factor_words(kind, matrix, by_kind[kind].coordinates)
            for kind, matrix in zip(one.kinds, one.matrices, strict=True)
        )
        findings.notes.append(Diagnosis.GROUP_MIXED(words=words, effect=one.effect))


def side_by_side(
    spaces: Sequence[Space], algebras: dict[int, Float[Tensor, "d n n"]]
) -> Float[Tensor, "d n n"]:
    """The generators on all spaces, as blocks of one matrix."""
    side = sum(space.side for space in spaces)
    found, start = [torch.zeros(0, side, side, dtype=torch.float64)], 0
    for space in spaces:
        own, inside = algebras.get(id(space)), slice(start, start + space.side)
        start += space.side
        if own is not None and len(own):
            padded = torch.zeros(len(own), side, side, dtype=torch.float64)
            padded[:, inside, inside] = own
            found.append(padded)
    return torch.cat(found)


def _assembled(
    setting: Setting,
    spaces: tuple[Space, ...],
    algebra: Float[Tensor, "d n n"],
    findings: Findings,
    tests: Tests,
    *,
    uncertain: bool,
) -> Assembled | None:
    """The group of the matrices on all spaces; None where no space has matrices."""
    if not spaces:
        return None
    first, alone = spaces[0], len(spaces) == 1
    frame = Frame(
        spaces,
        algebra,
        alone and isinstance(first, VectorSpace) and first.homogeneous,
        first.coordinates if alone else None,
        uncertain,
        lambda candidate: with_partner(candidate, setting),
    )
    assembled = assemble(frame, findings.accepted, tests)
    findings.rejected += assembled.excluded
    return replace(assembled, excluded=())
