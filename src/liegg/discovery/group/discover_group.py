"""The verb: a model and data in, finite symmetries beyond the continuous ones out."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.threads import threads
from liegg.actions import Action
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.decision.thresholds import Thresholds
from liegg.discovery.discover import discover
from liegg.discovery.group.assemble import assemble
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.determined import determined, remark
from liegg.discovery.group.effects import largest_effect
from liegg.discovery.group.grids import (
    assemble_shifts,
    interpolation_loss,
    rotations,
    search_grid,
    search_shifts,
)
from liegg.discovery.group.infinite import add_infinite
from liegg.discovery.group.judge import BESIDE_EXACT, Findings
from liegg.discovery.group.local import finite_effect
from liegg.discovery.group.matrices import search_matrices
from liegg.discovery.group.question import check_spaces, has_generators, is_question, read
from liegg.discovery.group.record import record
from liegg.discovery.group.setting import RANDOM_STARTS, Setting
from liegg.discovery.group.slots import assemble_slots, search_slots, swap
from liegg.discovery.inner import Asked
from liegg.discovery.measurements import model_threads
from liegg.discovery.run import Run
from liegg.discovery.structured import Moves
from liegg.discovery.verification.evaluating import evaluating
from liegg.discovery.verification.measure import CONSTANT
from liegg.inputs.batches import Data
from liegg.inputs.output_field import Field
from liegg.inputs.part import asked_part
from liegg.inputs.target import Target
from liegg.inputs.task import split_task
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.symmetries import Symmetries

MOST_STARTS = 10_000
"""Most random starts."""

FEW_MIXED = 6
"""Elements of each of two spaces, left out of the group, that are tried together."""

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
    action: Moves,
    *,
    continuous: Symmetries | None = None,
    output_action: Action | None = None,
    target: Target = None,
    output: Field = None,
    call: Callable[..., Any] | None = None,
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
            `liegg.actions.Slots(axis=0)` only permutes slots, `liegg.Product` combines them. With `noun="atom"` the slots are called
            atoms. For structured samples as for `liegg.discover`: `{"pos": liegg.Affine(3)}` moves the positions of a graph, and
            permutes them while all else stays, if all samples have as many.
        continuous: a result of `liegg.discover` for the same action; by default it is computed.
        output_action: action on the outputs; the question is then equivariance, $F(hx) = k F(x)$, with $k$ by least squares.
        target: as for `liegg.discover`.
        output: as for `liegg.discover`.
        call: as for `liegg.discover`.
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
        >>> import liegg, torch
        >>> x = torch.randn(400, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> found = discover_group(lambda x: x.abs().sum(1), x, liegg.Linear(2))
        >>> found.order, found.name
        (8, 'D₄')
    """
    run, thresholds = run or Run(), thresholds or Thresholds()
    if not 0 <= starts <= MOST_STARTS:
        raise ArgumentError(
            f"starts={starts}: expected a number from 0 to {MOST_STARTS}, for example starts={RANDOM_STARTS}."
        )
    task, named = split_task(target)
    part = asked_part(output, named, equivariance=output_action is not None)
    if continuous is not None and not is_question(continuous.action, action):
        raise ArgumentError(
            f"continuous is a result for {continuous.action!r}; expected one for {action!r}. Leave it out, or pass the action of "
            "that result."
        )
    if continuous is None and has_generators(action):
        continuous = discover(
            model,
            data,
            action,
            output_action=output_action,
            target=target,
            output=output,
            call=call,
            about=(),
            thresholds=thresholds,
            run=run,
        )
    if continuous is not None:
        action = continuous.action  # placed at the leaves of structured samples
    asked = Asked(model, data, action, call)
    with evaluating(asked, None, seed=run.seed) as (function, inputs):
        searched, judged = read(
            function,
            inputs,
            held_out,
            part=part,
            output_action=output_action,
            classes=None if task == "auto" else task == "classes",
        )
        setting = Setting(searched, judged, continuous, thresholds, run.seed, starts)
        check_spaces(setting)
        with threads(model_threads(searched.model, searched.x)):
            return _search(setting)


def _search(setting: Setting) -> GroupSymmetries:
    """Search every space, close what was found, and record it.

    An exact element is first looked for beside the exact directions alone: a continuous part that holds only nearly contains
    elements near any exact one, and would take its place. Only if nothing is exact, all directions are divided out.
    """
    findings = Findings(replace(setting, exact_only=True))
    question = setting.held_out
    constant = (CONSTANT * question.eps) ** 2 * question.output_square
    if min(question.variance, setting.search.variance) <= constant:
        findings.notes.append(Diagnosis.CONSTANT_HELD_OUT_OUTPUT())
        return record(findings)
    findings.setting = exact = determined(findings.setting)
    setting = determined(setting)
    effect = finite_effect(exact)
    if effect:
        setting = replace(setting, local=True)
        findings.setting = exact = replace(exact, local=True)
        findings.notes.append(Diagnosis.GROUP_LOCAL(effect=effect))
    if note := remark(exact if exact.directions else setting):
        findings.notes.append(note)
    slots = [space for space in setting.spaces if isinstance(space, SlotSpace)]
    structure = setting.action.structure
    if structure is not None and structure.moves_ragged:
        findings.notes.append(Diagnosis.GROUP_RAGGED_SLOTS())
    for space in setting.spaces:
        if isinstance(space, GridSpace):
            search_grid(space, findings)
        elif isinstance(space, ShiftSpace):
            search_shifts(space, findings)
        elif isinstance(space, SlotSpace):
            search_slots(space, findings)
    findings = _with_matrices(setting, findings)
    assemble_shifts(findings)
    for space in slots:
        assemble_slots(space, findings)
    assemble(findings)
    add_infinite(findings)
    _add_pairs(findings)
    loss = interpolation_loss(setting)
    if loss > largest_effect(setting.thresholds.strong, setting.thresholds):
        findings.notes.append(Diagnosis.GROUP_INTERPOLATION(loss=loss))
    return record(findings, rotations(setting))


def _with_matrices(setting: Setting, findings: Findings) -> Findings:
    """What matrices add: beside the exact directions or, if nothing is exact, beside all of them."""
    spaces = [space for space in setting.spaces if isinstance(space, VectorSpace)]

    def searched(asked: Setting) -> Findings:
        """The findings with those of all spaces of vectors."""
        own = replace(
            findings,
            setting=asked,
            accepted=list(findings.accepted),
            rejected=list(findings.rejected),
            tried=dict(findings.tried),
            notes=list(findings.notes),
        )
        for space in spaces:
            search_matrices(space, own)
        return own

    beside_exact = searched(findings.setting)
    if beside_exact.anything_exact or not setting.inexact:
        return beside_exact
    return searched(setting)


def _add_pairs(findings: Findings) -> None:
    """Try pairs of elements of two spaces that are left out of the group.

    A mirror image with two slots exchanged may be a symmetry, and neither of them alone.
    """
    # Shifts do not commute with the grid.
    spaces = [space for space in findings.setting.spaces if not isinstance(space, ShiftSpace)]
    refuted = {space.kind: _left_out(space, findings)[:FEW_MIXED] for space in spaces}
    candidates = [
        Candidate(((one, h), (other, k)), "pair of refuted elements")
        for one, other in itertools.combinations(spaces, 2)
        for h, k in itertools.product(refuted[one.kind], refuted[other.kind])
    ]
    findings.count("pairs of elements", len(candidates))
    exact = findings.anything_exact
    findings.pairs = [
        one
        for one in findings.judge(candidates)
        if one.counted and (one.grade == "exact" or not exact)
    ]
    for one in findings.pairs[:MOST_MIXED]:
        findings.notes.append(Diagnosis.GROUP_MIXED(words=one.words, effect=one.effect))


def _left_out(space: Space, findings: Findings) -> list[Tensor]:
    """Matrices of elements of one space that are left out of the group; those of the search last, since they may be products."""
    if isinstance(space, SlotSpace) and findings.slots is not None:
        swaps = [swap(space.side, i, i + 1) for i in range(min(FEW_MIXED, space.side - 1))]
        return [space.matrix(order) for order in swaps if order not in findings.slots]
    left = sorted(findings.rejected, key=lambda one: (one.source == "search", one.effect))
    return [
        one.matrix
        for one in left
        if one.kinds == (space.kind,) and one.reason in ("", BESIDE_EXACT)
    ]
