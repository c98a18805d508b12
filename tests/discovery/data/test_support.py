"""Surfaces of data: circles, spheres and mass shells, whatever the density on them."""

import math
from typing import Any

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis
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


def _draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _circle(count: int = 1000, turn: float = 2 * math.pi) -> torch.Tensor:
    angle = turn * _draw(count)
    return torch.stack([angle.cos(), angle.sin()], 1)


def test_all_equations_count_whatever_their_degrees() -> None:
    plane = torch.cat([_circle(), torch.ones(1000, 1).double()], 1)
    assert _found(plane).name == "so(2)"
    tilted = _found(_circle() @ data_set("gaussian", 2))
    assert tilted.nullity == 1
    v = _sphere(3)
    pairs = liegg.discover_data(
        torch.stack([v, -v], 1), liegg.Linear(3, copies=2), question="support"
    )
    assert pairs.nullity == 3
    u = 2 * _draw(1000, 1) - 1
    cubic = liegg.discover_data(torch.cat([u, u**2, u**3], 1), liegg.Affine(3), question="support")
    assert cubic.nullity == 2  # scalings and translations of the parameter


def test_multiples_of_an_equation_are_not_new() -> None:
    surface = fit_surface(torch.cat([_circle(), torch.ones(1000, 1).double()], 1), seed=0)
    assert len(surface.distances) == 2
    assert len(fit_surface(_sphere(3), seed=0).distances) == 1


def test_an_equation_that_holds_exactly_wins_over_a_lower_degree() -> None:
    arc = _circle(2000, 1.9)
    quartic = arc.sign() * arc.abs().sqrt()
    assert fit_surface(quartic, seed=0).degree == 4
    assert _found(quartic).nullity == 0
    two = torch.cat([arc[:1000], 2 * arc[1000:]])
    assert _found(two).name == "so(2)"
    assert _found(arc + 0.5).nullity == 0


def test_offsets_cost_no_accuracy() -> None:
    for offset in (5.0, 100.0, 1e4):
        assert float(fit_surface(_circle(turn=1.9) + offset, seed=0).distances[0]) < 1e-11
    sym = liegg.discover_data(_circle(turn=1.9) + 5, liegg.Affine(2), question="support")
    assert sym.words == ("rotation about the point (5.0, 5.0)",)
    assert sym.decision.exact == 1


@pytest.mark.parametrize("mass", [0.5, 1.0])
def test_a_mass_excludes_scalings(mass: float) -> None:
    momenta = data_set("gaussian", 1000)[:, :2]
    energy = (mass**2 + momenta.square().sum(1, keepdim=True)).sqrt()
    sym = _found(torch.cat([energy, momenta], 1))
    assert sym.name == "so(1,2)"
    assert sym.decision.exact == sym.nullity == 3


def test_noise_makes_no_verdict_sure() -> None:
    sym = _found(_circle(2000, 1.9) * (1 + 0.01 * data_set("gaussian", 2000)[:, :1]))
    assert Diagnosis.DATA_THICK_SURFACE in [one.diagnosis for one in sym.decision.warnings]
    assert str(Diagnosis.SURE()) not in str(sym.sentence).replace(
        str(Diagnosis.NAME_NOT_SURE()), ""
    )
    flat = torch.cat([_circle(), torch.ones(1000, 1).double()], 1)
    noisy = _found(flat + 0.01 * data_set("gaussian", 1000))
    assert noisy.nullity == 1


def test_thin_data_keeps_its_exact_surface() -> None:
    assert _found(_sphere(3, 1000) * torch.tensor([1, 1, 0.01])).nullity == 3


def test_clusters_on_a_circle_are_not_a_circle() -> None:
    angle = 2 * math.pi / 12 * (12 * _draw(3000)).floor()
    centres = torch.stack([angle.cos(), angle.sin()], 1)
    noise = data_set("gaussian", 3000, seed=1)[:, :2]
    for width in (0.02, 0.05):
        with pytest.raises(ArgumentError, match="density"):
            _found(centres + width * noise)
