r"""Solutions of $F(hx) = F(x)$ near many starts, by Levenberg–Marquardt over the matrices $h$.

For $h$ near a symmetry the derivative of $F(e^{E} h x) - F(x)$ in $E$ is the polarization row taken at $hx$, so the rows of the
continuous problem are the Jacobian here. Steps are $h \leftarrow e^{E} h$: they never lose rank and stay in their component of GL(n).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.levenberg_marquardt import Schedule, descend
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.starts import OUTPUT_COMBINATIONS, Moments
from liegg.polarization.output_sketch import Outputs, combine
from liegg.polarization.plan import Plan
from liegg.polarization.rows import plan, polarize

FIRST_STEPS, LAST_STEPS = 14, 60
"""Levenberg–Marquardt steps on a few samples, and on all of them for the starts that are left."""

SURVIVORS = 40
"""Starts that are polished to the end."""

FIRST_SAMPLES, LAST_SAMPLES = 64, 256
"""Samples of the first and of the last steps; at least four equations per unknown."""

LARGEST_ELEMENT_CONDITION = 1e4
"""Largest condition number of an element in the data's own coordinates."""

FARTHEST = 4.0
"""Largest ratio of the size of moved samples and of samples, in the data's own coordinates, either way."""

PROMISING = 0.2
"""Squared residual over the variance up to which a solution is looked at."""

SAME_SOLUTION = 0.02
"""Distance of moved samples, in multiples of the data's size, within which two solutions are one."""

POLISHING = Schedule(
    steps=LAST_STEPS,
    longest=0.7,
    damping=0.1,
    less=0.2,
    more=4.0,
    stuck=1e9,
    done=1e-30,
    small_gain=1e-3,
    patience=4,
)
"""Damping and stopping; the longest step is in multiples of the data's size."""

POLISHED_AT_ONCE = 2**14
"""Moved samples per call of the model."""


class Solutions(NamedTuple):
    """Where the starts arrived.

    Attributes:
        h: the matrices.
        cost: squared residuals over the variance.
    """

    h: Float[Tensor, "s n n"]
    cost: Float[Tensor, " s"]

    def rows(self, places: Int[Tensor, " k"]) -> "Solutions":
        """Some of the solutions."""
        return Solutions(self.h[places], self.cost[places])


@dataclass(frozen=True, eq=False)
class Residual:
    r"""$F(hx) - F(x)$ over samples, or $F(hx) - G F(x)$ with the best $G$, and its derivative in $h$.

    Attributes:
        setting: model and samples.
        space: what the matrices act on.
        plan: how rows are computed; with an output action each output has rows of its own.
        samples: number of search samples that are used.
    """

    setting: Setting
    space: VectorSpace
    plan: Plan
    samples: int

    @cached_property
    def x(self) -> Float[Tensor, "b ..."]:
        """The samples."""
        return self.setting.search.x[: self.samples].double()

    @cached_property
    def metric(self) -> Float[Tensor, "g g"]:
        """How far each direction moves the samples."""
        action = self.space.action
        displacement = action.displacement(action.moment(self.x), len(self.x))
        identity = torch.eye(displacement.repeat, dtype=torch.float64)
        matrix = torch.kron(identity, displacement.block.cpu().double())
        return matrix + 1e-12 * matrix.diagonal().mean() * torch.eye(len(matrix)).double()

    @cached_property
    def _output_basis(self) -> Float[Tensor, "m r"] | None:
        """An orthonormal basis of the columns of the vectors of the outputs, for equivariance."""
        space = next((s for s in self.setting.output_spaces if isinstance(s, VectorSpace)), None)
        if space is None:
            return None
        y = self.setting.shaped(self.setting.search.y[: self.samples])
        vectors = space.factors(y).flatten(0, 1).cpu()
        left, values, _ = torch.linalg.svd(vectors, full_matrices=False)
        return left[:, values > 1e-10 * values[0]]

    def __call__(
        self, h: Float[Tensor, "s n n"]
    ) -> tuple[Float[Tensor, "s m"], Float[Tensor, "s m g"]]:
        """Residuals of every start, over the output's spread, and their derivatives."""
        question = self.setting.search
        values, slopes = [], []
        scale = question.variance**0.5
        for some in h.split(max(1, POLISHED_AT_ONCE // len(self.x))):
            moved = self.space.apply_all(some, self.x).flatten(0, 1).to(question.x.dtype)
            slope, y = polarize(question.model, self.space.action, moved, self.plan)
            gap = y.double() - question.y[: self.samples].repeat(len(some), 1)
            gap = combine(gap[None], self.plan.outputs, seed=self.plan.seed)[0]
            values.append((gap / scale).reshape(len(some), -1).cpu())
            slopes.append((slope / scale).reshape(len(some), -1, slope.shape[-1]).cpu())
        residual = torch.cat(values).nan_to_num(nan=1e150, posinf=1e150, neginf=-1e150)
        jacobian = torch.cat(slopes).nan_to_num(0.0, 0.0, 0.0)
        return self._without_output(residual), self._without_output(jacobian)

    def _without_output(self, values: Tensor) -> Tensor:
        """Values with the output's own matrix eliminated, which is a projection over the samples."""
        basis = self._output_basis
        if basis is None:
            return values
        split = values.reshape(len(values), len(basis), values.shape[1] // len(basis), -1)
        inside = torch.einsum("mr,smwg->srwg", basis, split)
        return (split - torch.einsum("mr,srwg->smwg", basis, inside)).reshape(values.shape)


def solve(
    setting: Setting, space: VectorSpace, moments: Moments, starts: Float[Tensor, "s n n"]
) -> Solutions:
    """Solutions near the starts, best first and without repeats: all starts on a few samples, then the best on all of them.

    Args:
        setting: model and samples.
        space: what the matrices act on.
        moments: the data's own coordinates.
        starts: invertible matrices.
    """
    question = setting.search
    outputs: Outputs = "each"
    if not setting.output_spaces and question.y.shape[1] > OUTPUT_COMBINATIONS:
        outputs = OUTPUT_COMBINATIONS
    made = plan(question.model, space.action, question.x, outputs=outputs)
    rows = question.y.shape[1] if outputs == "each" else OUTPUT_COMBINATIONS
    needed = 4 * space.action.size // rows
    counts = max(FIRST_SAMPLES, needed // 2), max(LAST_SAMPLES, needed)
    first, last = (Residual(setting, space, made, min(len(question.x), n)) for n in counts)
    early = _selected(polish(first, starts, FIRST_STEPS), space, moments)
    if not len(early.h):
        return early
    return _selected(polish(last, early.h[:SURVIVORS], LAST_STEPS), space, moments)


def _selected(solutions: Solutions, space: VectorSpace, moments: Moments) -> Solutions:
    """Solutions that keep the data where the model was seen and do not lose a dimension, best first and without repeats."""
    n, (root, inverse) = len(moments.moment), moments.roots
    linear = solutions.h[:, :n, :n]
    sizes = torch.linalg.svdvals((inverse @ linear @ root).nan_to_num(0.0, 0.0, 0.0))
    good = (
        torch.isfinite(solutions.cost)
        & (solutions.cost < PROMISING)
        & (sizes[:, 0] < LARGEST_ELEMENT_CONDITION * sizes[:, -1])
        & (sizes[:, -1] > 1e-3)
        & (sizes.square().mean(1).sqrt() < FARTHEST)
    )
    moved, still = (linear @ root).flatten(1), root.flatten()
    if space.homogeneous:
        ends = linear @ moments.mean + solutions.h[:, :n, n]
        good &= ((ends - moments.mean) @ inverse).norm(dim=1) / n**0.5 < FARTHEST
        moved, still = torch.cat([moved, ends], dim=1), torch.cat([still, moments.mean])
    size = float(moments.moment.diagonal().sum().sqrt())
    places = good.nonzero()[:, 0]
    kept: list[int] = []
    for i in places[solutions.cost[places].argsort()].tolist():
        known = torch.stack([still, *moved[kept]])
        if float((known - moved[i]).norm(dim=1).min()) > SAME_SOLUTION * size:
            kept.append(i)
    return solutions.rows(torch.tensor(kept, dtype=torch.int64))


def polish(residual: Residual, starts: Float[Tensor, "s n n"], steps: int) -> Solutions:
    """Take every start downhill, in steps that are no longer than a share of the data's size.

    Args:
        residual: what is to vanish.
        starts: invertible matrices.
        steps: most steps.
    """
    metric = residual.metric
    # The metric of all matrix entries together is n times the data's squared size.
    size = float(metric.diagonal().sum() / max(1, round(len(metric) ** 0.5))) ** 0.5

    def move(h: Tensor, step: Tensor) -> Tensor:
        return torch.linalg.matrix_exp(residual.space.action.matrices(step)) @ h

    schedule = POLISHING._replace(steps=steps, longest=POLISHING.longest * size)
    return Solutions(*descend(starts, lambda h, _: residual(h), move, schedule, metric=metric))
