"""Test functions: values and derivatives along candidates, against finite differences and closed forms."""

import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.polarization.test_functions import (
    as_test_functions,
    data_size,
    fourier_features,
    monomials,
)


@pytest.fixture
def x() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(40, 3, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("kind", ["fourier", "monomials", "callable"])
def test_rows_are_the_derivatives_along_the_candidates(kind: str, x: torch.Tensor) -> None:
    functions = {
        "fourier": lambda: fourier_features(x, 10, seed=0),
        "monomials": lambda: monomials(x, 3),
        "callable": lambda: as_test_functions(lambda y: y.sin() * y[:, :1], x),
    }[kind]()
    action = liegg.Linear(3)
    rows, step = functions.rows(action, x), 1e-5
    for index, field in enumerate(action.fields(x).transpose(0, 1)):
        ends = [functions.values(x + sign * step * field) for sign in (1, -1)]
        torch.testing.assert_close(
            rows[:, :, index], (ends[0] - ends[1]) / (2 * step), atol=1e-7, rtol=1e-6
        )
    block = torch.arange(40) % 3
    sums = functions.row_sums(action, x, block, 4)
    expected = torch.stack([rows[block == i].sum(0) for i in range(4)])
    torch.testing.assert_close(sums, expected)


def test_monomials_are_all_of_a_degree(x: torch.Tensor) -> None:
    functions = monomials(x, 2)
    assert functions.size == 9
    y = (x - functions.centre) / functions.unit
    torch.testing.assert_close(functions.values(x)[:, :3].sort(1).values, y.sort(1).values)
    products = [y[:, i] * y[:, j] for i in range(3) for j in range(i, 3)]
    torch.testing.assert_close(
        functions.values(x)[:, 3:].sort(1).values, torch.stack(products, 1).sort(1).values
    )


def test_frequencies_follow_the_units_of_the_data(x: torch.Tensor) -> None:
    one, other = fourier_features(x, 12, seed=3), fourier_features(1000 * x, 12, seed=3)
    torch.testing.assert_close(one.values(x), other.values(1000 * x))
    assert data_size(1000 * x) == pytest.approx(1000 * data_size(x))


def test_short_axes_have_frequencies_of_their_own(x: torch.Tensor) -> None:
    flat = x * torch.tensor([1.0, 1e-3, 1.0], dtype=torch.float64)
    changes = fourier_features(flat, 12, seed=0).frequencies.abs() @ flat.std(0).diag()
    assert bool((changes[:, 1] > 0.05).any())
    assert not bool((fourier_features(x * 0 + 1, 12, seed=0).frequencies.isnan()).any())


def test_filters_of_images_are_smooth_and_see_the_same_spread() -> None:
    images = torch.rand(50, 1, 12, 12, dtype=torch.float64)
    functions = fourier_features(images, 6, seed=0, grid=(1, 12, 12))
    filters = functions.frequencies.reshape(6, 12, 12)
    assert float(filters.diff(dim=1).square().mean()) < 0.8 * float(filters.square().mean())
    flat = images.flatten(1)
    spreads = ((flat - flat.mean(0)) @ functions.frequencies.mT).square().mean(0).sqrt()
    torch.testing.assert_close(spreads, torch.tensor([0.5, 1.0, 1.5] * 2).double())


@pytest.mark.parametrize("bad", ["cubes", 1.5, lambda y: None, lambda y: y[0]])
def test_other_functions_are_refused(bad: object, x: torch.Tensor) -> None:
    with pytest.raises(ArgumentError, match="functions"):
        as_test_functions(bad, x)
