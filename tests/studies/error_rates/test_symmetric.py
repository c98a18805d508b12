"""Invariants: the algebra given with them is the complete algebra that preserves them, by finite differences and scipy."""

import numpy as np
import pytest
import scipy.linalg
import torch

from liegg.studies.error_rates.symmetric import (
    INVARIANT_KINDS,
    Invariants,
    determinants,
    inner_products,
    symplectic_products,
)


def null_space(chosen: Invariants) -> np.ndarray:
    """Affine generators, as rows of their first n rows flattened, along which no invariant changes at any of many points."""
    n = chosen.n
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, chosen.copies, n))
    columns = []
    for i in range(n):
        for j in range(n + 1):
            field = np.zeros_like(x)
            field[:, :, i] = x[:, :, j] if j < n else 1.0
            ends = [
                chosen.features(torch.from_numpy(x + step * field)).numpy()
                for step in (1e-5, -1e-5)
            ]
            columns.append(((ends[0] - ends[1]) / 2e-5).ravel())
    return scipy.linalg.null_space(np.stack(columns, axis=1), rcond=1e-7).T


@pytest.mark.parametrize("kind", INVARIANT_KINDS)
def test_nothing_but_the_algebra_preserves_the_invariants(kind: str) -> None:
    for seed in range(2):
        chosen = INVARIANT_KINDS[kind](torch.Generator().manual_seed(seed))
        n = chosen.n
        given = np.zeros((len(chosen.algebra), n, n + 1))
        given[:, :, : chosen.algebra.shape[-1]] = chosen.algebra[:, :n].numpy()
        found = null_space(chosen)
        assert len(found) == len(given)
        assert scipy.linalg.subspace_angles(found.T, given.reshape(len(given), -1).T).max() < 1e-6


def test_invariants_are_what_numpy_says() -> None:
    x = torch.from_numpy(np.random.default_rng(1).standard_normal((5, 4, 4)))
    assert determinants(x)[:, 0].numpy() == pytest.approx(np.linalg.det(x.numpy()))
    assert determinants(torch.cat([x, x[:, :1]], dim=1)).shape == (5, 5)
    form = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    pairs = x.numpy() @ form @ x.numpy().transpose(0, 2, 1)
    assert symplectic_products(x).numpy() == pytest.approx(
        np.stack([m[np.triu_indices(4, 1)] for m in pairs])
    )
    metric = np.diag([1.0, -1, -1, 1])
    pairs = x.numpy() @ metric @ x.numpy().transpose(0, 2, 1)
    signs = torch.tensor([1.0, -1, -1, 1])
    assert inner_products(signs)(x).numpy() == pytest.approx(
        np.stack([m[np.triu_indices(4)] for m in pairs])
    )
