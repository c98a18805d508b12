"""What the image studies share: classifiers trained and read, and the numbers that are kept of them."""

from typing import Any

import pytest
import torch
from torch import nn

import liegg
from liegg.actions.grid.coordinates import coordinates
from liegg.studies import datasets, ensemble, images


class Rings(nn.Module):
    """Invariant under rotations by construction: means over rings, through a fixed random layer."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        radius = coordinates((20, 20)).norm(dim=1)
        self.rings = torch.stack(
            [torch.exp(-((radius - r) ** 2) / 0.045) for r in (0.0, 0.25, 0.5)], 1
        )
        self.mix = torch.randn(3, 4, generator=generator, dtype=torch.float64) / 10

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x @ self.rings @ self.mix) + 0.1


def bumps(count: int) -> torch.Tensor:
    """Images of a few wide bells inside the picture, flat."""
    generator = torch.Generator().manual_seed(1)
    place = coordinates((20, 20))
    centres = (torch.rand(count, 3, 1, 2, generator=generator, dtype=torch.float64) - 0.5) * 0.7
    heights = torch.randn(count, 3, 1, generator=generator, dtype=torch.float64)
    return (heights * torch.exp(-(place - centres).square().sum(-1) / 0.08)).sum(1)


def described() -> dict[str, dict[str, Any]]:
    """The invariant network, read in every way."""
    network, pictures = Rings(), bumps(400)

    def unit(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.normalize(network(x), dim=1)

    return {
        name: images.describe(
            liegg.discover(unit, pictures, images.action(scheme, (20, 20), frame), outputs=outputs)
        )
        for name, (scheme, outputs, frame) in images.READINGS.items()
    }


def test_an_invariant_network_is_read_as_such_in_every_way() -> None:
    found = described()
    for name, numbers in found.items():
        limit = (
            0.06 if name.startswith("paper") else 0.01
        )  # the paper's grid is half a pixel off centre
        assert numbers["bias"][0] < limit, name
        assert min(numbers["bias"][1:]) > 0.9, name
        assert numbers["variance"] == numbers["spectrum"][0]
        turn = torch.tensor(numbers["directions"][0])
        torch.testing.assert_close(
            turn, torch.tensor([[0.0, -1.0], [1.0, 0.0]]) / 2**0.5, rtol=0, atol=limit
        )
    assert found["spectral, each"]["nullity"] == 1
    assert found["spectral, each"]["defects"][0] < 1e-4
    assert found["spectral, each"]["defect_bias"][0] < 0.01
    assert found["spectral, each"]["rotation_defect"] < 1e-4


def test_paper_variances_are_those_of_slopes_per_pixel() -> None:
    """The paper's slopes are per pixel, ours per half side: on smooth images the spectra differ by the square of that."""
    found = described()
    ratio = found["spectral, each"]["spectrum"][-1] / found["paper, each"]["spectrum"][-1]
    assert ratio == pytest.approx(10**2, rel=0.2)


def test_orientation_makes_every_matrix_rotate_counter_clockwise() -> None:
    turn = liegg.so(2)
    assert images.orientation(torch.cat([turn, -turn])).tolist() == [1.0, -1.0]


def some_data() -> datasets.ImageSets:
    labels = torch.arange(60) % 3
    pictures = liegg.actions.smooth(
        torch.rand(60, 6, 6, generator=torch.Generator().manual_seed(0)), 1.0
    )
    parts = (slice(None), slice(20), slice(20, None))
    return datasets.ImageSets(*(datasets.Labelled(pictures[part], labels[part]) for part in parts))


def members(epochs: int) -> list[ensemble.Member]:
    return [ensemble.Member((36, width, 3), seed, 60, epochs) for seed, width in ((3, 5), (4, 7))]


def test_untrained_networks_are_those_that_training_starts_from() -> None:
    still = ensemble.Schedule(rate=1e-30)  # a step that changes nothing
    trained = ensemble.train(members(1), images.classification(some_data()), still)
    before = images.untrained(members(1), "cpu")
    for a, b in zip(trained.stack.weights, before.weights, strict=True):
        assert torch.equal(a, b)


def test_rows_hold_each_network_after_and_before_training() -> None:
    pictures = some_data()
    trained = ensemble.train(members(5), images.classification(pictures), images.SCHEDULE)
    one = {"paper, sum": images.READINGS["paper, sum"]}
    rows = images.describe_both(
        members(5), trained, pictures.train.images, pictures.test, readings=one
    )
    after = images.describe_all(trained.stack, pictures.train.images, pictures.test, one)
    before = images.describe_all(
        images.untrained(members(5), "cpu"), pictures.train.images, pictures.test, one
    )
    for row, now, was, score, epoch in zip(
        rows, after, before, trained.score, trained.epoch, strict=True
    ):
        assert row["untrained"] == was
        assert row["trained"] == now | {
            "validation_accuracy": float(score),
            "best_epoch": int(epoch),
        }
    assert rows[0]["trained"]["readings"] != rows[0]["untrained"]["readings"]


def test_pictures_may_be_new_in_every_epoch() -> None:
    pictures, asked = some_data(), []

    def turned(epoch: int) -> torch.Tensor:
        asked.append(epoch)
        return pictures.train.images.rot90(epoch, (1, 2))

    ensemble.train(members(3), images.classification(pictures, turned), images.SCHEDULE)
    assert asked == [1, 2, 3]
