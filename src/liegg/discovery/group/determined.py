"""Continuous symmetries of data in a subspace: which finite motions they stand for.

Where samples lie in a subspace, a direction is known only up to directions that do not move them. Motions inside the subspace do not
depend on the choice. Motions that leave it do: of the rotations about an axis in the plane of the samples and the shear that
begins alike, only one may be a symmetry.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.exact_motions import random_motions
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.measure import Directions
from liegg.polarization.rows import plan, polarize

DETERMINING_SAMPLES = 64
"""Samples that are moved."""

DETERMINING_MOTIONS = 6
"""Random motions out of the subspace."""

STILL_MIXTURES = 8
"""Random combinations of the directions that do not move the data, which show whether a motion leaves the subspace."""

STAYS = 1e-6
"""Relative velocity out of the subspace, or relative change of the output, up to which there is none; for exact directions of a
model in float64."""

MOVING = 1e-10
"""Share of the largest squared velocity at moved samples below which a direction does not move them, either."""

FOUND_AGAIN = 1e-3
"""Largest error of the part of a solution along the directions that were found."""


def determined(setting: Setting) -> Setting:
    """The same question with continuous symmetries whose finite motions are known.

    Unchanged where the samples span the space, or the symmetries stay inside their subspace. Of exact ones that leave it, the
    combinations with directions that do not move the data are taken that leave the output unchanged at moved samples, too; if there
    are none for all of them, or they are not exact, only the motions that stay inside are kept.
    """
    sym = setting.continuous
    if sym is None or not setting.directions:
        return setting
    found, still = setting.coefficients, sym.accumulated.solution.trivial.double().cpu()
    if not len(still) or not any(isinstance(one, VectorSpace) for one in setting.spaces):
        return setting
    still = orthonormal_rows(still)
    tolerance = max(STAYS, setting.uncertainty)
    staying = _staying(setting, found, still, tolerance)
    if len(staying) == len(found):
        return setting
    lifted = None if setting.inexact else _lifted(setting, found, still, tolerance)
    return replace(
        setting, representatives=lifted or Directions(staying, setting.partners(staying))
    )


def remark(setting: Setting) -> Remark | None:
    """What the finite motions are known by, or how many are not; None where the data determines them."""
    found, sym = setting.representatives, setting.continuous
    if found is None or sym is None or setting.local:
        return None
    given = sym.decision.exact if setting.exact_only else sym.nullity
    if len(found.h) < given:
        return Diagnosis.GROUP_LEAVES_DATA(count=given - len(found.h))
    return Diagnosis.GROUP_COMPLETED(count=len(sym.accumulated.solution.trivial))


def _staying(
    setting: Setting, found: Float[Tensor, "d g"], still: Float[Tensor, "s g"], tolerance: float
) -> Float[Tensor, "e g"]:
    """Combinations of directions that keep the samples in their subspace.

    There, and only there, the directions that do not move the samples do not move their velocities either.
    """
    action, x = setting.action, setting.search.x[:DETERMINING_SAMPLES].double()
    generator = torch.Generator().manual_seed(setting.seed)
    mixtures = torch.randn(
        min(STILL_MIXTURES, len(still)), len(still), generator=generator, dtype=torch.float64
    )
    mixed = orthonormal_rows(mixtures @ still).to(x.device)
    resting = action.tangents(mixed, x)
    leaving, sizes = [], []
    for velocity in action.tangents(found.to(x.device), x):
        # Both fields are linear in the sample, so that the difference is exact.
        leaving.append((action.tangents(mixed, x + velocity) - resting).flatten().cpu())
        sizes.append(float(velocity.norm()))
    return _kernel(torch.stack(leaving).mT, tolerance * max(sizes)) @ found


def _lifted(
    setting: Setting, found: Float[Tensor, "d g"], still: Float[Tensor, "s g"], tolerance: float
) -> Directions | None:
    """The directions, each with one that does not move the samples, that leave the output unchanged at moved samples, too.

    What moves a sample out of the subspace makes the other directions visible, so that their coefficients follow from the
    polarization rows there. None if they do not exist for all directions.
    """
    question, action = setting.search, setting.action
    whole = torch.cat([found, still])
    generator = torch.Generator().manual_seed(setting.seed)
    x = question.x[:DETERMINING_SAMPLES]
    h = question.spread * random_motions(question, found, DETERMINING_MOTIONS, generator)
    moved = action.act_all(h.to(x.device), x.double()).flatten(0, 1)
    rows, solve = _rows(setting, moved)
    velocities = action.tangents(whole.to(x.device), moved).flatten(1).cpu()
    sizes, axes = torch.linalg.eigh(velocities @ velocities.mT)
    moving = sizes > MOVING * sizes[-1]
    unit = axes[:, moving] / sizes[moving].sqrt()
    if not bool(torch.isfinite(rows).all()):
        return None
    columns = rows @ whole.mT @ unit
    kernel = _kernel(columns, tolerance * float(torch.linalg.matrix_norm(columns))) @ unit.mT
    # Combinations of the kernel whose part along the directions is each of them.
    own = kernel[:, : len(found)]
    combine = torch.linalg.pinv(own, rtol=tolerance)
    if float((combine @ own - torch.eye(len(found)).double()).abs().max()) > FOUND_AGAIN:
        return None
    h = combine @ kernel @ whole
    return Directions(h, None if solve is None else h @ solve.mT)


def _kernel(matrix: Float[Tensor, "m n"], most: float) -> Float[Tensor, "k n"]:
    """Orthonormal combinations of the columns whose length is at most a bound; the matrix may have many rows."""
    _, values, right = torch.linalg.svd(torch.linalg.qr(matrix, mode="r").R, full_matrices=True)
    kept = torch.ones(len(right), dtype=torch.bool)
    kept[: len(values)] = values <= most
    return right[kept]


def _rows(
    setting: Setting, moved: Float[Tensor, "b ..."]
) -> tuple[Float[Tensor, "m g"], Float[Tensor, "p g"] | None]:
    """Polarization rows at moved samples; for equivariance without what motions of the output explain, and these motions."""
    question, action = setting.search, setting.action
    outputs = question.output_action
    how = plan(question.model, action.row_action, question.x, output_action=outputs)
    moved = moved.to(question.x.dtype)
    rows, _ = polarize(question.model, action.row_action, moved, how, output_action=outputs)
    rows = action.project(rows.double().flatten(0, 1)).cpu()
    if outputs is None:
        return rows, None
    own, rows = rows[:, : outputs.size], rows[:, outputs.size :]
    solve = -torch.linalg.lstsq(own, rows, driver="gelsd").solution
    return rows + own @ solve, solve
