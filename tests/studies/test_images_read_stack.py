"""Symmetries of many networks at once: `discover` on each of them alone is the oracle."""

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.errors import EmptyDataError, NonFiniteError, ShapeError
from liegg.studies import images as image_studies
from liegg.studies.ensemble import Stack, initialise

GREY, COLOR = (10, 10), (3, 8, 8)

READINGS: image_studies.Readings = {
    "paper, sum": ("paper", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
    "framed, each": ("spectral", "each", 1),
}

WIDTHS = ((9, 7), (5, 6), (9, 3))
"""Hidden widths of three networks; each but the first is padded."""

ROUNDING = 1e-5
"""A hundred units of float32: summed outputs nearly cancel."""


def networks(
    shape: tuple[int, ...], widths: Sequence[tuple[int, ...]] = WIDTHS, outputs: int = 6
) -> Stack:
    sizes = [(math.prod(shape), *hidden, outputs) for hidden in widths]
    return initialise(sizes, range(len(sizes)))


def images_of(count: int, shape: tuple[int, ...] = GREY) -> Tensor:
    """Smooth random images, flat."""
    noise = torch.randn(count, *shape, generator=torch.Generator().manual_seed(0))
    return liegg.actions.smooth(noise, 1.2).flatten(1)


def alone(stack: Stack, index: int, images: Tensor, shape: tuple[int, ...], name: str):
    """The result of `discover` for one network."""
    network = stack.network(index)
    scheme, outputs, frame = READINGS[name]
    action = liegg.Image("linear", derivative=scheme, shape=shape, frame=frame)
    return liegg.discover(
        lambda x: nn.functional.normalize(network(x), dim=1),
        images,
        action,
        outputs=outputs,
        controls="none",
    )


def gap(one: liegg.Symmetries, other: liegg.Symmetries) -> float:
    """Largest difference of the numbers of two results, relative to the largest of each kind."""

    def numbers(sym: liegg.Symmetries) -> list[Tensor]:
        rotation = liegg.so(2)
        return [
            sym.spectrum.values,
            sym.defects,
            sym.bias(rotation),
            sym.defect(rotation),
            sym.accumulated.displacement.dense(),
        ]

    pairs = zip(numbers(one), numbers(other), strict=True)
    return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-30)) for a, b in pairs)


def assert_read_alike(stack: Stack, images: Tensor, shape: tuple[int, ...], within: float) -> None:
    found = image_studies.read_stack(stack, images, shape, READINGS)
    assert [list(network) for network in found] == [list(READINGS)] * len(stack)
    for index, network in enumerate(found):
        for name, sym in network.items():
            known = alone(stack, index, images, shape, name)
            assert gap(sym, known) < within, (index, name)
            assert (sym.nullity, sym.samples, sym.accumulated.rows.rows) == (
                known.nullity,
                known.samples,
                known.accumulated.rows.rows,
            )
            assert repr(sym.action) == repr(known.action)


def test_reading_alike_can_fail() -> None:
    stack, images = networks(GREY), images_of(60)
    other = stack.with_leaves([leaf.flip(0) for leaf in stack.leaves])
    ours = image_studies.read_stack(other, images, GREY, READINGS)[0]["spectral, each"]
    assert gap(ours, alone(stack, 0, images, GREY, "spectral, each")) > 0.01


@pytest.mark.parametrize("shape", [GREY, COLOR], ids=["grey", "color"])
def test_networks_of_different_widths(shape: tuple[int, ...]) -> None:
    assert_read_alike(networks(shape), images_of(60, shape), shape, ROUNDING)


def test_networks_in_float64() -> None:
    stack, images = networks(GREY).to(dtype=torch.float64), images_of(60).double()
    assert_read_alike(stack, images, GREY, 1e-9)


def test_weights_that_require_gradients_are_left_alone() -> None:
    stack, images = networks(GREY, [(9, 7)]), images_of(9)
    leaves = [leaf.requires_grad_() for leaf in stack.leaves]
    assert_read_alike(stack, images, GREY, ROUNDING)
    assert all(leaf.requires_grad and leaf.grad is None for leaf in leaves)


def test_a_constant_network_among_others() -> None:
    stack, images = networks(GREY), images_of(60)
    for weight in stack.weights:
        weight[1] = 0.0
    constant = image_studies.read_stack(stack, images, GREY, READINGS)[1]["spectral, each"]
    assert (constant.nullity, constant.decision.undecided) == (0, 4)


def test_what_is_not_finite_is_named() -> None:
    stack, images = networks(GREY), images_of(60)
    stack.weights[1][2, 0, 0] = torch.nan
    with pytest.raises(NonFiniteError, match=r"logits\.2"):
        image_studies.read_stack(stack, images, GREY, READINGS)
    images[41, 5] = torch.inf
    with pytest.raises(NonFiniteError, match="41"):
        image_studies.read_stack(networks(GREY), images, GREY, READINGS)


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(EmptyDataError):
        image_studies.read_stack(networks(GREY), images_of(0), GREY, READINGS)
    with pytest.raises(ShapeError):
        image_studies.read_stack(networks(GREY), images_of(60), (9, 9), READINGS)
