"""The assembly: a model and data in, symmetries out."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg import accumulate, gram
from liegg._errors import ArgumentError, NonFiniteError
from liegg._random import seeded
from liegg._version import __version__
from liegg.actions import Action
from liegg.data import Batches, Data, as_batches
from liegg.defect import TRIVIAL_TOLERANCE, defects, mean_sensitivity
from liegg.equivariance import eliminate
from liegg.model import Model, opened, probe
from liegg.polarization import ROW_ELEMENTS, Outputs, Plan, Route, check_output_action, plan, polarize, rows_per_sample
from liegg.symmetries import Symmetries
from liegg.verdict import FLOOR_FACTOR, GAP, RESOLUTION, THRESHOLD, decide, found_directions, numerical_floor


def discover(
    model: Any,
    data: Data,
    action: Action,
    *,
    output_action: Action | None = None,
    outputs: Outputs = "each",
    route: Route | Literal["auto"] = "auto",
    batch_size: int = 512,
    seed: int = 0,
    threshold: float = THRESHOLD,
    minimum_gap: float = GAP,
    resolution: float = RESOLUTION,
    floor_factor: float = FLOOR_FACTOR,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
    progress: Callable[[int], object] | None = None,
) -> Symmetries:
    r"""Find the generators of the Lie group under which a model's output does not change, or changes in a known way.

    Solves $\langle \partial f_c(x), \xi_h(x) \rangle = 0$ for all samples and outputs by least squares, in one pass over the data.

    Args:
        model: `nn.Module` (analysed in eval mode and left as it was), exported program, or callable on batches.
        data: tensor or array `[N, *x]`, Dataset, DataLoader, or re-iterable of batches; labels are ignored.
        action: the candidate generators, such as `liegg.Linear(5, copies=2)`.
        output_action: action on the outputs; the question is then equivariance, $f(e^{h}x) = e^{k} f(x)$.
        outputs: `"each"` output constrains alone; `"sum"` is the paper's reading; a number `k` takes k random combinations.
        route: forward (`"jvp"`) or reverse (`"vjp"`) derivatives, plain `"autograd"`, or the cheapest that works (`"auto"`).
        batch_size: samples to a batch, where the data does not come in batches.
        seed: for random combinations and for whatever a loader draws.
        threshold: largest defect δ² of a symmetry.
        minimum_gap: smallest ratio from the last symmetry's defect to the next.
        resolution: defects below this are alike when gaps are compared.
        floor_factor: rounding units within which a direction counts as exact.
        trivial_tolerance: share of the largest displacement below which a direction does not move the data.
        progress: called with the number of samples after each batch.

    Returns:
        The symmetries with spectrum, defects, decision and settings.

    Raises:
        LieggError: bad data, a model that is no function of one sample, or arguments that make no sense.

    Examples:
        >>> import liegg
        >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
        >>> sym.nullity, bool(sym.angles(liegg.so(3)).max() < 1e-12)
        (3, True)
    """
    if not 0 < trivial_tolerance < 1:
        raise ArgumentError(f"trivial_tolerance={trivial_tolerance}: expected a share between 0 and 1, for example 1e-12.")
    batches = as_batches(data, batch_size=batch_size)
    with seeded(seed), torch.inference_mode(False), torch.no_grad(), opened(model) as function:
        batches = Batches(batches.source, batches.size, function.dtype, function.device)
        with closing(iter(batches)) as stream:
            first = next(stream)
            action.check(tuple(first.shape[1:]))
            function = probe(function, first)
            if output_action is not None:
                check_output_action(output_action, function)
            how = plan(function, action, first, outputs=outputs, route=route, output_action=output_action, seed=seed)
            factor, moment, samples = _stream(function, action, first, stream, how, output_action, progress)
    problem = eliminate(factor.r, 0 if output_action is None else output_action.size)
    displacement = action.displacement(moment, samples)
    kappa = None  # of the problem itself, unless output generators were eliminated from it
    if output_action is not None:
        kappa = mean_sensitivity(problem.full, displacement, samples, trivial_tolerance=trivial_tolerance)
    solved = defects(problem.r, displacement, samples, sensitivity=kappa, trivial_tolerance=trivial_tolerance)
    decision = decide(
        solved, samples=samples, floor=numerical_floor(first.dtype, factor=floor_factor), threshold=threshold,
        minimum_gap=minimum_gap, resolution=resolution, eliminated=problem.rank,
    )  # fmt: skip
    coefficients = found_directions(solved, decision)
    settings = {
        "outputs": how.outputs, "route": how.route, "seed": seed, "batch_size": batch_size, "threshold": threshold,
        "minimum_gap": minimum_gap, "resolution": resolution, "floor_factor": floor_factor, "trivial_tolerance": trivial_tolerance,
        "dtype": str(first.dtype).removeprefix("torch."), "device": first.device.type,
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }  # fmt: skip
    return Symmetries(
        action, output_action, solved, decision, coefficients,
        None if output_action is None else coefficients @ problem.partner.mT, factor.r, displacement, samples, factor.rows,
        function.name, settings, (*function.notes, *how.notes),
    )  # fmt: skip


def _stream(
    model: Model,
    action: Action,
    first: Float[Tensor, "b ..."],
    rest: Iterator[Float[Tensor, "b ..."]],
    how: Plan,
    output_action: Action | None,
    progress: Callable[[int], object] | None,
) -> tuple[accumulate.RFactor, Float[Tensor, "s s"], int]:
    """One pass over the data: R factor of the rows, summed moments, number of samples; results on the CPU."""
    dtype, device = first.dtype, first.device
    columns = action.size + (0 if output_action is None else output_action.size)
    most = max(1, ROW_ELEMENTS // (columns * rows_per_sample(how.outputs, model)))
    signs = torch.Generator().manual_seed(how.seed)
    moment: Tensor | None = None
    wide = torch.empty(0)
    samples = 0

    def pieces() -> Iterator[Float[Tensor, "m g"]]:
        nonlocal moment, samples, wide
        for x in (part for batch in chain([first], rest) for part in batch.split(most)):
            rows = polarize(model, action, x, how, output_action=output_action, signs=signs)
            yield _finite(rows, samples, model.name).flatten(0, 1)
            if len(wide) < len(x):
                wide = torch.empty_like(x, dtype=torch.float64)
            step = action.moment(wide[: len(x)].copy_(x))  # into memory that is there already: new pages cost more than the sum
            moment = step if moment is None else moment + step
            samples += x.shape[0]
            if progress is not None:
                progress(x.shape[0])

    if gram.allowed(dtype):
        total = gram.init(columns, device)
        for block in accumulate.blocks(pieces()):
            total = gram.update(total, block)
        factor = gram.factor(total)
    else:
        factor = accumulate.init(columns, device)
        for block in accumulate.blocks(pieces()):
            factor = accumulate.update(factor, block)
    moments = torch.zeros(0, 0, dtype=torch.float64) if moment is None else moment.cpu()
    return accumulate.RFactor(factor.r.cpu(), factor.rows), moments, samples


def _finite(rows: Float[Tensor, "b k g"], first: int, name: str) -> Float[Tensor, "b k g"]:
    """Raise `NonFiniteError` naming the first sample whose rows hold NaN or infinity."""
    if bool(torch.isfinite(rows.sum())):  # one reduction for the usual case; the exact search only on suspicion
        return rows
    finite = torch.isfinite(rows).flatten(1).all(1)
    if not bool(finite.all()):
        raise NonFiniteError(
            f"the derivative of {name} at sample {first + int(finite.to(torch.int8).argmin())} is NaN or infinite. "
            "Remove the sample, or make the model smooth there: a square root or a norm has no derivative at 0."
        )
    return rows
