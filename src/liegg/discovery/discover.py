"""The assembly: a model and data in, symmetries out."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, SequentialSampler

from liegg._utils.device import memory_told
from liegg._utils.errors import ArgumentError
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, full_products, rounding_unit
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.decision.controls import (
    REINITIALISED_DRAWS,
    ReinitialisedControl,
    compare_with_reinitialised,
)
from liegg.decision.grades import LimitOptions, Thresholds
from liegg.discovery.solve_and_decide import ModelInfo, row_action, solve_and_decide
from liegg.discovery.verification.verify import verify
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.input_dtype import with_input_dtype
from liegg.inputs.model import Model, eval_view, probe
from liegg.inputs.nonlinearity import bend
from liegg.inputs.reinitialise import UNCALIBRATED, calibrate, reinitialised
from liegg.polarization import memory
from liegg.polarization.checkpoint import EVERY, place
from liegg.polarization.distributed import TIMEOUT, check_timeout, in_step, joined, part
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.passes import PassOptions, shared
from liegg.polarization.rounding_noise import scatter
from liegg.polarization.rows import Route, check_output_action, plan, rows_per_sample
from liegg.polarization.sample_blocks import Dealer, as_groups, count_for
from liegg.polarization.streaming import begin, empty, finish, read
from liegg.results.symmetries import Symmetries
from liegg.spectrum.smallest_defects import check_count

ONCE = PassOptions()
"""One process reads all of the data at one go."""

NEAREST = 3
"""Directions after the last symmetry that are held against fresh weights too."""


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
    groups: Sequence[Any] | Tensor | np.ndarray | None = None,
    controls: bool = True,
    control: Literal["reinitialised"] | None = None,
    control_draws: int = REINITIALISED_DRAWS,
    held_out: Data | None = None,
    bottom: int | None = None,
    progress: Callable[[int], object] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = EVERY,
    processes: Literal["all", "alone"] = "all",
    timeout: float = TIMEOUT,
    **thresholds: Unpack[LimitOptions],
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
        groups: label of every sample, in the order of the data: samples that belong together, such as augmented copies, share one,
            and are drawn together where intervals are made.
        controls: make intervals and hold every direction against random ones; False saves that time.
        control: `"reinitialised"` runs the analysis on the same architecture with fresh weights too, `control_draws` times, and
            says which directions were learned.
        control_draws: number of models with fresh weights.
        held_out: samples on which the symmetries found are verified at finite size, see `liegg.verify`.
        bottom: solve for so many of the smallest defects only, which is cheaper for many thousands of candidates; the result says
            how far each may be off (`sym.bottom`) and that nothing is known of the other directions. None for all.
        progress: called with the number of samples after each batch.
        checkpoint: file that what is kept is written to every `checkpoint_every` seconds. Killed at any moment and called again
            with the same arguments, the pass goes on from there and ends with the same numbers. With several processes each has
            its own, its number added to the name; models with fresh weights have theirs, too. Ctrl-C waits for the end of a
            batch, to write it.
        checkpoint_every: seconds between two writings, at least.
        processes: inside an initialised `torch.distributed` group, `"all"` processes call this together, each reads its share of
            the samples, and all get the same result; `"alone"` leaves the group aside.
        timeout: seconds that a process which has read its share waits for the others; at the start, where all must come, it is
            two minutes at most.
        **thresholds: what counts as a symmetry, such as `threshold`; see `liegg.decision.grades.Thresholds` for all of them.

    Returns:
        The symmetries with spectrum, defects, intervals, decision and settings.

    Raises:
        LieggError: bad data, a model that is no function of one sample, arguments that make no sense, or more candidates than
            there is memory for.

    Examples:
        >>> import liegg
        >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
        >>> sym.nullity, bool(sym.angles(liegg.so(3)).max() < 1e-12)
        (3, True)
    """
    if processes not in ("all", "alone"):
        raise ArgumentError(f"processes={processes!r}: expected 'all' or 'alone'.")
    check_timeout(timeout)

    def analysed() -> Symmetries:
        chosen = Thresholds.of(thresholds)
        check_request(action, output_action, seed)
        check_count(bottom)
        if (
            control not in (None, "reinitialised")
            or not isinstance(control_draws, int)
            or control_draws < 2
        ):
            raise ArgumentError(
                f"control={control!r}, control_draws={control_draws!r}: expected control='reinitialised' and at least 2 draws."
            )
        if not checkpoint_every >= 0:
            raise ArgumentError(
                f"checkpoint_every={checkpoint_every!r}: expected a number of seconds, for example {EVERY:g}."
            )
        labels = as_groups(groups)
        _check_trust(model, data, labels, held_out, control, controls=controls)
        columns = row_action(action).size + (0 if output_action is None else output_action.size)
        asked = Request(
            data, action, output_action, outputs, route, batch_size, seed, chosen, bottom
        )
        dealer = Dealer(count_for(columns), labels) if controls else None
        way = PassOptions(
            progress, group, None if checkpoint is None else place(checkpoint), checkpoint_every
        )
        sym = _analysed(model, asked, dealer, way)
        if control is not None:
            sym = replace(sym, reinitialised=_fresh(model, asked, sym, control_draws, way))
        return (
            sym
            if held_out is None
            else replace(sym, verification=verify(model, held_out, sym, seed=seed))
        )

    group = joined(timeout=timeout) if processes == "all" else None
    try:
        return in_step(group, analysed)
    finally:
        part(group)


@dataclass(frozen=True, eq=False)
class Request:
    """What the user asked, for one model or several."""

    data: Data
    action: Action
    output_action: Action | None
    outputs: Outputs
    route: Route | Literal["auto"]
    batch_size: int | None
    seed: int
    thresholds: Thresholds
    bottom: int | None


def _analysed(
    model: Any,
    asked: Request,
    dealer: Dealer | None = None,
    way: PassOptions = ONCE,
    *,
    buffers: bool = True,
) -> Symmetries:
    """One pass over the data, and what follows from it."""
    action, output_action = asked.action, asked.output_action
    batches = as_batches(asked.data, batch_size=asked.batch_size)
    notes: tuple[str, ...] = ()
    with (
        memory_told(),
        seeded(asked.seed),
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        with seeded(asked.seed):  # what a loader draws begins afresh when it is read
            function = with_input_dtype(function, batches)
        batches = batches.prepared(function.dtype, function.device)
        with closing(batches.numbered()) as left:
            start, first = next(left)
            action.check(tuple(first.shape[1:]))
            wide = row_action(action)
            with full_products():
                function = probe(function, first, summed=asked.outputs == "sum")
                if output_action is not None:
                    check_output_action(output_action, function)
                how = plan(
                    function,
                    wide,
                    first,
                    outputs=asked.outputs,
                    route=asked.route,
                    output_action=output_action,
                    seed=asked.seed,
                )
            memory.check(
                memory.expected(
                    action,
                    output_action=output_action,
                    dtype=first.dtype,
                    rows=rows_per_sample(how.outputs, function),
                    controls=dealer is not None,
                    bottom=asked.bottom,
                ),
                device=first.device,
            )
            bent = _bend(function, first)
            made = begin(function, wide, first, how, output_action=output_action, dealer=dealer)
            if way.plain:  # the data is read once, and no further than the batch at work
                kept = read(made, empty(made), chain([(start, first)], left), progress=way.progress)
            else:
                left.close()  # a loader's own generator is put back, so that it draws the same again
                kept, notes = shared(
                    made, batches, _question(asked), way, seed=asked.seed, buffers=buffers
                )
        unit = rounding_unit(
            coarsest(first.dtype, function.arithmetic), first.device, convolves=function.convolves
        )
        ran = ModelInfo(
            first.dtype,
            first.device.type,
            function.name,
            batches.size,
            unit,
            function.slope,
            first[0].numel(),
            bent,
            (*function.notes, *_about_count(dealer, wide), *notes),
            tuple(first.shape[1:]),
        )
        measure = cache(
            partial(scatter, function, wide, first, how, unit=unit, output_action=output_action)
        )
        return solve_and_decide(
            finish(made, kept),
            action,
            how,
            asked.thresholds,
            ran,
            output_action=output_action,
            smallest=asked.bottom,
            measure=measure,
        )


def _question(asked: Request) -> dict[str, Any]:
    """What was asked, as JSON can hold it."""
    reply = None if asked.output_action is None else asked.output_action.settings()
    return {
        "action": asked.action.settings(),
        "output_action": reply,
        "outputs": asked.outputs,
        "seed": asked.seed,
    }


def _bend(function: Model, first: Tensor) -> float | None:
    """Bend of the model; None where it fails half way between two samples, which need not be samples themselves."""
    try:
        return bend(function, first)
    except (RuntimeError, ValueError, ArithmeticError):
        return None


def _fresh(
    model: Any, asked: Request, sym: Symmetries, draws: int, way: PassOptions = ONCE
) -> ReinitialisedControl:
    """Hold the directions found, and the nearest after them, against the same architecture with fresh weights."""
    count = min(len(sym.defects), sym.nullity + NEAREST)
    directions = sym.solution.directions[:count]
    along, own, linear, notes = [], [], [], ()
    for draw in range(draws):
        fresh = reinitialised(model, seed=asked.seed + 1 + draw)
        with memory_told():
            module = calibrate(fresh.module, asked.data, batch_size=asked.batch_size)
        path = None if way.path is None else way.path.with_name(f"{way.path.name}.control-{draw}")
        found = _analysed(module, asked, way=way._replace(progress=None, path=path), buffers=False)
        along.append(found.direction_defect(directions))
        own.append(
            torch.cat([found.defects, torch.full((count,), torch.nan, dtype=torch.float64)])[:count]
        )
        linear.append((found.settings["bend"] or 0.0) < asked.thresholds.linear)
        notes = tuple(note for note in fresh.notes if note != UNCALIBRATED)
    high = sym.intervals[:count, 1]
    high = torch.where(high.isnan(), sym.defects[:count], high)
    bent = (sym.settings["bend"] or 0.0) >= asked.thresholds.linear
    return compare_with_reinitialised(
        high,
        along,
        own,
        notes,
        floor=max(sym.decision.floor, asked.thresholds.resolution),
        unlike=bent and all(linear),
    )


def _about_count(dealer: Dealer | None, action: Action) -> tuple[str, ...]:
    """That there are too many candidates for intervals, where they were asked for."""
    if dealer is None or dealer.count > 1:
        return ()
    return (
        f"no intervals: with {action.size} candidates blocks of samples would take too much memory; restrict the action",
    )


def _check_trust(
    model: Any,
    data: Data,
    labels: Tensor | None,
    held_out: Data | None,
    control: str | None,
    *,
    controls: bool,
) -> None:
    """Raise `ArgumentError` for what would only be found out after the whole pass."""
    if labels is not None and not controls:
        raise ArgumentError(
            "groups= is for intervals, which controls=False switches off. Leave one of them out."
        )
    sampler = getattr(data, "sampler", None)
    if (
        labels is not None
        and isinstance(data, DataLoader)
        and not isinstance(sampler, SequentialSampler)
    ):
        raise ArgumentError(
            "groups= needs the samples in a fixed order, but the loader shuffles them. Pass shuffle=False."
        )
    if held_out is not None:
        as_batches(held_out)
        if (
            hasattr(held_out, "__len__")
            and not isinstance(held_out, DataLoader)
            and len(held_out) < 2
        ):
            raise ArgumentError(
                f"held_out has {len(held_out)} samples; at least 2 are needed to verify anything."
            )
    if control is not None:
        reinitialised(model, seed=0)


def check_request(action: Any, output_action: Any, seed: Any) -> None:
    """Raise `ArgumentError` for actions that are none, and for a seed out of range."""
    if not isinstance(action, Action) or not isinstance(output_action, Action | None):
        raise ArgumentError(
            "action and output_action must be actions, for example liegg.Linear(3), liegg.Affine(3, copies=20) or liegg.Image(), "
            "with the brackets."
        )
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed}: expected a whole number from 0 to 2^63 - 1.")
