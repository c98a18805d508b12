"""The assembly: a model, held-out samples and symmetries in, their finite verification out."""

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.checks import check_seed
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ShapeError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg.actions import Action, MatrixAction
from liegg.discovery.inner import Asked
from liegg.discovery.structured import Inputs
from liegg.discovery.verification.evaluating import evaluating, first_samples
from liegg.discovery.verification.follow import (
    CurveOptions,
    expected_evaluations,
    follow_all,
    follow_others,
    random_controls,
)
from liegg.discovery.verification.further_curves import Others, others_of
from liegg.discovery.verification.measure import (
    CONSTANT,
    LARGEST_ROUNDING,
    OUTPUT_UNITS,
    Directions,
    Meter,
    Question,
    summed,
)
from liegg.discovery.verification.selected_times import Effort, at_selected_times, shares
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.model import Model
from liegg.inputs.output_field import Field
from liegg.inputs.part import Part, asked_part, part_of, part_words
from liegg.inputs.pieces import BATCH_SIZE
from liegg.inputs.probed import in_dtype_of, probed
from liegg.inputs.spot_check import check_samples
from liegg.inputs.target import Target
from liegg.inputs.task import split_task
from liegg.polarization.output_fit import fitted_output_action
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Verification

LARGEST_COUNT = 100_000
"""Most samples, points and controls."""


@checked()
@one_at_a_time
def verify(
    model: Any,
    data: Data,
    sym: Symmetries | Action,
    generators: Float[Tensor, "d ..."] | None = None,
    *,
    output_action: Action | None = None,
    output_generators: Float[Tensor, "d ..."] | None = None,
    target: Target = None,
    output: Field = None,
    call: Callable[..., Any] | None = None,
    at: str | None = None,
    samples: int = 256,
    fraction: float = 0.05,
    points: int = 25,
    controls: int = 8,
    seed: int = 0,
    longest: float | None = None,
    effort: Effort = "auto",
    progress: Callable[[int, int], object] | None = None,
) -> Verification:
    r"""Move held-out samples along symmetries by finite transformations and measure the output.

    Measures $r(t) = \mathrm{mean}\,|f(e^{th}x) - e^{tk}f(x)|^2 / \mathrm{var} f$ for every generator
    $h$, with $k = 0$ for invariance, over a complete period if the motion has one, and for random
    candidates that move the data as much.

    Args:
        model: as for `liegg.discover`; usually the same.
        data: held-out samples, of which the first `samples` are read; shuffle them if sorted.
        sym: a result of `liegg.discover`; or an action, for generators of your own.
        generators: verify these instead of the symmetries: matrices `[d, n, n]`, or coefficients
            `[d, g]` of any action; required with an action.
        output_action: action on the outputs, if `sym` is an action and you verify equivariance.
        output_generators: what each of `generators` does to the output; by default the best fit.
        target: as for `liegg.discover`; by default that of `sym`.
        output: as for `liegg.discover`; by default that of `sym`, unless it was a function.
        call: as for `liegg.discover`.
        at: as for `liegg.discover`; by default that of `sym`.
        samples: maximum number of samples.
        fraction: share of the output's variance up to which a motion holds.
        points: number of times at which each motion is measured; at most, if they are selected.
        controls: number of random directions, and of random elements of the group.
        seed: of these, and of a loader that shuffles.
        longest: how far to follow every motion, in multiples of the data's spread at the initial
            speed; by default a complete period, or 1 for motions without one.
        effort: `"auto"` measures structured samples, and samples of 512 or more numbers, such as
            images, at selected times, and random directions on a share of the samples each; a note
            says so. `"full"` measures everything at all times.
        progress: called with the number of samples that the model has evaluated, and with how many
            are expected at most; at the end both are equal.

    Returns:
        A curve per generator and one for the group, with radius and curvature. If the generators
        are the symmetries of `sym`, also curves of a readable basis, or of the nearest candidates
        if there is no symmetry. No curve if there is nothing to verify or the output is constant;
        the notes say so.

    Raises:
        ArgumentError: invalid arguments, fewer than two samples, or a generator that does not move
            the samples.

    Examples:
        >>> import liegg
        >>> x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x[:200], liegg.Linear(3))
        >>> result = verify(lambda x: x.square().sum(1), x[200:], sym)
        >>> result.holds, bool(result.curves[0].change.max() < 1e-20)
        (True, True)
    """
    known = sym if isinstance(sym, Symmetries) else None
    options = CurveOptions(known, points, fraction, controls, seed, longest, effort)
    _check_numbers(samples, options)
    action, output_action = _actions_of(sym, output_action)
    task, target = split_task(target)
    part = asked_part(output, target, equivariance=output_action is not None, at=at)
    part = part if known is None else part_of(known.settings, part)
    given = _directions_of(
        sym, action, output_action, generators, output_generators=output_generators
    )
    others = Others(given.h[:0], ())
    if known is not None and generators is None:
        others = others_of(known)
    result = _empty(model, action, known, options, own=generators is None)
    if not len(given.h) and not others.words:
        return result
    if task == "auto" and known is not None:
        task = known.settings.get("task", "auto")
    with evaluating(Asked(model, data, action, call), part.at, seed=seed) as (function, inputs):
        question = replace(
            _question(function, inputs, samples, known, part=part, output_action=output_action),
            meter=Meter(progress),
            classes=None if task == "auto" else task == "classes",
        )
        subject = part_words(part.settings(), question.model.name)
        result = _measured(
            question, given, others, options, result=replace(result, subject=subject)
        )
        question.meter.finish()
    return replace(result, notes=(*question.model.notes, *result.notes))


def _empty(
    model: Any, action: Action, known: Symmetries | None, options: CurveOptions, *, own: bool
) -> Verification:
    """The result where there is nothing to verify.

    Args:
        model: the user's model.
        action: how samples are moved.
        known: the analysis, if there was one.
        options: how motions are followed.
        own: whether the generators are those of the analysis.
    """
    nothing = Diagnosis.NOTHING_TO_VERIFY if own else Diagnosis.NO_GENERATOR_GIVEN
    return Verification(
        curves=(),
        group=None,
        fraction=options.fraction,
        variance=None,
        spread=None,
        samples=0,
        controls=options.controls,
        seed=options.seed,
        model=known.model if known else getattr(model, "__name__", type(model).__name__),
        action=repr(action),
        notes=(nothing(),),
        of_symmetries=known is not None and own,
    )


def _measured(
    question: Question,
    given: Directions,
    others: Others,
    options: CurveOptions,
    *,
    result: Verification,
) -> Verification:
    """The result with what the samples show; no curve if their outputs are all the same."""
    result = replace(
        result,
        variance=question.variance,
        spread=question.spread,
        samples=len(question.x),
        model=question.model.name,
    )
    if question.variance <= (CONSTANT * question.eps) ** 2 * question.output_square:
        return replace(result, notes=(Diagnosis.CONSTANT_HELD_OUT_OUTPUT(),))
    return _followed(question, given, others, options, result=result)


def _followed(
    question: Question,
    given: Directions,
    others: Others,
    options: CurveOptions,
    *,
    result: Verification,
) -> Verification:
    """The result with all curves of the generators and of further motions."""
    total = expected_evaluations(question, len(given.h), len(others.words), options)
    question.meter.total = total
    random = random_controls(question, options)
    share = min(OUTPUT_UNITS * question.eps, LARGEST_ROUNDING)
    rounding = share**2 * question.output_square
    result = replace(result, floor=max(rounding / question.variance, question.eps))
    if len(given.h):
        curves, group, notes = follow_all(question, given, options, random)
        result = replace(result, curves=curves, group=group, notes=notes)
    if others.words:
        rows, words = others
        generators = rows
        if isinstance(question.action, MatrixAction):
            generators = question.action.matrices(rows)
        if further := follow_others(question, rows, options, random):
            result = replace(result, others=further, other_words=words, other_generators=generators)
    if at_selected_times(question, options.effort):
        share = math.ceil(len(question.x) / shares(len(question.x)))
        note = Diagnosis.SELECTED_TIMES(numbers=question.x[0].numel(), share=share)
        result = replace(result, notes=(*result.notes, note))
    return result


def _question(
    function: Model,
    inputs: Inputs,
    samples: int,
    known: Symmetries | None,
    *,
    part: Part,
    output_action: Action | None,
) -> Question:
    """The probed model with the samples that are moved."""
    action, batches = inputs.action, replace(as_batches(inputs.data), size=samples)
    with closing(iter(batches.prepared(function.dtype, function.device))) as iterator:
        x = first_samples(iterator, samples)
    if len(x) < 2:
        raise ArgumentError(
            f"the data holds {len(x)} sample; a variance needs 2 or more, and a reliable one about 100."
        )
    shape = tuple(x.shape[1:])
    action.check(shape)
    analysed = None if known is None else known.settings.get("sample")
    if action.structure is None and analysed is not None and tuple(analysed) != shape:
        raise ShapeError(
            f"a sample has shape {shape}; those that were analysed have {tuple(analysed)}. Pass "
            "samples of that shape."
        )
    dtype = function.dtype
    finite = known is not None and known.settings["route"] == "finite"
    most = None if action.structure is None else _per_call(inputs.data, known)
    function = probed(function, x[:most], part, finite=finite)
    x = in_dtype_of(x, function, dtype)
    check_samples(function, x[:most])
    output_action = fitted_output_action(output_action, action, function)
    if known is not None and known.settings["outputs"] == "sum":  # the analysis was about the sum
        function = summed(function)
    question = Question(function, action, output_action, x, most=most)
    if not bool(torch.isfinite(question.y).all()):
        raise ArgumentError(
            f"{function.name} returned NaN or infinity for a sample. Correct the model there, or "
            "remove the sample."
        )
    return question


def _per_call(data: Any, known: Symmetries | None) -> int:
    """Structured samples per call of the model: no more than in a batch of the loader or of the analysis.

    Models of graphs may take far longer for many graphs joined to one than for the same graphs in small batches.
    """
    sizes = [getattr(data.data, "batch_size", None)]
    if known is not None:
        sizes += [known.settings["batch_size"], known.samples]
    return max(2, min([BATCH_SIZE, *(size for size in sizes if isinstance(size, int))]))


def _actions_of(
    sym: Symmetries | Action, output_action: Action | None
) -> tuple[Action, Action | None]:
    """The actions on input and output."""
    if isinstance(sym, Symmetries):
        if output_action is not None:
            raise ArgumentError(
                "output_action was given with a result of discover(), which has its own. "
                "Leave it out."
            )
        return sym.action, sym.output_action
    return sym, output_action


def _directions_of(
    sym: Symmetries | Action,
    action: Action,
    output_action: Action | None,
    generators: Any,
    *,
    output_generators: Any,
) -> Directions:
    """Coefficients of what is to be verified; those of the output may still be missing."""
    if output_generators is not None and (output_action is None or generators is None):
        raise ArgumentError(
            "output_generators given without generators or without an output action: they need both."
        )
    if generators is None:
        if not isinstance(sym, Symmetries):
            raise ArgumentError(
                "an action was given without generators: pass those to verify, for example "
                "liegg.so(3)."
            )
        return Directions(sym.coefficients, sym.accumulated.partners(sym.coefficients))
    h = action.as_coefficients(generators).detach().to("cpu", torch.float64)
    if output_generators is None or output_action is None:
        return Directions(h, None)
    k = output_action.as_coefficients(output_generators, "output_generators")
    if len(k) != len(h):
        raise ArgumentError(
            f"{len(h)} generators and {len(k)} output_generators: expected one for each."
        )
    return Directions(h, k.detach().to("cpu", torch.float64))


def _check_numbers(samples: Any, options: CurveOptions) -> None:
    """Raise `ArgumentError` for numbers out of range."""
    for name, value, smallest, usual in (
        ("samples", samples, 2, 256),
        ("points", options.points, 4, 25),
        ("controls", options.controls, 1, 8),
    ):
        if not smallest <= value <= LARGEST_COUNT:
            raise ArgumentError(
                f"{name}={value!r}: expected an integer from {smallest} to {LARGEST_COUNT}, for "
                f"example {name}={usual}."
            )
    check_seed(options.seed)
    longest = options.longest
    share = "a positive share of the variance, for example fraction=0.05"
    multiple = "None or a positive multiple of the data's spread"
    for name, value, what in (
        ("fraction", options.fraction, share),
        ("longest", 1.0 if longest is None else longest, multiple),
    ):
        if not 0 < value < math.inf:
            raise ArgumentError(f"{name}={value!r}: expected {what}.")
