"""How an analysis runs: batches, processes, checkpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import Tensor

from liegg._utils.arguments import checked_fields
from liegg._utils.checks import check_seed
from liegg._utils.errors import ArgumentError
from liegg.decision.controls import CONTROL_DRAWS
from liegg.polarization.checkpoint import CHECKPOINT_SECONDS
from liegg.polarization.distributed import TIMEOUT_SECONDS
from liegg.polarization.plan import Route

Processes = Literal["all", "alone"]
Hidden = Literal["refuse", "warn", "ignore"]


@checked_fields
@dataclass(frozen=True, kw_only=True)
class Run:
    """How an analysis runs; an argument of `liegg.discover`. None of it changes what is asked of the model.

    Attributes:
        seed: of random combinations, bootstrap draws, controls and whatever a loader draws.
        groups: label of every sample, in the order of the data. Samples that belong together, such as augmented copies, share a
            label and stay together in the block bootstrap.
        batch_size: samples per batch if the data does not come in batches; None chooses by their size.
        route: forward (`"jvp"`) or reverse (`"vjp"`) derivatives, plain `"autograd"`, or the cheapest that works (`"auto"`).
            `"moved"` takes no derivative of the model: images, volumes and sequences are moved both ways along every candidate
            by a finite step (a pixel), and rows are the change of the output over twice the step.
            `"finite"`: finite differences along the candidates, two evaluations of every sample for each. Models without
            derivatives of their own, such as functions of numpy arrays, always take these.
        budget: for finite differences: most evaluations of a sample by the model. If all samples would take more, fewer are
            read, evenly spaced ones, and a note says so; see `liegg.polarization.finite.evaluations.expected`.
        bottom: solve only for this many of the smallest defects, which is cheaper for many thousands of
            candidates; the result says how accurate each is, and that the other directions are not known. None for all.
        control_draws: number of re-initialised models; None takes 19, with which a symmetry can be called learned at the 5 %
            level, or 5 if 19 take longer than half a minute and than five discoveries, or with a checkpoint or several processes.
        progress: called with the number of samples after each batch.
        about_progress: for `about`: called with the number of moved samples that the model has evaluated, and with how many are
            expected at most; at the end both are equal.
        verify_effort: for `held_out`: `"auto"` or `"full"`, as `effort` of `liegg.verify`.
        verify_progress: for `held_out`: called with the number of samples that the verification has evaluated, and with how many
            are expected at most; see `progress` of `liegg.verify`.
        checkpoint: file to which the state of the pass is written. If the process is killed and the same call is
            repeated, the pass resumes there and ends with the same numbers. Several processes, and re-initialised models, each
            have a file of their own. Earlier samples are read again, without the model, and must be the same. Ctrl-C and
            SIGTERM wait for the end of a batch to write it.
        checkpoint_every: seconds between two checkpoints, at least.
        processes: inside an initialised `torch.distributed` group, `"all"` processes call this together, each
            reads its share of the samples, and all get the same result; `"alone"` ignores the group.
        hidden: what happens if the output changes by more than its derivative shows (`.detach()`, `torch.no_grad`, rounding,
            look-ups, straight-through estimators): `"refuse"` raises an error, `"warn"` analyses the derivative as it is and says so,
            `"ignore"` does not look.
        timeout: seconds that a process which has read its share waits for the others; at the start at most two minutes.

    Raises:
        ArgumentError: a value makes no sense.
    """

    seed: int = 0
    groups: Tensor | np.ndarray | Sequence[Any] | None = field(default=None, compare=False)
    batch_size: int | None = None
    route: Literal["auto"] | Route = "auto"
    budget: int | None = None
    bottom: int | None = None
    control_draws: int | None = None
    progress: Callable[[int], object] | None = None
    about_progress: Callable[[int, int], object] | None = None
    verify_effort: Literal["auto", "full"] = "auto"
    verify_progress: Callable[[int, int], object] | None = None
    checkpoint: str | Path | None = None
    checkpoint_every: float = CHECKPOINT_SECONDS
    processes: Processes = "all"
    timeout: float = TIMEOUT_SECONDS
    hidden: Hidden = "refuse"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.bottom is not None and self.bottom < 1:
            raise ArgumentError(
                f"bottom={self.bottom}: expected how many of the smallest defects are wanted, for example bottom=20."
            )
        if self.budget is not None and (self.budget < 1 or self.route not in ("auto", "finite")):
            raise ArgumentError(
                f"budget={self.budget} with route={self.route!r}: expected a positive number of evaluations, for finite "
                "differences, for example Run(route='finite', budget=100_000)."
            )
        if self.control_draws is not None and self.control_draws < 2:
            raise ArgumentError(
                f"control_draws={self.control_draws}: expected at least 2, for example control_draws={CONTROL_DRAWS}."
            )
        for name, least, example in (
            ("checkpoint_every", 0, CHECKPOINT_SECONDS),
            ("timeout", 1e-9, TIMEOUT_SECONDS),
        ):
            value = getattr(self, name)
            if value < least:
                raise ArgumentError(
                    f"{name}={value!r}: expected a number of seconds, for example {name}={example:g}."
                )
