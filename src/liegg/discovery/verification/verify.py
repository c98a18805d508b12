"""The assembly: a model, held-out samples and symmetries in, their finite verification out."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ShapeError
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.discovery.verification.follow import CurveOptions, follow_all, follow_others, partners
from liegg.discovery.verification.further_curves import others_of
from liegg.discovery.verification.measure import CONSTANT, Question
from liegg.discovery.verification.request import actions_of, check_numbers, directions_of
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.input_dtype import with_input_dtype
from liegg.inputs.model import Model, eval_view, probe
from liegg.polarization.rows import check_output_action
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Verification


def verify(
    model: Any,
    data: Data,
    sym: Symmetries | Action,
    generators: Float[Tensor, "d ..."] | None = None,
    *,
    output_action: Action | None = None,
    output_generators: Float[Tensor, "d ..."] | None = None,
    samples: int = 256,
    fraction: float = 0.05,
    points: int = 25,
    controls: int = 8,
    seed: int = 0,
    longest: float | None = None,
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
        samples: maximum number of samples.
        fraction: share of the output's variance up to which a motion holds.
        points: number of times at which each motion is measured.
        controls: number of random directions, and of random elements of the group.
        seed: of these, and of a loader that shuffles.
        longest: how far to follow every motion, in multiples of the data's spread at the initial
            speed; by default a complete period, or 1 for motions without one.

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
    check_numbers(
        samples=samples,
        fraction=fraction,
        points=points,
        controls=controls,
        seed=seed,
        longest=longest,
    )
    known = sym if isinstance(sym, Symmetries) else None
    action, output_action = actions_of(sym, output_action)
    given = directions_of(sym, action, output_action, generators, output_generators)
    others = others_of(known) if known is not None and generators is None else None
    nothing = Diagnosis.NOTHING_TO_VERIFY if generators is None else Diagnosis.NO_GENERATOR_GIVEN
    empty = Verification(
        curves=(),
        group=None,
        fraction=fraction,
        variance=None,
        spread=None,
        samples=0,
        controls=controls,
        seed=seed,
        model=known.model if known else getattr(model, "__name__", type(model).__name__),
        action=repr(action),
        notes=(nothing(),),
    )
    if not len(given.h) and (others is None or not others.words):
        return empty
    with seeded(seed), torch.inference_mode(False), torch.no_grad(), eval_view(model) as function:
        function = with_input_dtype(function, as_batches(data))
        batches = Batches(as_batches(data).source, samples, function.dtype, function.device)
        x = _read(batches, samples)
        action.check(tuple(x.shape[1:]))
        _check_shape(known, tuple(x.shape[1:]))
        function = probe(function, x)
        if output_action is not None:
            check_output_action(output_action, function)
        if known is not None and known.settings["outputs"] == "sum":
            function = _summed(function)  # the analysis was about the sum
        question = Question(function, action, output_action, x)
        if not bool(torch.isfinite(question.y).all()):
            raise ArgumentError(
                f"{function.name} returned NaN or infinity for a sample. Correct the model there, or "
                "remove the sample."
            )
        measured = replace(
            empty,
            variance=question.variance,
            spread=question.spread,
            samples=len(x),
            model=function.name,
        )
        if question.variance <= (CONSTANT * question.eps) ** 2 * question.output_square:
            return replace(measured, notes=(*function.notes, Diagnosis.CONSTANT_OUTPUT()))
        if given.k is None:
            given = given._replace(k=partners(question, known, given.h))
        options = CurveOptions(known, points, fraction, controls, seed, longest)
        curves, group, notes = (
            follow_all(question, given, options) if len(given.h) else ((), None, empty.notes)
        )
        further = (
            follow_others(question, others.coefficients, options) if others and others.words else ()
        )
    result = replace(measured, curves=curves, group=group, notes=(*function.notes, *notes))
    if others is None or not further:
        return result
    generators = others.coefficients if others.matrices is None else others.matrices
    return replace(result, others=further, other_words=others.words, other_generators=generators)


def _check_shape(known: Symmetries | None, shape: tuple[int, ...]) -> None:
    """Raise `ShapeError` for samples of another shape than the analysed ones."""
    analysed = None if known is None else known.settings.get("sample")
    if analysed is not None and tuple(analysed) != shape:
        raise ShapeError(
            f"a sample has shape {shape}; those that were analysed have {tuple(analysed)}. Pass "
            "samples of that shape."
        )


def _summed(function: Model) -> Model:
    """The model whose output is the sum of a model's outputs."""
    return replace(function, function=lambda x: function(x).sum(1, keepdim=True), output_shape=(1,))


def _read(batches: Batches, samples: int) -> Float[Tensor, "n ..."]:
    """The first samples, at least two."""
    parts, count = [], 0
    with closing(iter(batches)) as left:
        for batch in left:
            parts.append(batch[: samples - count])
            count += len(parts[-1])
            if count == samples:
                break
    if count < 2:
        raise ArgumentError(
            f"the data holds {count} sample; a variance needs 2 or more, and a reliable one about "
            "100."
        )
    return torch.cat(parts)
