"""The assembly: a model and data in, symmetries out."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from liegg._errors import ArgumentError
from liegg._precision import full_products
from liegg._random import seeded
from liegg._version import __version__
from liegg.accumulate import RFactor
from liegg.actions import Action, Restricted
from liegg.data import Data, as_batches
from liegg.defect import TRIVIAL_TOLERANCE, defects, mean_sensitivity
from liegg.equivariance import eliminate
from liegg.gram import Gram
from liegg.model import opened, probe
from liegg.polarization import Outputs, Plan, Route, check_output_action, plan
from liegg.stream import Streamed, stream
from liegg.symmetries import Symmetries
from liegg.verdict import FLOOR_FACTOR, GAP, RESOLUTION, THRESHOLD, decide, found_directions, numerical_floor


@dataclass(frozen=True)
class Limits:
    """What counts as a symmetry.

    Attributes:
        threshold: largest defect δ² of a symmetry.
        minimum_gap: smallest ratio from the last symmetry's defect to the next.
        resolution: defects below this are alike when gaps are compared.
        floor_factor: rounding units within which a direction counts as exact.
        trivial_tolerance: share of the largest displacement below which a direction does not move the data.
    """

    threshold: float = THRESHOLD
    minimum_gap: float = GAP
    resolution: float = RESOLUTION
    floor_factor: float = FLOOR_FACTOR
    trivial_tolerance: float = TRIVIAL_TOLERANCE


def discover(
    model: Any,
    data: Data,
    action: Action,
    *,
    output_action: Action | None = None,
    outputs: Outputs = "each",
    route: Route | Literal["auto"] = "auto",
    batch_size: int | None = None,
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
        batch_size: samples to a batch, where the data does not come in batches; by default what suits their size.
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
    check_request(action, output_action, seed, trivial_tolerance)
    batches = as_batches(data, batch_size=batch_size)
    with seeded(seed), torch.inference_mode(False), torch.no_grad(), opened(model) as function:
        batches = batches.prepared(function.dtype, function.device)
        with closing(iter(batches)) as batches_left:
            first = next(batches_left)
            action.check(tuple(first.shape[1:]))
            wide = asked_of(action)
            with full_products():
                function = probe(function, first)
                if output_action is not None:
                    check_output_action(output_action, function)
                how = plan(function, wide, first, outputs=outputs, route=route, output_action=output_action, seed=seed)
            seen = stream(function, wide, first, batches_left, how, output_action=output_action, progress=progress)
    limits = Limits(threshold, minimum_gap, resolution, floor_factor, trivial_tolerance)
    return conclude(
        seen, action, how, limits, dtype=first.dtype, device=first.device.type, batch_size=batches.size, model=function.name,
        output_action=output_action, notes=function.notes,
    )  # fmt: skip


def conclude(
    seen: Streamed,
    action: Action,
    how: Plan,
    limits: Limits,
    *,
    dtype: torch.dtype,
    device: str,
    batch_size: int | None,
    model: str,
    output_action: Action | None = None,
    notes: tuple[str, ...] = (),
) -> Symmetries:
    """All that follows the pass over the data: solve, judge, and write down how.

    A pure function of what was streamed; it knows neither the model nor the data.

    Args:
        seen: what the pass kept: the rows of `asked_of(action)`, after the columns of the output action.
        action: the candidate generators.
        how: how the rows were taken.
        limits: what counts as a symmetry.
        dtype: precision of the model, which sets the numerical floor.
        device: kind of device that the model ran on, to be recorded.
        batch_size: samples to a batch, to be recorded.
        model: name of the model.
        output_action: action on the outputs; None for invariance.
        notes: how the model was opened, where that was out of the ordinary.

    Returns:
        The symmetries with spectrum, defects, decision and settings.

    Raises:
        ArgumentError: a limit that makes no sense.
    """
    wide = asked_of(action)
    trivial_tolerance = max(limits.trivial_tolerance, seen.trivial_floor)
    replies = 0 if output_action is None else output_action.size
    floor = numerical_floor(dtype, factor=limits.floor_factor)
    displacement = replace(action.displacement(seen.moment, seen.samples), noise=seen.noise)
    kappa = None  # that of the problem itself, unless it is only a part of the question
    if output_action is not None or wide is not action:
        whole = replace(wide.displacement(seen.moment, seen.samples), noise=seen.noise)
        kappa = mean_sensitivity(seen.rows.r[:, replies:], whole, seen.samples, trivial_tolerance=trivial_tolerance)
    kept = project(seen.rows, replies, action) if isinstance(action, Restricted) and action.projects else seen.rows
    problem = None if output_action is None else eliminate(kept.r, replies)
    unknown = kept if isinstance(kept, Gram) else (problem or kept).r
    solved = defects(unknown, displacement, seen.samples, sensitivity=kappa, trivial_tolerance=trivial_tolerance)
    if solved.sensitivity * displacement.typical <= floor * seen.output_square:  # nothing but rounding moves the output
        solved = replace(solved, values=torch.zeros_like(solved.values), sensitivity=0.0)
    decision = decide(
        solved, samples=seen.samples, floor=floor, threshold=limits.threshold, minimum_gap=limits.minimum_gap,
        resolution=limits.resolution, eliminated=0 if problem is None else problem.rank,
        feature_sizes=action.feature_sizes(seen.moment),
    )  # fmt: skip
    coefficients = found_directions(solved, decision)
    settings = {
        "outputs": how.outputs, "route": how.route, "accumulator": seen.accumulator, "seed": how.seed, "batch_size": batch_size,
        **asdict(limits), "trivial_tolerance": trivial_tolerance, "noise": seen.noise,
        "dtype": str(dtype).removeprefix("torch."), "device": device,
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }  # fmt: skip
    return Symmetries(
        action, output_action, solved, decision, coefficients,
        None if problem is None else coefficients @ problem.partner.mT, kept, displacement, seen.samples,
        model, settings, (*notes, *how.notes),
    )  # fmt: skip


def check_request(action: Any, output_action: Any, seed: Any, trivial_tolerance: float) -> None:
    """Raise `ArgumentError` for actions that are none, and for a seed or a share out of range."""
    if not isinstance(action, Action) or not isinstance(output_action, Action | None):
        raise ArgumentError(
            "action and output_action must be actions, for example liegg.Linear(3), liegg.Affine(3, copies=20) or liegg.Image(), "
            "with the brackets."
        )
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed}: expected a whole number from 0 to 2^63 - 1.")
    if not 0 < trivial_tolerance < 1:
        raise ArgumentError(f"trivial_tolerance={trivial_tolerance}: expected a share between 0 and 1, for example 1e-12.")


def asked_of(action: Action) -> Action:
    """Action whose rows are taken: restricted candidates are judged against all of their parent's, whose rows are projected."""
    return action.parent if isinstance(action, Restricted) and action.projects else action


def project(rows: RFactor | Gram, replies: int, action: Restricted) -> RFactor:
    """Factor of a restricted action's columns from the rows of its parent; the first `replies` columns stay."""
    return RFactor(torch.cat([rows.r[:, :replies], rows.r[:, replies:] @ action.basis.mT], dim=1), rows.rows)
