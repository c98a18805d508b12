r"""Levenberg–Marquardt over a matrix group, for many starts at once.

For $h$ near a symmetry the derivative of $F(e^{E} h x) - F(x)$ in $E$ is the polarization row taken at $hx$, so the rows of the
continuous problem are the Jacobian here. Steps are $h \leftarrow e^{E} h$: they never lose rank and stay in their component of GL(n).
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.setting import Setting
from liegg.polarization.output_sketch import combine
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize

FIRST_DAMPING, LESS, MORE = 0.1, 0.2, 4.0
"""Damping of the first step, relative to the mean sensitivity, and its factors after a good and after a bad step."""

LONGEST = 0.7
"""Longest step, in multiples of the data's size."""

STUCK = 1e9
"""Damping at which a start is given up."""

DONE = 1e-30
"""Squared residual over the variance below which nothing is left to gain."""

AT_ONCE = 2**14
"""Moved samples per call of the model."""


class Solutions:
    """Where the starts arrived."""

    def __init__(self, h: Float[Tensor, "s n n"], cost: Float[Tensor, " s"]):
        self.h, self.cost = h, cost


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
    def _output_vectors(self) -> tuple[Tensor, Tensor] | None:
        """Vectors of the outputs and an orthonormal basis of their columns, for equivariance."""
        spaces = [s for s in self.setting.output_spaces if isinstance(s, VectorSpace)]
        if not spaces:
            return None
        y = self.setting.shaped(self.setting.search.y[: self.samples])
        vectors = spaces[0].vectors(y).flatten(0, 1).cpu()
        if spaces[0].homogeneous:
            vectors = pad(vectors, (0, 1), value=1.0)
        left, values, _ = torch.linalg.svd(vectors, full_matrices=False)
        return left[:, values > 1e-10 * values[0]], vectors

    def __call__(
        self, h: Float[Tensor, "s n n"], *, rows: bool = True
    ) -> tuple[Float[Tensor, "s m"], Float[Tensor, "s m g"] | None]:
        """Residuals of every start, over the output's spread, and their derivatives."""
        values, slopes = [], []
        room = max(1, AT_ONCE // len(self.x))
        scale = self.setting.search.variance**0.5
        for some in h.split(room):
            moved = self.space.apply_all(some, self.x).flatten(0, 1)
            moved = moved.to(self.setting.search.x.dtype)
            target = self.setting.search.y[: self.samples].repeat(
                len(some), *[1] * (self.setting.search.y.ndim - 1)
            )
            model = self.setting.search.model
            if rows:
                slope, y = polarize(model, self.space.action, moved, self.plan)
                slopes.append((slope / scale).unflatten(0, (len(some), -1)).flatten(1, 2).cpu())
            else:
                y = model(moved)
            gap = combine((y.double() - target)[None], self.plan.outputs, seed=self.plan.seed)[0]
            values.append((gap / scale).unflatten(0, (len(some), -1)).flatten(1, 2).cpu())
        residual = torch.cat(values).nan_to_num(nan=1e150, posinf=1e150, neginf=-1e150)
        jacobian = torch.cat(slopes).nan_to_num(0.0, 0.0, 0.0) if rows else None
        return self._without_output(residual, jacobian)

    def _without_output(
        self, residual: Tensor, jacobian: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Residuals with the output's own matrix eliminated, which is a projection over the samples."""
        if self._output_vectors is None:
            return residual, jacobian
        basis = self._output_vectors[0]
        rows, width = len(basis), residual.shape[1] // len(basis)

        def project(values: Tensor) -> Tensor:
            split = values.reshape(len(values), rows, width, -1)
            inside = torch.einsum("mr,smwg->srwg", basis, split)
            return (split - torch.einsum("mr,srwg->smwg", basis, inside)).reshape(values.shape)

        return project(residual), None if jacobian is None else project(jacobian)


def polish(residual: Residual, starts: Float[Tensor, "s n n"], iterations: int) -> Solutions:
    """Take every start downhill.

    Args:
        residual: what is to vanish.
        starts: invertible matrices.
        iterations: most steps.
    """
    h, count = starts.clone(), len(starts)
    values, rows = residual(h)
    cost = values.square().mean(1)
    damping = torch.full((count,), FIRST_DAMPING, dtype=torch.float64)
    metric = residual.metric
    active = torch.isfinite(cost) & (cost < 1e100)
    slow = torch.zeros(count, dtype=torch.int64)
    for _ in range(iterations):
        places = active.nonzero()[:, 0]
        if not len(places):
            break
        step = _step(values[places], rows[places], metric, damping[places])  # pyright: ignore[reportOptionalSubscript]
        motion = residual.space.action.matrices(step)
        trial = torch.linalg.matrix_exp(motion) @ h[places]
        new_values, new_rows = residual(trial)
        new_cost = new_values.square().mean(1)
        better = new_cost < cost[places]
        gain = 1 - new_cost / cost[places].clamp_min(1e-300)
        won = places[better]
        h[won], cost[won] = trial[better], new_cost[better]
        values[won], rows[won] = new_values[better], new_rows[better]  # pyright: ignore[reportOptionalSubscript]
        damping[places] = torch.where(better, damping[places] * LESS, damping[places] * MORE)
        damping.clamp_(min=1e-12)
        slow[places] = torch.where(better & (gain < 1e-3), slow[places] + 1, 0)
        active[places] = (cost[places] > DONE) & (damping[places] < STUCK) & (slow[places] < 4)
    return Solutions(h, cost)


def _step(
    values: Float[Tensor, "s m"],
    rows: Float[Tensor, "s m g"],
    metric: Float[Tensor, "g g"],
    damping: Float[Tensor, " s"],
) -> Float[Tensor, "s g"]:
    """Damped least squares steps, none longer than a share of the data's size."""
    square = rows.mT @ rows
    right = (rows.mT @ values[..., None])[..., 0]
    sensitivity = square.diagonal(dim1=1, dim2=2).sum(1) / metric.diagonal().sum()
    shift = (damping * sensitivity).clamp_min(1e-290)[:, None, None] * metric
    step, info = torch.linalg.solve_ex(square + shift, -right[..., None])
    step = torch.where((info == 0)[:, None, None], step, 0.0)[..., 0].nan_to_num(0.0, 0.0, 0.0)
    length = torch.einsum("sg,gh,sh->s", step, metric, step).clamp_min(0).sqrt()
    # The metric of all matrix entries together is n times the data's squared size.
    size = (metric.diagonal().sum() / max(1, round(metric.shape[0] ** 0.5))).sqrt()
    return step * (LONGEST * size / length.clamp_min(1e-300)).clamp(max=1.0)[:, None]
