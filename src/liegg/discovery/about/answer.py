"""The answers of one model to the questions about named motions."""

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.checks import checksum
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import one_line
from liegg.actions import Motion
from liegg.discovery.about.effort import MOST_MOVED, Effort, Moves
from liegg.discovery.about.finite import Followed, Shown, finite_change, follow
from liegg.discovery.about.first_order import NOT_MEASURED, from_small_motions, from_the_analysis
from liegg.discovery.about.random_motions import random_motions
from liegg.discovery.verification.measure import CONSTANT, Meter, Question, summed
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model
from liegg.inputs.target import target_words
from liegg.inputs.task import SIGNALS, Reading, Task, labels_in, read_outputs
from liegg.results.answer import Answer, FiniteChange
from liegg.results.answers import Answers
from liegg.results.run_folder import STORED_SAMPLES
from liegg.results.symmetries import Symmetries

READ_SAMPLES = 32
"""Samples whose outputs show what they are."""


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
    others = {name: motion for name, motion in motions.items() if motion.action is not None}
    small = {} if question is None else from_small_motions(sym, question, others)
    for name, motion in motions.items():
        found = small.get(name, NOT_MEASURED)
        if motion.action is None:
            found = from_the_analysis(sym, motion.generators)
        answers[name] = Answer(
            name=name,
            coefficients=motion.generators,
            inside=motion.action is None,
            equivariance=sym.output_action is not None,
            of_data=sym.distribution is not None,
            part=target_words(sym.settings.get("target")),
            **found._asdict(),
        )
    return answers


class Asked(NamedTuple):
    """What is asked of a model.

    Attributes:
        motions: the motions in question, by name.
        moves: which of them are tried at finite size, and how often.
        task: what several outputs are.
        data: the user's data, whose labels may say what the outputs are.
    """

    motions: dict[str, Motion]
    moves: Moves
    task: Task = "auto"
    data: Any = None


class Found(NamedTuple):
    """What was found.

    Attributes:
        answers: one per motion.
        task: what several outputs were taken for; `"auto"` if that was not found out.
        notes: what could not be measured, and how outputs were read.
    """

    answers: Answers
    task: Task
    notes: tuple[Remark, ...]


def answer_all(
    model: Model,
    x: Float[Tensor, "n ..."],
    first: Float[Tensor, "s ..."],
    sym: Symmetries,
    *,
    asked: Asked,
    progress: Callable[[int, int], object] | None = None,
) -> Found:
    """Answer every question; what cannot be measured is left out, and a note says why.

    Args:
        model: the probed model.
        x: samples that are moved.
        first: the first batch; predictions of its first samples are stored.
        sym: the analysis.
        asked: what is asked.
        progress: called with the number of evaluations and how many are expected.
    """
    motions, effort = asked.motions, asked.moves.effort
    if sym.output_action is not None:
        motions = {name: motion for name, motion in motions.items() if motion.action is None}
    if not motions:
        return Found(Answers(), asked.task, ())
    if sym.settings["outputs"] == "sum":  # the analysis was about the sum
        model = summed(model)
    tried = {name: motions[name] for name in asked.moves.names if name in motions}
    each = sum(map(effort.evaluations, tried.values())) + effort.directions * effort.levels
    meter = Meter(progress, total=len(x) * (each + 2 * len(motions)))
    question = Question(model, sym.action, sym.output_action, x, meter)
    try:
        reading = _reading(question, first, asked) if tried else None
        if reading is not None:
            question = question.changed(
                question.complete, classes=reading.classes or reading.undecided
            )
        answers = first_order_answers(sym, motions, question)
        shown = _shown(question, first[:STORED_SAMPLES])
        undecided = reading is not None and reading.undecided
        beside = undecided or sym.settings.get("target") is not None
        finite = _finite(question, shown, sym, tried, effort=effort, beside=beside)
    except Exception as error:  # whatever a model does to moved samples must not lose the analysis
        note = Diagnosis.MOTIONS_NOT_TRIED(error=one_line(error))
        try:
            answers = Answers(first_order_answers(sym, motions).values())
        except RuntimeError:  # not even the sums tell, such as those that overflow
            answers = Answers()
        return Found(answers, asked.task, (note,))
    meter.finish()
    left = [name for name in motions if name not in tried]
    notes = () if reading is None or reading.note is None else (reading.note,)
    if left:
        untried = Diagnosis.MOTIONS_BY_DERIVATIVES(
            motions=", ".join(left), count=len(left), samples=sym.samples, most=MOST_MOVED
        )
        notes = (*notes, untried)
    return Found(
        Answers(replace(one, finite=finite.get(name)) for name, one in answers.items()),
        asked.task if reading is None else reading.task,
        notes,
    )


def _reading(question: Question, first: Float[Tensor, "s ..."], asked: Asked) -> Reading:
    """What several outputs are, from the moved samples or, if these are few, from the first batch."""
    if question.output_action is not None:
        return Reading(classes=False)
    complete = question.complete
    if asked.task == "auto" and len(complete) < READ_SAMPLES <= len(first):
        complete = question.reply(first[evenly_spaced(first, READ_SAMPLES)])
    labels = labels_in(asked.data, complete.shape[1])
    return read_outputs(
        question.model,
        complete,
        task=asked.task,
        labels=labels,
        signals=question.action.stage in SIGNALS,
    )


def _finite(
    question: Question,
    shown: Shown,
    sym: Symmetries,
    motions: dict[str, Motion],
    *,
    effort: Effort,
    beside: bool,
) -> dict[str, FiniteChange]:
    """What finite motions change, for those that move the samples; none if the output is constant."""
    if not motions:
        return {}
    rounding = (CONSTANT * question.eps) ** 2 * question.output_square
    if len(question.x) < 2 or question.variance <= rounding or question.spread <= 0:
        return {}
    followed: dict[str, Followed] = {}
    for name, motion in motions.items():
        partners = sym.accumulated.partners(motion.generators) if motion.action is None else None
        about = question.changed(question.complete, action=motion.action or question.action)
        found = follow(about, motion, partners, effort)
        if found is not None and bool(found.displacement.isfinite().all()):
            followed[name] = found
    if not followed:
        return {}
    displacements = torch.cat([found.displacement for found in followed.values()])
    random = random_motions(question, sym, displacements, effort)
    level, samples = sym.decision.thresholds.level, checksum(question.x)
    return {
        name: finite_change(
            found,
            random,
            shown if len(shown.question.x) else None,
            samples=samples,
            level=level,
            beside=beside,
        )
        for name, found in followed.items()
    }


def _shown(question: Question, x: Float[Tensor, "s ..."]) -> Shown:
    """The samples whose predictions are stored; often the first of those that are moved."""
    moved = torch.equal(question.x[: len(x)], x)
    if moved:
        return Shown(question.changed(question.complete[: len(x)], x=x), moved)
    return Shown(replace(question, x=x), moved)


def with_untrained(answers: Answers, found: list[dict[str, Answer]]) -> Answers:
    """Answers beside those of re-initialised models.

    Args:
        answers: of the model.
        found: of every re-initialised model, by name.
    """
    beside = []
    for answer in answers:
        same = [one[answer.name] for one in found if answer.name in one]
        shares = [one.finite.share.value for one in same if one.finite and one.finite.share]
        beside.append(
            replace(
                answer,
                untrained=tuple(one.defect for one in same),
                untrained_changed=fmean(shares) if shares else None,
            )
        )
    return Answers(beside)
