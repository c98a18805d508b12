"""Functions of a sample that have the symmetries in question, and what `discover` finds of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.text import percent_digits
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.data.classes import Classes
from liegg.discovery.data.discriminator import keeping_the_reference, train_discriminator
from liegg.discovery.data.label import train_label, within_the_data
from liegg.discovery.data.support import Surface, fit_surface
from liegg.discovery.discover import discover
from liegg.discovery.run import Run
from liegg.results.symmetries import Symmetries

NO_EFFECT = 1e12
"""Threshold of the effect that nothing exceeds: a function may be constant on the data, so that an effect relative to its spread has
no meaning."""

HIDING = 2.0
"""Defect up to this many times that of a function's error may be this error: it then is undecided whether there is a symmetry."""

UNIT_MARGIN = 0.1
"""Threshold over the defect that different units alone make, at most."""

SURFACE_DEFECT, SURFACE_FACTOR = 1e-6, 3.0
"""Largest defect of a symmetry of a surface on which the data lies exactly; else its root is this many times the distance."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LevelFunction:
    """A function of samples that has the symmetries in question.

    Attributes:
        function: `[b, *x] -> [b, c]`.
        subject: what it is, in words.
        action: the candidates that it can see.
        facts: how well it fits, as JSON values.
        has_effects: whether its changes relative to its spread mean something.
        thresholds: what counts as a symmetry, unless the user says so.
        error: of the function, as another function; None if it is not known.
        warnings: what is wrong with it.
    """

    function: Callable[[Tensor], Tensor]
    subject: str
    action: Action
    facts: dict[str, Any]
    has_effects: bool = False
    thresholds: Thresholds = field(default_factory=Thresholds)
    error: Callable[[Tensor], Tensor] | None = None
    warnings: tuple[Remark, ...] = ()


def level_function(
    question: str, x: Float[Tensor, "b ..."], action: Action, *, classes: Classes, seed: int
) -> LevelFunction:
    """The function whose symmetries answer a question.

    Args:
        question: `"support"`, `"discriminator"` or `"label"`.
        x: all samples.
        action: the candidate generators.
        classes: class of every sample, for the label.
        seed: of splits and networks.
    """
    if question == "support":
        surface = fit_surface(x, seed=seed)
        return LevelFunction(
            function=surface,
            subject="the surface of the data",
            action=action,
            facts={"degree": surface.degree, "distances": surface.distances.tolist()},
            thresholds=_of_surface(surface),
            warnings=_about_thickness(surface),
        )
    if question == "label":
        networks = train_label(x, classes, seed=seed)
        kept = within_the_data(action, x)
        left_out = action.size - kept.size
        return LevelFunction(
            function=networks,
            subject="the label given the data",
            action=kept,
            warnings=(Diagnosis.DATA_LEFT_BY_MOTIONS(count=left_out),) if left_out else (),
            facts={"accuracy": networks.accuracy},
            has_effects=True,
            error=networks.difference,
        )
    discriminators = train_discriminator(x, seed=seed)
    return LevelFunction(
        function=discriminators,
        subject="the discriminator of the data",
        action=keeping_the_reference(action, x, seed=seed),
        facts={"told_apart": discriminators.accuracy},
        error=discriminators.difference,
    )


def discover_level(
    level: LevelFunction,
    x: Float[Tensor, "b ..."],
    *,
    question: str,
    thresholds: Thresholds | None,
    held_out: Float[Tensor, "m ..."] | None,
    run: Run,
) -> Symmetries:
    """The symmetries of the function, in words that are true of the data.

    Args:
        level: the function.
        x: all samples.
        question: what was asked.
        thresholds: what counts as a symmetry; None for what suits the function.
        held_out: samples that are moved along each symmetry.
        run: seed and groups.
    """
    chosen = thresholds or level.thresholds
    if not level.has_effects:
        chosen = replace(chosen, effect=NO_EFFECT)
    shared: dict[str, Any] = {"thresholds": chosen, "run": run, "about": (), "controls": "random"}
    sym = discover(level.function, x, level.action, held_out=held_out, **shared)
    _check_units(sym, question)
    settings = sym.settings | {"question": question} | level.facts
    decision = replace(sym.decision, warnings=(*sym.decision.warnings, *level.warnings))
    sym = replace(sym, model=level.subject, settings=settings, decision=decision)
    if level.error is None:
        return sym
    return _with_error(sym, discover(level.error, x, level.action, **shared))


def _check_units(sym: Symmetries, question: str) -> None:
    """Raise `ArgumentError` if units, or axes of different lengths, alone could make a symmetry.

    What moves a number that is larger by a factor r has a defect that is smaller by r².
    """
    of_columns = (
        "numbers of a sample",
        "Divide each by its size: data / data.square().mean(0).sqrt()",
    )
    of_axes = "principal axes of the data", "Subtract its mean, or make the axes equally long"
    kinds = {Diagnosis.MIXED_UNITS: of_columns, Diagnosis.MIXED_SIZES: of_axes}
    for warning in sym.decision.warnings:
        if warning.diagnosis not in kinds:
            continue
        what, remedy = kinds[warning.diagnosis]
        ratio = float(warning.values["ratio"])
        if ratio**2 * sym.decision.thresholds.threshold > UNIT_MARGIN:
            raise ArgumentError(
                f"the sizes of the {what} differ by a factor of {ratio:.0f}, so that question={question!r} cannot compare motions: those "
                f"along the longer ones look like symmetries. {remedy}."
            )


def _with_error(sym: Symmetries, error: Symmetries) -> Symmetries:
    """The result with a warning that says how far the error of the function changes along the nearest directions.

    Undecided if none is a symmetry and the error explains why not.
    """
    solution, total = sym.accumulated.solution, len(sym.accumulated.solution.values)
    if not total or not solution.sensitivity > 0:
        return sym
    tolerance = sym.decision.thresholds.trivial_tolerance
    along = error.accumulated.defect(solution.directions, trivial_tolerance=tolerance)
    squares = along * (error.accumulated.solution.sensitivity / solution.sensitivity)
    largest = float(squares[: max(sym.nullity, 1)].max().clamp_min(0))
    percent = percent_digits(math.sqrt(largest))
    decision = replace(
        sym.decision,
        warnings=(
            *sym.decision.warnings,
            Diagnosis.DATA_LEVEL_NETWORKS(subject=sym.model, percent=percent),
        ),
    )
    hidden = int((solution.values < HIDING * squares).sum())
    if not sym.nullity and hidden and not decision.undecided:
        sentence = Diagnosis.UNDECIDED(undecided=hidden, total=total)
        decision = replace(decision, undecided=hidden, sentence=sentence)
    return replace(sym, decision=decision)


def _of_surface(surface: Surface) -> Thresholds:
    """What counts as a symmetry of a surface: as small a defect as the samples' distance from it explains."""
    largest, plain = max(SURFACE_DEFECT, (SURFACE_FACTOR * surface.thickness) ** 2), Thresholds()
    return replace(
        plain, threshold=min(plain.threshold, largest), strong=min(plain.strong, largest)
    )


def _about_thickness(surface: Surface) -> tuple[Remark, ...]:
    """Say that the samples are off the surface."""
    if not surface.thickness:
        return ()
    return (Diagnosis.DATA_THICK_SURFACE(percent=percent_digits(surface.thickness)),)
