"""The answers of one model to the questions about named motions."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.checks import checksum
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import one_line
from liegg.actions import Motion
from liegg.discovery.about.finite import Followed, evaluations, finite_change, follow, times_shown
from liegg.discovery.about.first_order import (
    NOT_MEASURED,
    FirstOrder,
    from_small_motions,
    from_the_analysis,
)
from liegg.discovery.about.random_motions import DIRECTIONS, LEVELS, random_motions
from liegg.discovery.verification.measure import CONSTANT, Question, summed
from liegg.discovery.verification.meter import Meter
from liegg.inputs.model import Model
from liegg.results.answer import Answer, FiniteChange
from liegg.results.answers import Answers
from liegg.results.run_folder import STORED_SAMPLES
from liegg.results.symmetries import Symmetries

SAMPLES, FEWEST_SAMPLES = 256, 16
"""Most samples that are moved, and the fewest."""

SHARE = 0.05
"""Share of the evaluations of the analysis that the standard questions may take."""

SHOWN = STORED_SAMPLES
"""First samples whose predictions are stored: those that the report shows."""


def samples_to_move(sym: Symmetries, motions: dict[str, Motion], *, standard: bool) -> int:
    """How many samples are moved: 256 for questions that were asked, fewer for the standard ones.

    The standard questions may take a share of the model's evaluations in the analysis, a derivative
    counted as two.

    Args:
        sym: the analysis.
        motions: what is asked.
        standard: whether that is the standard set of the action.
    """
    if not standard:
        return SAMPLES
    rows = sym.accumulated.rows.rows / max(1, sym.samples)
    each = sym.action.row_action.size if sym.settings["route"] == "jvp" else rows
    moved = sum(map(evaluations, motions.values())) + DIRECTIONS * LEVELS
    shown = SHOWN * sum(map(times_shown, motions.values()))
    affordable = (SHARE * sym.samples * (1 + 2 * each) - shown) / moved
    return int(min(SAMPLES, max(FEWEST_SAMPLES, affordable)))


def first_order_answers(
    sym: Symmetries, motions: dict[str, Motion], question: Question | None = None
) -> dict[str, Answer]:
    """The answers as far as derivatives give them.

    Args:
        sym: the analysis.
        motions: what is asked.
        question: model and samples, for motions outside the candidates; None without a model.
    """
    answers = {}
    for name, motion in motions.items():
        found: FirstOrder = NOT_MEASURED
        if motion.action is None:
            found = from_the_analysis(sym, motion.generators)
        elif question is not None:
            found = from_small_motions(sym, _about(question, motion), motion)
        answers[name] = Answer(
            name=name,
            coefficients=motion.generators,
            inside=motion.action is None,
            equivariance=sym.output_action is not None,
            of_data=sym.distribution is not None,
            **found._asdict(),
        )
    return answers


def answer_all(
    model: Model,
    x: Float[Tensor, "n ..."],
    shown: Float[Tensor, "s ..."],
    sym: Symmetries,
    motions: dict[str, Motion],
    *,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Answers, tuple[Remark, ...]]:
    """Answer every question; what cannot be measured is left out, and a note says why.

    Args:
        model: the probed model.
        x: samples that are moved.
        shown: samples whose predictions are stored.
        sym: the analysis.
        motions: what is asked.
        progress: called with the number of evaluations and how many are expected.
    """
    if sym.output_action is not None:
        motions = {name: motion for name, motion in motions.items() if motion.action is None}
    if not motions:
        return Answers(), ()
    if sym.settings["outputs"] == "sum":  # the analysis was about the sum
        model = summed(model)
    expected = len(x) * (
        sum(map(evaluations, motions.values())) + DIRECTIONS * LEVELS + 2 * len(motions)
    )
    meter = Meter(progress, total=expected)
    question = Question(model, sym.action, sym.output_action, x, meter)
    try:
        answers = first_order_answers(sym, motions, question)
        finite = _finite(question, replace(question, x=shown), sym, motions)
    except Exception as error:  # whatever a model does to moved samples must not lose the analysis
        note = Diagnosis.MOTIONS_NOT_TRIED(error=one_line(error))
        try:
            return Answers(first_order_answers(sym, motions).values()), (note,)
        except RuntimeError:  # not even the sums tell, such as those that overflow
            return Answers(), (note,)
    meter.finish()
    return Answers(replace(one, finite=finite.get(name)) for name, one in answers.items()), ()


def _finite(
    question: Question, shown: Question, sym: Symmetries, motions: dict[str, Motion]
) -> dict[str, FiniteChange]:
    """What finite motions change, for those that move the samples; none if the output is constant."""
    rounding = (CONSTANT * question.eps) ** 2 * question.output_square
    if len(question.x) < 2 or question.variance <= rounding or question.spread <= 0:
        return {}
    followed: dict[str, Followed] = {}
    for name, motion in motions.items():
        partners = None
        if sym.output_action is not None:
            partners = sym.accumulated.partners(motion.generators)
        found = follow(_about(question, motion), motion, partners)
        if found is not None and bool(found.displacement.isfinite().all()):
            followed[name] = found
    if not followed:
        return {}
    displacements = torch.cat([found.displacement for found in followed.values()])
    random = random_motions(question, sym, displacements)
    level, samples = sym.decision.thresholds.level, checksum(question.x)
    return {
        name: finite_change(
            found,
            random,
            _about(shown, motions[name]) if len(shown.x) else None,
            samples=samples,
            level=level,
        )
        for name, found in followed.items()
    }


def _about(question: Question, motion: Motion) -> Question:
    """The question with the action of a motion; f(x) is not evaluated again."""
    one = replace(question, action=motion.action or question.action)
    one.__dict__["complete"] = question.complete
    return one


def with_untrained(answers: Answers, found: list[dict[str, Answer]]) -> Answers:
    """Answers beside those of re-initialised models.

    Args:
        answers: of the model.
        found: of every re-initialised model, by name.
    """
    return Answers(
        replace(
            answer,
            untrained=tuple(one[answer.name].defect for one in found if answer.name in one),
            untrained_changed=_mean_share(
                [one[answer.name] for one in found if answer.name in one]
            ),
        )
        for answer in answers
    )


def _mean_share(answers: list[Answer]) -> float | None:
    """Mean share of changed predictions, over the models in which it was measured."""
    shares = [one.finite.share.value for one in answers if one.finite and one.finite.share]
    return math.fsum(shares) / len(shares) if shares else None
