"""Surfaces of data: circles, spheres and mass shells, whatever the density on them."""

from typing import Any

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.errors import ArgumentError
from liegg.discovery.data.support import fit_surface


def _sphere(n: int, count: int = 400) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(count, n, generator=generator, dtype=torch.float64)
    return x / x.norm(dim=1, keepdim=True)


def _found(x: torch.Tensor, **options: Any) -> liegg.Symmetries:
    return liegg.discover_data(x, liegg.Linear(x.shape[1]), question="support", **options)


@pytest.mark.parametrize(("n", "name"), [(2, "so(2)"), (3, "so(3)")])
def test_spheres_have_all_rotations_whatever_the_density(n: int, name: str) -> None:
    x = _sphere(n)
    for part in (x, x[x[:, 0] > 0.1]):
        sym = _found(part)
        assert sym.name == name
        assert sym.distribution is None
        assert sym.settings["question"] == "support"
        assert sym.settings["degree"] == 2
        assert "surface of the data" in str(sym.sentence)
        assert "output" not in str(sym.sentence)


def test_massless_particles_have_the_lorentz_group_and_scalings() -> None:
    momenta = 2 * data_set("lognormal", 800) - 1.5
    x = torch.cat([momenta.norm(dim=1, keepdim=True), momenta], 1)
    sym = _found(x)
    assert sym.name == "so(1,3) ⊕ R"
    assert sym.nullity == 7


def test_the_distance_is_that_of_the_noise() -> None:
    x = _sphere(2, 4000)
    noise = torch.randn(4000, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    surface = fit_surface(x * (1 + 0.02 * noise), seed=0)
    size = surface.features.unit
    assert float(surface.distances[0]) * size == pytest.approx(0.02, rel=0.1)


def test_data_that_fills_the_space_has_no_surface() -> None:
    for kind in ("gaussian", "cube"):
        with pytest.raises(ArgumentError, match="question='density'"):
            _found(data_set(kind, 1000))


def test_arguments_of_the_density_are_refused() -> None:
    with pytest.raises(ArgumentError, match="functions= is for"):
        _found(_sphere(2), functions=16)
