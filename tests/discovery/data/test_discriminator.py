"""A discriminator against a Gaussian agrees with the test of the distribution where both apply."""

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.discovery.data.discriminator import keeping_the_reference

ROTATIONS = liegg.Linear(3).restrict(liegg.so(3))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("half shell", 1), ("shell", 3), ("cube", 0)])
def test_both_ways_find_the_same_rotations(kind: str, count: int) -> None:
    x = data_set(kind, 5000)
    sym = liegg.discover_data(x, ROTATIONS, question="discriminator")
    assert sym.nullity == count
    assert sym.settings["told_apart"] > 0.6
    assert "discriminator of the data" in str(sym.sentence)
    if count < 3:
        assert liegg.discover_data(x, ROTATIONS, functions=64).nullity == count


@pytest.mark.slow
def test_data_that_cannot_be_told_from_the_reference() -> None:
    with pytest.raises(ArgumentError, match="hardly more than chance"):
        liegg.discover_data(data_set("gaussian", 3000), ROTATIONS, question="discriminator")


def test_only_motions_that_keep_the_reference_are_asked_about() -> None:
    x = data_set("gaussian", 2000)
    assert keeping_the_reference(liegg.Linear(3), x, seed=0).size == 3
    assert keeping_the_reference(liegg.Affine(3), x + 2, seed=0).size == 3
    half = torch.cat([x[:, :2], x[:, 2:].abs()], 1)
    about = keeping_the_reference(liegg.Linear(3), half, seed=0)
    assert about.size == 1
    assert about.describe(torch.eye(1, dtype=torch.float64))[0].startswith("rotation")
    with pytest.raises(ArgumentError, match="rotations about the mean"):
        keeping_the_reference(liegg.Linear(2), x[:, :2] + 5, seed=0)


@pytest.mark.slow
def test_the_discriminator_of_half_a_gaussian_has_one_rotation() -> None:
    x = data_set("gaussian", 4000)
    half = torch.cat([x[:, :2], 1.5 * x[:, 2:].abs()], 1)
    sym = liegg.discover_data(half, liegg.Linear(3), question="discriminator")
    assert sym.name == "so(2)"


def test_large_samples_are_refused() -> None:
    with pytest.raises(ArgumentError, match="at most 256"):
        liegg.discover_data(torch.rand(200, 300), liegg.Linear(300), question="discriminator")


def test_what_the_network_smooths_over_is_not_claimed() -> None:
    eighth = 2 * torch.pi / 8 * torch.arange(8, dtype=torch.float64).repeat(400)
    centres = torch.stack([eighth.cos(), eighth.sin()], 1)
    for width in (0.02, 0.15):
        x = centres + width * data_set("gaussian", 3200)[:, :2]
        with pytest.raises(ArgumentError, match="not learned what tells"):
            liegg.discover_data(x, liegg.Linear(2), question="discriminator")


def test_held_out_samples_refute_what_was_learned() -> None:
    x = data_set("shell", 3000)[:, :2]
    other = torch.cat([x[:800, :1].abs(), x[:800, 1:]], 1)
    with pytest.raises(ArgumentError, match="held-out samples that are moved"):
        liegg.discover_data(x, liegg.Linear(2), question="discriminator", held_out=other)


def test_a_symmetry_that_was_not_learned_is_not_denied() -> None:
    """In eight dimensions the network hardly learns that a density depends on the radius alone."""
    generator = torch.Generator().manual_seed(0)
    radius = 0.5 + torch.rand(3000, 1, generator=generator, dtype=torch.float64)
    x = radius * torch.randn(3000, 8, generator=generator, dtype=torch.float64)
    sym = liegg.discover_data(x, liegg.Linear(8), question="discriminator")
    assert sym.nullity == 0
    assert sym.decision.undecided
    assert sym.decision.sentence.diagnosis is Diagnosis.UNDECIDED
