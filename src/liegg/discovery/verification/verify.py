"""The assembly: a model, held-out samples and symmetries in, their finite verification out."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.discovery.verification.controls import best_partners
from liegg.discovery.verification.follow import Asked, follow_all, follow_others
from liegg.discovery.verification.further_curves import others_of
from liegg.discovery.verification.measure import CONSTANT, Question
from liegg.discovery.verification.request import actions_of, check_numbers, directions_of
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.model import Model, eval_view, probe, with_input_dtype
from liegg.polarization.rows import check_output_action
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Verification


def verify(
    model: Any,
    data: Data,
    sym: Symmetries | Action,
    generators: Float[Tensor, "d n n"] | None = None,
    *,
    output_action: Action | None = None,
    output_generators: Float[Tensor, "d m m"] | None = None,
    samples: int = 256,
    fraction: float = 0.05,
    points: int = 25,
    controls: int = 8,
    seed: int = 0,
    longest: float | None = None,
) -> Verification:
    r"""Move held-out samples by finite motions along symmetries, and see how much the output changes.

    Measures $r(t) = \mathrm{mean}\,|f(e^{th}x) - e^{tk}f(x)|^2 / \mathrm{var} f$ for every generator $h$, with $k = 0$ for
    invariance, over a whole period where the motion has one, and for random candidates that move the data as much.

    Args:
        model: as for `liegg.discover`; best the same.
        data: held-out samples, of which the first `samples` are read; shuffle them if they are sorted.
        sym: what `liegg.discover` found; or an action, for generators of your own.
        generators: verify these in place of those found; needed with an action.
        output_action: action on the outputs, where `sym` is an action and the question is equivariance.
        output_generators: what each of `generators` is to do to the output; by default what suits it best.
        samples: samples read, at most.
        fraction: share of the output's variance up to which a motion holds.
        points: times at which each motion is looked at.
        controls: random directions, and random elements of the group.
        seed: of these, and for whatever a loader draws.
        longest: how far to go in every direction, as motion at the speed of the start in multiples of the data's spread; by default
            a whole period, or 1 for motions that do not come back.

    Returns:
        A curve to a generator and one for the group, with radius and curvature. Where the generators are those found, also curves
        of the readable ones, or of the nearest candidates if none was found. No curve if there is nothing to verify, or if the
        output is the same for all samples; the notes say so.

    Raises:
        ArgumentError: arguments that make no sense, fewer than two samples, or a generator that does not move them.

    Examples:
        >>> import liegg
        >>> x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x[:200], liegg.Linear(3))
        >>> found = verify(lambda x: x.square().sum(1), x[200:], sym)
        >>> found.holds, bool(found.curves[0].change.max() < 1e-20)
        (True, True)
    """
    check_numbers(samples, fraction, points, controls, seed, longest)
    known = sym if isinstance(sym, Symmetries) else None
    action, output_action = actions_of(sym, output_action)
    given = directions_of(sym, action, output_action, generators, output_generators)
    name = known.model if known else getattr(model, "__name__", type(model).__name__)
    about = {"fraction": fraction, "controls": controls, "seed": seed, "action": repr(action)}
    beside = others_of(known) if known is not None and generators is None else None
    nothing = (
        "there is no symmetry to verify: none was found"
        if generators is None
        else "no generator was given to verify"
    )
    if not len(given.h) and not (beside is not None and beside.words):
        return Verification(
            (), None, variance=None, spread=None, samples=0, model=name, notes=(nothing,), **about
        )
    with seeded(seed), torch.inference_mode(False), torch.no_grad(), eval_view(model) as function:
        function = with_input_dtype(function, as_batches(data))
        batches = Batches(as_batches(data).source, samples, function.dtype, function.device)
        x = _read(batches, samples)
        action.check(tuple(x.shape[1:]))
        _check_alike(known, tuple(x.shape[1:]))
        function = probe(function, x)
        if output_action is not None:
            check_output_action(output_action, function)
        if (
            known is not None and known.settings["outputs"] == "sum"
        ):  # the sum was asked about, and is what is looked at here
            function = replace(function, function=_summed(function), output_shape=(1,))
        question = Question(function, action, output_action, x)
        if not bool(torch.isfinite(question.y).all()):
            raise ArgumentError(
                f"{function.name} returned NaN or infinity for a sample. Check it there, or remove the sample."
            )
        about |= {"spread": question.spread, "samples": len(x), "model": function.name}
        if question.variance <= (CONSTANT * question.eps) ** 2 * question.output_square:
            same = "the output is the same for all samples (to rounding): it has no variance to measure a change by"
            return Verification(
                (), None, variance=question.variance, notes=(*function.notes, same), **about
            )
        if output_action is not None and given.k is None:
            given = given._replace(
                k=known._partners(given.h) if known else best_partners(question, given.h)
            )
        asked = Asked(known, points, fraction, controls, seed, longest)
        curves, group, notes = (
            follow_all(question, given, asked) if len(given.h) else ((), None, [nothing])
        )
        others = (
            () if beside is None or not beside.words else follow_others(question, beside, asked)
        )
    more = (
        {}
        if beside is None or not others
        else {"other_words": beside.words, "other_generators": beside.matrices}
    )
    return Verification(
        curves,
        group,
        variance=question.variance,
        notes=(*function.notes, *notes),
        others=others,
        **more,
        **about,
    )


def _check_alike(known: Symmetries | None, shape: tuple[int, ...]) -> None:
    """Raise `ShapeError` for samples of another shape than those that were analysed."""
    analysed = None if known is None else known.settings.get("sample")
    if analysed is not None and tuple(analysed) != shape:
        raise ShapeError(
            f"a sample has shape {shape}; those that were analysed have {tuple(analysed)}. Pass samples of that shape."
        )


def _summed(function: Model) -> Callable[[Tensor], Tensor]:
    """The sum of a function's outputs."""
    return lambda x: function(x).sum(1, keepdim=True)


def _read(batches: Batches, samples: int) -> Float[Tensor, "n ..."]:
    """The first samples, at least two."""
    found, count = [], 0
    with closing(iter(batches)) as left:
        for batch in left:
            found.append(batch[: samples - count])
            count += len(found[-1])
            if count == samples:
                break
    if count < 2:
        raise ArgumentError(
            f"the data holds {count} sample; a variance needs 2 or more, and a trustworthy one some 100."
        )
    return torch.cat(found)
