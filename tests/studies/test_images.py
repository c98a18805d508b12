"""What the image studies share: the readings of a classifier."""

import pytest
import torch
from torch import nn

import liegg
from liegg.studies import images


class Rings(nn.Module):
    """Invariant under rotations by construction: means over rings, through a fixed random layer."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        radius = liegg.actions.coordinates.coordinates((20, 20)).norm(dim=1)
        self.rings = torch.stack([torch.exp(-((radius - r) ** 2) / 0.045) for r in (0.0, 0.25, 0.5)], 1)
        self.mix = torch.randn(3, 4, generator=generator, dtype=torch.float64) / 10

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x @ self.rings @ self.mix) + 0.1


def bumps(count: int) -> torch.Tensor:
    """Images of a few wide bells inside the picture, flat."""
    generator = torch.Generator().manual_seed(1)
    place = liegg.actions.coordinates.coordinates((20, 20))
    centres = (torch.rand(count, 3, 1, 2, generator=generator, dtype=torch.float64) - 0.5) * 0.7
    heights = torch.randn(count, 3, 1, generator=generator, dtype=torch.float64)
    return (heights * torch.exp(-(place - centres).square().sum(-1) / 0.08)).sum(1)


def test_unit_logits_have_unit_length() -> None:
    network = images.UnitLogits(nn.Linear(4, 3))
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    out = network(x)
    torch.testing.assert_close(out.norm(dim=1), torch.ones(5))
    torch.testing.assert_close(out, network.network(x) / network.network(x).norm(dim=1, keepdim=True))


def test_an_invariant_network_is_read_as_such_in_every_way() -> None:
    found = images.read(Rings(), bumps(400), (20, 20))
    assert list(found) == list(images.READINGS)
    for name, numbers in found.items():
        limit = 0.06 if name.startswith("paper") else 0.01  # the paper's grid is half a pixel off centre
        assert numbers["bias"][0] < limit, name
        assert min(numbers["bias"][1:]) > 0.9, name
        assert numbers["variance"] == numbers["spectrum"][0]
        turn = torch.tensor(numbers["directions"][0])
        torch.testing.assert_close(turn, torch.tensor([[0.0, -1.0], [1.0, 0.0]]) / 2**0.5, rtol=0, atol=limit)
    assert found["spectral, each"]["nullity"] == 1
    assert found["spectral, each"]["defects"][0] < 1e-4
    assert found["spectral, each"]["defect_bias"][0] < 0.01
    assert found["spectral, each"]["rotation_defect"] < 1e-4


def test_paper_variances_are_those_of_slopes_per_pixel() -> None:
    """The paper's slopes are per pixel, ours per half side: on smooth images the spectra differ by the square of that."""
    found = images.read(Rings(), bumps(400), (20, 20))
    ratio = found["spectral, each"]["spectrum"][-1] / found["paper, each"]["spectrum"][-1]
    assert ratio == pytest.approx(10**2, rel=0.2)


def test_upright_makes_every_matrix_turn_counter_clockwise() -> None:
    turn = liegg.so(2)
    assert images.upright(torch.cat([turn, -turn])).tolist() == [1.0, -1.0]


def test_fresh_networks_are_those_that_training_starts_from() -> None:
    labels = torch.arange(12) % 3
    pictures = torch.rand(12, 2, 2, generator=torch.Generator().manual_seed(0))
    trained = images.train((4, 5, 3), lambda _: pictures, labels, (pictures, labels), [3, 4], epochs=0)
    for a, b in zip(trained.stack.weights, images.fresh((4, 5, 3), [3, 4], "cpu")[0].weights, strict=True):
        assert torch.equal(a, b)
