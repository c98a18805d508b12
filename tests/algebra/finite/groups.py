"""Generators of known groups of matrices, for tests."""

import math

import numpy as np
import torch
from torch import Tensor

from liegg.algebra.finite.multiplication import generating_set


def plane(angle: float) -> Tensor:
    """A rotation of the plane, in degrees."""
    a = math.radians(angle)
    rows = [[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]
    return torch.tensor(rows, dtype=torch.float64)


def about(axis: tuple[float, float, float], angle: float) -> Tensor:
    """A rotation of space about an axis, in degrees."""
    x, y, z = (value / math.hypot(*axis) for value in axis)
    cross = torch.tensor([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=torch.float64)
    a = math.radians(angle)
    return torch.eye(3).double() + math.sin(a) * cross + (1 - math.cos(a)) * cross @ cross


def signs(*values: float) -> Tensor:
    """A diagonal matrix."""
    return torch.diag(torch.tensor(values, dtype=torch.float64))


PHI = (1 + math.sqrt(5)) / 2
INVERSION = signs(-1, -1, -1)
Z, X, DIAGONAL, FIVEFOLD = (0, 0, 1), (1, 0, 0), (1, 1, 1), (0, 1, PHI)

POINT_GROUPS = {
    "C₁": (1, []),
    "C_i": (2, [INVERSION]),
    "C_s": (2, [signs(1, 1, -1)]),
    "C₂": (2, [about(Z, 180)]),
    "C₃": (3, [about(Z, 120)]),
    "C₅": (5, [about(Z, 72)]),
    "C₈": (8, [about(Z, 45)]),
    "S₄": (4, [-about(Z, 90)]),
    "S₆": (6, [-about(Z, 120)]),
    "S₈": (8, [-about(Z, 45)]),
    "S₁₀": (10, [-about(Z, 72)]),
    "C₂h": (4, [about(Z, 180), signs(1, 1, -1)]),
    "C₃h": (6, [about(Z, 120), signs(1, 1, -1)]),
    "C₄h": (8, [about(Z, 90), signs(1, 1, -1)]),
    "C₅h": (10, [about(Z, 72), signs(1, 1, -1)]),
    "C₂v": (4, [about(Z, 180), signs(-1, 1, 1)]),
    "C₃v": (6, [about(Z, 120), signs(-1, 1, 1)]),
    "C₄v": (8, [about(Z, 90), signs(-1, 1, 1)]),
    "C₅v": (10, [about(Z, 72), signs(-1, 1, 1)]),
    "D₂": (4, [about(Z, 180), about(X, 180)]),
    "D₃": (6, [about(Z, 120), about(X, 180)]),
    "D₄": (8, [about(Z, 90), about(X, 180)]),
    "D₆": (12, [about(Z, 60), about(X, 180)]),
    "D₂d": (8, [-about(Z, 90), about(X, 180)]),
    "D₃d": (12, [-about(Z, 120), about(X, 180)]),
    "D₄d": (16, [-about(Z, 45), about(X, 180)]),
    "D₂h": (8, [about(Z, 180), about(X, 180), INVERSION]),
    "D₃h": (12, [about(Z, 120), about(X, 180), signs(1, 1, -1)]),
    "D₄h": (16, [about(Z, 90), about(X, 180), INVERSION]),
    "D₅h": (20, [about(Z, 72), about(X, 180), signs(1, 1, -1)]),
    "D₆h": (24, [about(Z, 60), about(X, 180), INVERSION]),
    "T": (12, [about(Z, 180), about(DIAGONAL, 120)]),
    "T_d": (24, [-about(Z, 90), about(DIAGONAL, 120)]),
    "T_h": (24, [about(Z, 180), about(DIAGONAL, 120), INVERSION]),
    "O": (24, [about(Z, 90), about(DIAGONAL, 120)]),
    "O_h": (48, [about(Z, 90), about(DIAGONAL, 120), INVERSION]),
    "I": (60, [about(FIVEFOLD, 72), about(DIAGONAL, 120)]),
    "I_h": (120, [about(FIVEFOLD, 72), about(DIAGONAL, 120), INVERSION]),
}
"""Order and generators of point groups, from the tables of crystallography."""

ABSTRACT = {
    "C_i": "C₂",
    "S₆": "C₆",
    "C₂h": "Z₂²",
    "C₄h": "C₄ × Z₂",
    "C₃v": "D₃",
    "D₂d": "D₄",
    "D₃d": "D₆",
    "D₂h": "Z₂³",
    "D₄h": "D₄ × Z₂",
    "D₆h": "D₆ × Z₂",
    "T": "A₄",
    "T_d": "S₄",
    "T_h": "A₄ × Z₂",
    "O": "S₄",
    "O_h": "S₄ × Z₂",
    "I": "A₅",
    "I_h": "A₅ × Z₂",
}
"""Abstract groups of some of them."""


def conjugated(matrices: Tensor, condition: float, seed: int) -> Tensor:
    """The matrices in other coordinates of a given condition number."""
    n = matrices.shape[1]
    generator = torch.Generator().manual_seed(seed)
    gauss = torch.randn(2, n, n, generator=generator, dtype=torch.float64)
    left, right = torch.linalg.qr(gauss).Q
    scale = torch.logspace(0, math.log10(condition), n, dtype=torch.float64)
    frame = left @ scale.diag() @ right
    return frame @ matrices @ torch.linalg.inv(frame)


def noisy(matrices: Tensor, size: float, seed: int) -> Tensor:
    """The matrices with a relative error of a given Frobenius norm."""
    generator = torch.Generator().manual_seed(seed)
    error = torch.randn(matrices.shape, generator=generator, dtype=torch.float64)
    scale = torch.linalg.matrix_norm(matrices) / torch.linalg.matrix_norm(error)
    return matrices + size * scale[:, None, None] * error


def is_group(table) -> bool:
    """Whether a table is that of a group with the identity first."""
    m = len(table)
    every = np.arange(m)
    if table.shape != (m, m) or not m or (table[0] != every).any() or (table[:, 0] != every).any():
        return False
    if (np.sort(table, 0) != every[:, None]).any() or (np.sort(table, 1) != every).any():
        return False
    # Light's test: associativity for the middle elements that generate the table suffices.
    return all((table[table[:, g]] == table[:, table[g]]).all() for g in generating_set(table))
