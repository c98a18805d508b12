"""The verb: a model and data in, finite symmetries beyond the continuous ones out."""

import itertools
from typing import Any

import torch

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.vectors import VectorSpace
from liegg.decision.thresholds import Thresholds
from liegg.discovery.discover import discover
from liegg.discovery.group.assemble import assemble
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.grids import rotations, search_grid, search_shifts
from liegg.discovery.group.judge import Findings
from liegg.discovery.group.matrices import search_matrices
from liegg.discovery.group.record import record
from liegg.discovery.group.setting import RANDOM_STARTS, Setting, read
from liegg.discovery.group.slots import search_slots
from liegg.discovery.run import Run
from liegg.discovery.verification.measure import CONSTANT
from liegg.inputs.batches import Data
from liegg.inputs.model import eval_view
from liegg.inputs.output_field import Field
from liegg.inputs.part import asked_part
from liegg.inputs.target import Target
from liegg.inputs.task import split_task
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.symmetries import Symmetries

MOST_STARTS = 10_000
"""Most random starts."""

FEW_MIXED = 4
"""Refuted elements of each of two spaces that are tried together."""

MOST_MIXED = 2
"""Pairs that are noted."""

ADVICE = {
    "samples": "Up to 384 samples are searched on and as many judged on; pass fewer for less.",
    "group": "The action says what may move; the group is found.",
    "controls": "Random maps of equal displacement are always compared.",
}
"""Keywords that one may expect, and what to do instead."""


@checked(ADVICE)
@one_at_a_time
def discover_group(
    model: Any,
    data: Data,
    action: Action,
    *,
    continuous: Symmetries | None = None,
    output_action: Action | None = None,
    target: Target = None,
    output: Field = None,
    held_out: Data | None = None,
    starts: int = RANDOM_STARTS,
    thresholds: Thresholds | None = None,
    run: Run | None = None,
) -> GroupSymmetries:
    r"""Find the finite elements under which a model's output does not change: reflections, permutations, finite rotations.

    An infinitesimal method cannot tell O(3) from SO(3). Here $F(hx) = F(x)$ is solved for matrices $h$ by Levenberg–Marquardt from
    structured and random starts, grids are flipped and transposed exactly, and slots are permuted; each element is then judged
    on held-out samples, and the elements are closed under multiplication modulo the continuous symmetries.

    Args:
        model: as for `liegg.discover`.
        data: as for `liegg.discover`; at least 16 samples, or 8 with `held_out`.
        action: what may move: `liegg.Linear(3, copies=5)` also permutes its vectors, `liegg.Image()` flips and transposes the grid,
            `liegg.actions.Slots(axis=0)` only permutes slots, `liegg.Product` combines them.
        continuous: a result of `liegg.discover` for the same action; by default it is computed.
        output_action: action on the outputs; the question is then equivariance, $F(hx) = k F(x)$, with $k$ by least squares.
        target: as for `liegg.discover`.
        output: as for `liegg.discover`.
        held_out: samples on which elements are judged; by default every second sample of the data.
        starts: random starts of a search over matrices; 0 tries structured elements alone, for models that take long.
        thresholds: what counts as a symmetry; see `liegg.Thresholds`.
        run: seed of random starts and controls, and how `liegg.discover` runs where `continuous` is not given.

    Returns:
        The elements with their evidence, the component group, and the name of the complete group.

    Raises:
        LieggError: bad data, a model that is not a function of one sample, an action without finite elements, or arguments that make
            no sense.

    Examples:
        >>> import liegg
        >>> x = torch.randn(400, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> found = discover_group(lambda x: x.abs().sum(1), x, liegg.Linear(2))
        >>> found.order, found.name
        (8, 'D₄')
    """
    run = run or Run()
    if not 0 <= starts <= MOST_STARTS:
        raise ArgumentError(
            f"starts={starts}: expected a number from 0 to {MOST_STARTS}, for example starts={RANDOM_STARTS}."
        )
    thresholds = thresholds or Thresholds()
    part = asked_part(output, split_task(target)[1], equivariance=output_action is not None)
    if continuous is not None and not continuous.action.same_motions(action):
        raise ArgumentError(
            f"continuous is a result for {continuous.action!r}; expected one for {action!r}. Leave it out, or pass the action of "
            "that result."
        )
    if continuous is None and action.size:
        continuous = discover(
            model,
            data,
            action,
            output_action=output_action,
            target=target,
            output=output,
            about=(),
            thresholds=thresholds,
            run=run,
        )
    with (
        seeded(run.seed),
        torch.inference_mode(False),
        torch.no_grad(),
        eval_view(model) as function,
    ):
        searched, judged = read(
            function, data, held_out, part=part, action=action, output_action=output_action
        )
        setting = Setting(
            searched,
            judged,
            () if output_action is None else output_action.spaces(searched.model.output_shape),
            continuous,
            thresholds,
            run.seed,
            starts,
        )
        if not setting.spaces:
            raise ArgumentError(
                f"{action!r} has no finite elements; expected vectors, a grid, channels or slots, for example liegg.Linear(3) or "
                "liegg.actions.Slots()."
            )
        return _search(setting)


def _search(setting: Setting) -> GroupSymmetries:
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
