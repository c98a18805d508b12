"""The assembly of a search: every space in turn, one judge, one group, one record."""

import itertools

from liegg._utils.diagnoses import Diagnosis
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.assemble import assemble
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.findings import Findings
from liegg.discovery.group.grids import rotations, search_grid, search_shifts
from liegg.discovery.group.matrices import search_matrices
from liegg.discovery.group.record import record
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.slots import search_slots
from liegg.discovery.verification.measure import CONSTANT
from liegg.results.group_symmetries import GroupSymmetries

FEW_MIXED = 4
"""Refuted elements of each of two spaces that are tried together."""

MOST_MIXED = 2
"""Pairs that are noted."""


def search(setting: Setting) -> GroupSymmetries:
    """Search every space, close what was found, and record it."""
    findings = Findings(setting)
    question = setting.held_out
    constant = (CONSTANT * question.eps) ** 2 * question.output_square
    if min(question.variance, setting.search.variance) <= constant:
        findings.notes.append(Diagnosis.CONSTANT_HELD_OUT_OUTPUT())
        return record(findings)
    for space in setting.spaces:
        if isinstance(space, VectorSpace):
            search_matrices(space, findings)
        elif isinstance(space, GridSpace):
            search_grid(space, findings)
        elif isinstance(space, ShiftSpace):
            search_shifts(space, findings)
        elif isinstance(space, SlotSpace):
            search_slots(space, findings)
    _note_mixed(findings)
    assemble(findings)
    return record(findings, rotations(setting))


def _note_mixed(findings: Findings) -> None:
    """Try pairs of refuted elements of two spaces: a mirror image with two slots exchanged may be a symmetry though neither is.

    A pair that counts is a note; it is not part of the group.
    """
    spaces = {space.kind: space for space in findings.setting.spaces}
    refuted = {
        kind: [
            one for one in findings.rejected if one.kinds == (kind,) and one.grade != "not testable"
        ][:FEW_MIXED]
        for kind in spaces
        if kind != "shifts"  # shifts do not commute with the grid
    }
    candidates = [
        Candidate(
            tuple((spaces[one.kinds[0]], one.matrix) for one in pair), "pair of refuted elements"
        )
        for kinds in itertools.combinations(refuted, 2)
        for pair in itertools.product(*(refuted[kind] for kind in kinds))
        if not any(one.reason for one in pair)
    ]
    findings.count("pairs of elements", len(candidates))
    counted = [one for one in findings.judge(candidates) if one.counted]
    for one in counted[:MOST_MIXED]:
        findings.notes.append(Diagnosis.GROUP_MIXED(words=one.words, effect=one.effect))
