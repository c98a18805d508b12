"""Answers of two models, motion by motion."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.bootstrap import student_quantile
from liegg.discovery.about.ask import ask
from liegg.discovery.about.first_order import unit_motions
from liegg.discovery.about.questions import About
from liegg.discovery.about.shares import mean_difference
from liegg.results.answer import Answer, FiniteChange, Share
from liegg.results.paired_answer import UNKNOWN_SHARE, Measure, PairedAnswer
from liegg.results.symmetries import Symmetries

SAME_BLOCKS = 1e-6
"""Relative difference up to which the motions of two blocks are those of the same samples."""


def pair_answers(
    a: Symmetries, b: Symmetries, about: About, names: tuple[str, str]
) -> tuple[PairedAnswer, ...]:
    """Compare the answers of two models.

    Args:
        a: the first result.
        b: the second.
        about: motions to compare, as for `Symmetries.about`; None for those that both have answered.
        names: names of the models.
    """
    if about is None:
        others = {answer.name: answer for answer in b.answers}
        pairs = [(one, others[one.name]) for one in a.answers if one.name in others]
    else:
        pairs = list(zip(ask(a, about), ask(b, about), strict=True))
    return tuple(_pair(a, b, one, other, names=names) for one, other in pairs)


def _pair(
    a: Symmetries, b: Symmetries, one: Answer, other: Answer, *, names: tuple[str, str]
) -> PairedAnswer:
    """One motion in both models."""
    ratio, paired_ratio = UNKNOWN_SHARE, False
    if one.inside and other.inside:
        ratio, paired_ratio = defect_ratio(a, b, one, other)
    elif min(one.defect - a.decision.floor, other.defect - b.decision.floor) > 0:
        ratio = ratio_of_intervals(one, other)
    measure: Measure = "output"
    difference, paired = UNKNOWN_SHARE, False
    one, other = _in_one_unit(one, other)
    mine, theirs = one.finite, other.finite
    if mine is not None and theirs is not None and _same_size(mine, theirs):
        paired = mine.samples == theirs.samples
        level = a.decision.thresholds.level
        each = (mine.each_change, theirs.each_change)
        if mine.each_changed is not None and theirs.each_changed is not None:
            each, measure = (mine.each_changed, theirs.each_changed), "predictions"
        if all(bool(one.isfinite().all()) for one in each):
            difference = mean_difference(*each, paired=paired, level=level)
    if math.isnan(difference.value):
        measure = "" if math.isnan(ratio.value) else "defect"
    return PairedAnswer(
        a=one,
        b=other,
        names=names,
        measure=measure,
        difference=difference,
        paired=paired,
        ratio=ratio,
        paired_ratio=paired_ratio,
    )


def _in_one_unit(one: Answer, other: Answer) -> tuple[Answer, Answer]:
    """Both answers about predictions, or both about the output if one is surely not about predictions."""
    if has_predictions(one) == has_predictions(other):
        return one, other
    if may_have_predictions(one) and may_have_predictions(other):
        return _as_predictions(one), _as_predictions(other)
    return _of_the_output(one), _of_the_output(other)


def has_predictions(answer: Answer) -> bool:
    """Whether an answer counts changed predictions."""
    return answer.finite is not None and answer.finite.share is not None


def may_have_predictions(answer: Answer) -> bool:
    """Whether an answer counts changed predictions, or what would be changed predictions."""
    finite = answer.finite
    return finite is not None and (finite.share is not None or finite.largest is not None)


def _as_predictions(answer: Answer) -> Answer:
    """The answer with the largest output as the prediction."""
    if answer.finite is None or answer.finite.largest is None:
        return answer
    largest = answer.finite.largest
    found = {"share": largest.share, "random_share": largest.random, "each_changed": largest.each}
    return replace(answer, finite=replace(answer.finite, largest=None, **found))


def _of_the_output(answer: Answer) -> Answer:
    """The answer without its predictions."""
    if answer.finite is None:
        return answer
    none = {"changed": None, "random_changed": None, "each_changed": None, "predictions": None}
    return replace(answer, finite=replace(answer.finite, share=None, random_share=None, **none))


def _same_size(one: FiniteChange, other: FiniteChange) -> bool:
    """Whether two answers are about motions of the same reported size; means over a turn are if they are over the same angles."""
    if one.whole_turn or other.whole_turn:
        return one.whole_turn == other.whole_turn and torch.equal(one.sizes, other.sizes)
    return one.unit == other.unit and math.isclose(one.sizes[-1], other.sizes[-1], rel_tol=1e-3)


def sizes_that_differ(
    answers: Sequence[PairedAnswer], names: tuple[str, str]
) -> tuple[Remark, ...]:
    """Say that motions were not tried by the same sizes in both models."""
    motions = [
        pair.name
        for pair in answers
        for one, other in [(pair.a.finite, pair.b.finite)]
        if one is not None and other is not None and not _same_size(one, other)
    ]
    if not motions:
        return ()
    values = {"motions": ", ".join(motions), "count": len(motions)}
    return (Diagnosis.SIZES_DIFFER(**values, first=names[0], second=names[1]),)


def defect_ratio(a: Symmetries, b: Symmetries, one: Answer, other: Answer) -> tuple[Share, bool]:
    """Defect in the second result over that in the first, with its interval.

    Blocks of samples are chosen by content, so that two passes over the same data have the same
    blocks. What each block adds to the logarithms of both defects is then subtracted before its
    scatter is taken.

    Args:
        a: the first result.
        b: the second.
        one: the answer of the first.
        other: that of the second, about the same motion.

    Returns:
        The ratio, NaN if a defect is at the floor or there are no intervals; and whether the passes
        read the same blocks.
    """
    known = one.defect > a.decision.floor and other.defect > b.decision.floor
    if not known or a.accumulated.blocks is None or b.accumulated.blocks is None:
        return UNKNOWN_SHARE, False
    blocks = a.accumulated.blocks, b.accumulated.blocks
    parts = [_influences(sym, answer) for sym, answer in ((a, one), (b, other))]
    middle = math.log(other.defect / one.defect)
    paired = _same_blocks(*blocks)
    scatter = [parts[1] - parts[0]] if paired else parts
    variance = sum(float(part.var()) * len(part) for part in scatter)
    freedom = min(block.freedom for block in blocks)
    half = student_quantile(a.decision.thresholds.level, freedom) * math.sqrt(variance)
    return Share(math.exp(middle), math.exp(middle - half), math.exp(middle + half)), paired


def ratio_of_intervals(one: Answer, other: Answer) -> Share:
    """Defect in the second result over that in the first, from the interval of each, as if of other samples.

    For motions outside the candidates, of which the blocks hold nothing. On the same samples both defects err in the same sense, so
    that the interval is wide enough.
    """
    if any(map(math.isnan, (*one.interval, *other.interval))):
        return UNKNOWN_SHARE
    a, b = (
        [math.log(end / answer.defect) if end > 0 else -math.inf for end in answer.interval]
        for answer in (one, other)
    )
    middle = math.log(other.defect / one.defect)
    low, high = middle - math.hypot(a[1], b[0]), middle + math.hypot(a[0], b[1])
    return Share(math.exp(middle), math.exp(low), math.exp(high))


def _influences(sym: Symmetries, answer: Answer) -> Float[Tensor, " p"]:
    """What each block adds to the logarithm of the defect, to first order."""
    blocks, sensitivity = sym.accumulated.blocks, sym.accumulated.solution.sensitivity
    if blocks is None:
        return torch.zeros(0, dtype=torch.float64)
    basis = unit_motions(sym, answer.coefficients)
    change = blocks.change(basis, slice(0))[0].sum(1)
    motion = blocks.motion(basis).sum(1)
    count = blocks.samples.sum()
    mean = blocks.total / count / sensitivity - blocks.samples / count
    return change / change.sum() - motion / motion.sum() - mean


def _same_blocks(one: BlockStatistics, other: BlockStatistics) -> bool:
    """Whether two passes read the same samples into the same blocks."""
    return (
        one.motions.shape == other.motions.shape
        and torch.equal(one.samples, other.samples)
        and bool(
            (one.motions - other.motions).abs().amax() <= SAME_BLOCKS * one.motions.abs().amax()
        )
    )
