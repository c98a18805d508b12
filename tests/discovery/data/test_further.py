"""Directions that the first test functions miss, found out by functions that did not choose them."""

import math
from pathlib import Path

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis


def _polygon(sides: int, count: int, seed: int = 0) -> torch.Tensor:
    """Points that fill a regular polygon evenly."""
    generator = torch.Generator().manual_seed(seed)
    x = 2 * torch.rand(2 * count, 2, generator=generator, dtype=torch.float64) - 1
    half = math.pi / sides
    edge = math.cos(half) / torch.cos(torch.atan2(x[:, 1], x[:, 0]) % (2 * half) - half)
    return x[x.norm(dim=1) < edge][:count]


def _doubts(sym: liegg.Symmetries) -> list[Diagnosis]:
    return [one.diagnosis for one in sym.decision.warnings]


def _low(x: torch.Tensor) -> torch.Tensor:
    """All products of up to three numbers."""
    two = torch.einsum("bi,bj->bij", x, x).flatten(1)
    three = torch.einsum("bi,bj,bk->bijk", x, x, x).flatten(1)
    return torch.cat([x, two, three], 1)


def test_low_moments_do_not_make_a_sphere_of_a_cube() -> None:
    sym = liegg.discover_data(data_set("cube", 5000), liegg.Linear(3), functions=_low)
    assert sym.nullity == 0
    assert sym.decision.undecided == 3
    assert Diagnosis.DATA_FAILS_FURTHER in _doubts(sym)
    assert sym.sentence.diagnosis is Diagnosis.DATA_DOUBTED_FOR


def test_low_moments_of_a_sphere_still_tell() -> None:
    sym = liegg.discover_data(data_set("gaussian", 5000), liegg.Linear(3), functions=_low)
    assert sym.nullity == 3
    assert not sym.decision.warnings
    assert sym.distribution is not None
    assert len(sym.distribution.further) == 5  # the usual ones, and four finer


def test_an_octagon_is_not_a_disc(tmp_path: Path) -> None:
    sym = liegg.discover_data(_polygon(8, 5000), liegg.Linear(2))
    assert sym.nullity == 0
    assert sym.decision.undecided == 1
    assert Diagnosis.DATA_FAILS_FURTHER in _doubts(sym)
    assert sym.distribution is not None
    assert min(one.p_value for one in sym.distribution.further) < 1e-4
    loaded = liegg.load(sym.save(tmp_path / "run"))
    assert loaded.distribution is not None
    assert loaded.distribution.further == sym.distribution.further
    assert "further test functions" in str(loaded)


@pytest.mark.parametrize("sides", [8, 12])
def test_more_samples_tell_more_corners(sides: int) -> None:
    for seed in range(3):
        sym = liegg.discover_data(_polygon(sides, 20_000, seed), liegg.Linear(2))
        assert sym.nullity == 0
        assert Diagnosis.DATA_FAILS_FURTHER in _doubts(sym)


def test_a_disc_keeps_its_rotation_and_says_how_fine_it_looked() -> None:
    sym = liegg.discover_data(_polygon(400, 5000), liegg.Linear(2))
    assert sym.name == "so(2)"
    assert not sym.decision.warnings
    assert sym.distribution is not None
    waves = [one.wavelength for one in sym.distribution.further]
    assert waves == sorted(waves, reverse=True)
    # 7 waves per size of the data and 2 pi, in each of two coordinates.
    assert waves[-1] == pytest.approx(2 * math.pi / (7 * math.sqrt(2)), rel=0.1)


def test_many_narrow_sectors_of_labels_are_seen() -> None:
    x = _polygon(400, 8000)
    sector = (torch.atan2(x[:, 1], x[:, 0]) * 16 / (2 * math.pi)).floor() % 2
    sym = liegg.discover_data(x, liegg.Linear(2), labels=sector.long())
    assert sym.nullity == 0
