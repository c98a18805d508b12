"""Traps of naming: matrices of a known algebra with noise, beside which another algebra lies close."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.algebra import catalog
from liegg.algebra.identify import identify
from liegg.studies.error_rates.cases import matches, normal, pick, uniform, unit
from liegg.studies.error_rates.symmetric import change_of_basis, conjugated
from liegg.studies.provenance import rounded

EXACT_NOISE = 1e-11
"""Noise below which a well-conditioned algebra should have its name, and surely."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NameTrap:
    """Matrices to be named.

    Attributes:
        matrices: generators with noise.
        names: right names, in which `*` stands for any text; none if no sure name is right.
        noise: relative error of each generator.
        stated: whether the noise is given to `identify`.
        homogeneous: whether the matrices are affine maps; None if that is not stated.
        easy: whether the name should be found where the noise is tiny.
        label: which algebra.
    """

    matrices: Float[Tensor, "d n n"]
    names: tuple[str, ...]
    noise: float
    stated: bool
    homogeneous: bool | None
    easy: bool = True
    label: str = ""


NameMaker = Callable[[torch.Generator, int], NameTrap]


NILPOTENT: dict[str, tuple[Tensor, tuple[str, ...]]] = {
    "two commuting shears": (unit(4, (0, 1), (2, 3)), ("R²",)),
    "two shears into one axis": (unit(3, (0, 1), (0, 2)), ("R²", "translation(2)")),
    "two offsets": (unit(6, (0, 2), (3, 5)), ("R²",)),
    "N and N²": (torch.stack([unit(3, (0, 1), (1, 2)).sum(0), unit(3, (0, 2))[0]]), ("R²",)),
    "scaling and a shear": (torch.cat([catalog.scaling(2), unit(2, (0, 1))]), ("R²",)),
    "two scalings": (catalog.diagonal(2), ("R²", "diagonal(2)", "so(1,1) ⊕ R")),
    "three shears": (unit(4, (0, 1), (0, 2), (0, 3)), ("R³", "translation(3)")),
    "heis(3)": (catalog.heis(3), ("heis(3)",)),
    "heis(5)": (catalog.heis(5), ("heis(5)",)),
}
"""Abelian and nilpotent algebras, with all right names."""

TWO_BLOCKS = ("two commuting shears", "two offsets")
"""Algebras of two blocks, as of a product of actions."""

CLASSICAL: dict[str, tuple[Tensor, tuple[str, ...]]] = {
    "aff(1)": (catalog.aff(1), ("aff(1)",)),
    "so(3)": (catalog.so(3), ("so(3)",)),
    "so(1,2)": (catalog.so(1, 2), ("so(1,2)",)),
    "so(1,3)": (catalog.so(1, 3), ("so(1,3)",)),
    "so(4)": (catalog.so(4), ("so(4)",)),
    "sl(2)": (catalog.sl(2), ("sl(2,R)", "sp(2,R)")),
    "sl(3)": (catalog.sl(3), ("sl(3,R)",)),
    "sp(4)": (catalog.sp(4), ("sp(4,R)",)),
    "su(2)": (catalog.su(2), ("su(2)",)),
    "se(2)": (catalog.se(2), ("se(2)",)),
    "se(3)": (catalog.se(3), ("se(3)",)),
    "so(2) ⊕ R": (
        torch.cat([catalog.so(2), catalog.scaling(2)]),
        ("so(2) ⊕ R", "gl(1,C)", "R²", "csim(2)"),
    ),
    "so(3) ⊕ so(2)": (catalog.direct_sum(catalog.so(3), catalog.so(2)), ("so(3) ⊕ so(2)",)),
}
"""Algebras whose neighbours have other names."""


def noisy(
    matrices: Float[Tensor, "d n n"],
    noise: float,
    generator: torch.Generator,
    *,
    homogeneous: bool = False,
    blocks: int = 1,
) -> Float[Tensor, "d n n"]:
    """Every matrix with a random error of a relative size.

    Args:
        matrices: exact generators.
        noise: relative size of the errors.
        generator: random generator.
        homogeneous: leave the last rows of affine maps zero.
        blocks: number of diagonal blocks of equal size that the errors stay in.
    """
    errors = torch.randn(matrices.shape, generator=generator, dtype=torch.float64)
    if homogeneous:
        errors[:, -1] = 0
    side = matrices.shape[-1] // blocks
    errors *= torch.block_diag(*[torch.ones(side, side, dtype=torch.float64)] * blocks)
    sizes = matrices.norm(dim=(1, 2), keepdim=True) / errors.norm(dim=(1, 2), keepdim=True)
    return matrices + noise * sizes * errors


def _drawn(
    table: dict[str, tuple[Tensor, tuple[str, ...]]], generator: torch.Generator, index: int
) -> NameTrap:
    label = list(table)[index % len(table)]
    matrices, names = table[label]
    affine = label.startswith(("se", "aff"))
    side = matrices.shape[-1] - affine
    blocks = 2 if label in TWO_BLOCKS and index // len(table) % 2 else 1
    if blocks == 1 and index // len(table) % 2:
        matrices = conjugated(matrices, change_of_basis(side, generator))
    mixing = torch.linalg.qr(normal(len(matrices), len(matrices), generator))[0]
    matrices = torch.einsum("ab,bij->aij", mixing, matrices)
    noise = pick((0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2), generator)
    return NameTrap(
        matrices=noisy(matrices, noise, generator, homogeneous=affine, blocks=blocks),
        names=names,
        noise=noise,
        stated=bool(torch.randint(2, (), generator=generator)) and noise > 0,
        homogeneous=affine or None,
        label=f"{label}, noise {noise:g}",
    )


def nilpotent(generator: torch.Generator, index: int) -> NameTrap:
    """Abelian and nilpotent algebras with noise: closure is blind to their neighbours."""
    return _drawn(NILPOTENT, generator, index)


def classical(generator: torch.Generator, index: int) -> NameTrap:
    """Classical algebras with noise."""
    return _drawn(CLASSICAL, generator, index)


FEW_CANDIDATES: dict[str, tuple[Tensor, Tensor, tuple[str, ...]]] = {
    "two commuting shears": (
        unit(4, (0, 1), (2, 3)),
        unit(4, (0, 1), (2, 3), (1, 1), (3, 3)),
        ("R²",),
    ),
    "two offsets": (unit(4, (0, 1), (2, 3)), unit(4, (0, 0), (0, 1), (2, 2), (2, 3)), ("R²",)),
    "three offsets": (
        unit(6, (0, 1), (2, 3), (4, 5)),
        unit(6, (0, 0), (0, 1), (2, 2), (2, 3), (4, 4), (4, 5)),
        ("R³",),
    ),
    "two shears into one axis": (
        unit(3, (0, 1), (0, 2)),
        unit(3, (0, 1), (0, 2), (0, 0), (1, 1), (2, 2)),
        ("R²", "translation(2)"),
    ),
}
"""Algebras found among few candidates, which the errors stay in: generators, candidates, names."""


def few_candidates(generator: torch.Generator, index: int) -> NameTrap:
    """Abelian algebras with errors only towards other candidates: an error looks like a bracket."""
    label = list(FEW_CANDIDATES)[index % len(FEW_CANDIDATES)]
    matrices, candidates, names = FEW_CANDIDATES[label]
    noise = pick((1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2), generator)
    weights = normal(len(matrices), len(candidates), generator)
    weights = noise * weights / weights.norm(dim=1, keepdim=True)
    found = matrices + torch.einsum("dk,kij->dij", weights, candidates)
    if index // len(FEW_CANDIDATES) % 2:
        turn = torch.linalg.qr(normal(matrices.shape[-1], matrices.shape[-1], generator))[0]
        found = turn.mT @ found @ turn
    return NameTrap(
        matrices=found,
        names=names,
        noise=noise,
        stated=bool(torch.randint(2, (), generator=generator)),
        homogeneous=None,
        label=f"{label}, noise {noise:g}",
    )


def stretched_names(generator: torch.Generator, index: int) -> NameTrap:
    """Rotations and boosts in coordinates of very different size: close to a contraction."""
    stretch = 10.0 ** uniform(1, 5, generator)
    kind = ("so(3)", "so(1,3)", "se(1,3)")[index % 3]
    algebra = {"so(3)": catalog.so(3), "so(1,3)": catalog.so(1, 3), "se(1,3)": catalog.se(1, 3)}[
        kind
    ]
    n = 3 if kind == "so(3)" else 4
    sizes = torch.ones(n, dtype=torch.float64)
    sizes[-1 if kind == "so(3)" else 0] = stretch
    noise = pick((0.0, 1e-9, 1e-6, 1e-3), generator)
    matrices = conjugated(algebra, sizes.diag())
    return NameTrap(
        matrices=noisy(matrices, noise, generator, homogeneous=kind.startswith("se")),
        names=(kind, "e(1,3)", "so(1,3) ⋉ R⁴") if kind == "se(1,3)" else (kind,),
        noise=noise,
        stated=index % 2 == 0 and noise > 0,
        homogeneous=kind.startswith("se"),
        easy=False,
        label=f"{kind}, {stretch:.0e} : 1, noise {noise:g}",
    )


def tiny_constants(generator: torch.Generator, index: int) -> NameTrap:
    """A structure constant that is tiny: known only where the noise is smaller."""
    size = 10.0 ** uniform(-8, -2, generator)
    if index % 2:
        matrices = unit(4, (0, 2), (0, 3), (1, 2))
        matrices[2, 0, 0] = size
        below, above, affine, label = ("R³",), ("Bianchi V",), False, "shears and a tiny scaling"
    else:
        turn = catalog.so(2)[0] + size * torch.eye(2, dtype=torch.float64)
        matrices = torch.cat([pad(turn[None], (0, 1, 0, 1)), catalog.translation(2)])
        below, above, affine = ("se(2)",), ("Bianchi VII (h = *)",), True
        label = "rotation with a tiny scaling"
    noise = pick((0.0, 0.1 * size, 10 * size), generator)
    return NameTrap(
        matrices=noisy(matrices, noise, generator, homogeneous=affine),
        names=above if noise < size else below if affine else (),
        noise=noise,
        stated=noise > 0,
        homogeneous=affine,
        easy=False,
        label=f"{label}, {size:.0e}, noise {noise:.0e}",
    )


def judge_name(trap: NameTrap) -> dict[str, Any]:
    """Name the matrices and judge the name."""
    found = identify(
        trap.matrices, uncertainty=trap.noise if trap.stated else None, homogeneous=trap.homogeneous
    )
    right = matches(found.name, trap.names) or any(
        matches(name, trap.names) for name in found.aliases
    )
    false = []
    if found.known and right:
        verdict = "right"
    elif found.known and found.confident:
        verdict = "confident wrong"
        why = f"the algebra is {trap.names[0]}" if trap.names else "the noise hides the algebra"
        false = [{"claim": "name", "level": "exact", "name": found.name, "why": why}]
    else:
        verdict = "missed" if trap.easy and trap.noise < EXACT_NOISE else "honest"
    return {
        "label": trap.label + (", stated" if trap.stated else ""),
        "verdict": verdict,
        "false": false,
        "decidable": trap.easy and trap.noise < EXACT_NOISE,
        "findable": len(trap.matrices),
        "expected": len(trap.matrices),
        "nullity": found.dimension,
        "name": found.name,
        "sure": found.confident,
        "margin": rounded(found.margin, 4),
        "uncertainty": rounded(found.uncertainty, 4),
    }


NAME_TRAPS: dict[str, NameMaker] = {
    "names: nilpotent and abelian": nilpotent,
    "names: few candidates": few_candidates,
    "names: classical": classical,
    "names: stretched": stretched_names,
    "names: tiny constants": tiny_constants,
}
