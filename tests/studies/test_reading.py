"""Symmetries of many networks at once: `discover` on each of them alone is the oracle."""

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import liegg
from liegg._utils.errors import EmptyDataError, NonFiniteError, ShapeError
from liegg._utils.forward_mode import jvp
from liegg.actions.grid.coordinates import coordinates
from liegg.studies import reading
from liegg.studies.ensemble import Stack, initialise

GREY, COLOUR = (10, 10), (3, 8, 8)

READINGS: reading.Readings = {
    "paper, sum": ("paper", "sum", 0),
    "paper, each": ("paper", "each", 0),
    "spectral, sum": ("spectral", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
    "framed, sum": ("spectral", "sum", 1),
    "framed, each": ("spectral", "each", 1),
}

WIDTHS = ((9, 7), (5, 6), (9, 3))
"""Hidden widths of three networks; none has the widest of both layers and no padding beside another."""


ROUNDING = 1e-5
"""A hundred units of float32: summed outputs nearly cancel, and `discover` takes their derivatives in reverse."""


def networks(
    shape: tuple[int, ...], widths: Sequence[tuple[int, ...]] = WIDTHS, outputs: int = 6
) -> Stack:
    sizes = [(math.prod(shape), *hidden, outputs) for hidden in widths]
    return initialise(sizes, [torch.Generator().manual_seed(seed) for seed in range(len(sizes))])


def pictures(count: int, shape: tuple[int, ...] = GREY, seed: int = 0) -> Tensor:
    """Smooth random pictures, flat."""
    noise = torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed))
    return liegg.smooth(noise, 1.2).flatten(1)


def alone(
    stack: Stack, index: int, images: Tensor, shape: tuple[int, ...], name: str
) -> liegg.Symmetries:
    """What `discover` finds for one network."""
    network = stack.network(index)
    scheme, outputs, frame = READINGS[name]
    action = liegg.Image("linear", derivative=scheme, shape=shape, frame=frame)
    return liegg.discover(
        lambda x: nn.functional.normalize(network(x), dim=1),
        images,
        action,
        outputs=outputs,
        controls=False,
    )


def gap(one: liegg.Symmetries, other: liegg.Symmetries) -> float:
    """Largest difference between the numbers of two results, relative to the largest of each kind."""

    def numbers(sym: liegg.Symmetries) -> list[Tensor]:
        turn = liegg.so(2)
        return [
            sym.spectrum.values,
            sym.defects,
            sym.bias(turn),
            sym.defect(turn),
            sym.accumulated.displacement.dense(),
            torch.tensor(sym.accumulated.solution.sensitivity),
            torch.tensor(sym.settings["noise"]),
        ]

    pairs = zip(numbers(one), numbers(other), strict=True)
    return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-30)) for a, b in pairs)


def assert_read_alike(stack: Stack, images: Tensor, shape: tuple[int, ...], within: float) -> None:
    found = reading.read_stack(stack, images, shape, READINGS)
    assert [list(network) for network in found] == [list(READINGS)] * len(stack)
    for index, network in enumerate(found):
        for name, sym in network.items():
            known = alone(stack, index, images, shape, name)
            assert gap(sym, known) < within, (index, name)
            assert (sym.nullity, sym.decision.undecided) == (
                known.nullity,
                known.decision.undecided,
            )
            known_warnings = tuple(
                w for w in known.decision.warnings if "linear" not in w and "output" not in w
            )
            assert (sym.decision.trivial, sym.decision.warnings) == (
                known.decision.trivial,
                known_warnings,
            )
            assert (sym.samples, sym.accumulated.rows.rows, repr(sym.action)) == (
                known.samples,
                known.rows,
                repr(known.action),
            )
            own = {
                "route",
                "batch_size",
                "noise",
                "nonlinearity",
            }  # noise was compared as a number; the stack does not measure it
            assert {k: v for k, v in sym.settings.items() if k not in own} == {
                k: v for k, v in known.settings.items() if k not in own
            }


def test_reading_alike_can_fail() -> None:
    stack, images = networks(GREY), pictures(60)
    other = stack.with_leaves([leaf.flip(0) for leaf in stack.leaves])
    ours = reading.read_stack(other, images, GREY, READINGS)[0]["paper, each"]
    assert gap(ours, alone(stack, 0, images, GREY, "paper, each")) > 0.01
    stack = Stack(
        stack.weights, stack.biases, stack.sizes[::-1]
    )  # whose networks are cut off where they are not padded
    with pytest.raises(AssertionError):
        assert_read_alike(stack, images, GREY, 1e-5)


@pytest.mark.parametrize("shape", [GREY, COLOUR], ids=["grey", "colour"])
def test_fresh_networks_of_different_widths(shape: tuple[int, ...]) -> None:
    assert_read_alike(networks(shape), pictures(60, shape), shape, ROUNDING)


def test_networks_that_learned_something() -> None:
    stack, images = networks(GREY), pictures(60)
    labels = images.square().sum(1).argsort().argsort() % 6
    leaves = [leaf.requires_grad_() for leaf in stack.leaves]
    optimiser = torch.optim.Adam(leaves, lr=0.02)
    losses = []
    for _ in range(40):
        loss = nn.functional.cross_entropy(
            stack(images.expand(len(stack), *images.shape)).flatten(0, 1), labels.repeat(len(stack))
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    assert_read_alike(stack, images, GREY, ROUNDING)
    assert all(leaf.requires_grad for leaf in leaves)


def test_networks_in_float64() -> None:
    stack, images = networks(GREY).to(dtype=torch.float64), pictures(60).double()
    assert_read_alike(stack, images, GREY, 1e-12)
    assert (
        reading.read_stack(stack, images, GREY, READINGS)[0]["paper, each"].settings["accumulator"]
        == "qr"
    )


@pytest.mark.parametrize(
    ("count", "accumulator"), [(3, "qr"), (5, "qr"), (8, "qr"), (9, "gram"), (25, "gram")]
)
def test_few_images(count: int, accumulator: str) -> None:
    stack, images = networks(GREY), pictures(count)
    assert_read_alike(stack, images, GREY, ROUNDING)
    assert (
        reading.read_stack(stack, images, GREY, READINGS)[0]["paper, sum"].settings["accumulator"]
        == accumulator
    )


def test_three_images_leave_a_direction_undecided() -> None:
    """Three rows of summed outputs cannot constrain four directions: the fourth is free exactly, in every batching."""
    for numbers in (1, 2**23):
        for network in reading.read_stack(
            networks(GREY), pictures(3), GREY, READINGS, numbers=numbers
        ):
            assert network["spectral, sum"].decision.undecided == 1
            assert network["spectral, sum"].defects[0] < 1e-28


@pytest.mark.parametrize("count", [7, 60])
@pytest.mark.parametrize("size", [1, 4, 59])
def test_the_batches_do_not_matter(count: int, size: int) -> None:
    stack, images = networks(GREY), pictures(count)
    numbers = size * (1 + 4) * 100  # 100 inputs are wider than three networks of 9
    whole, split = (
        reading.read_stack(stack, images, GREY, READINGS, numbers=some) for some in (2**23, numbers)
    )
    for one, other in zip(whole, split, strict=True):
        for name in READINGS:
            assert (one[name].settings["batch_size"], other[name].settings["batch_size"]) == (
                2048,
                size,
            )
            assert gap(other[name], one[name]) < ROUNDING
            assert other[name].nullity == one[name].nullity


def test_memory_counts_every_network() -> None:
    stack = networks((2, 2), [(9, 50)] * 8)
    found = reading.read_stack(
        stack, pictures(30, (2, 2)), (2, 2), {"one": ("paper", "sum", 0)}, numbers=5 * 8 * 50 * 3
    )
    assert found[0]["one"].settings["batch_size"] == 3


def test_padding_by_hand_changes_nothing() -> None:
    one, images = networks(GREY, [(9, 7)]), pictures(60)
    wide = (torch.zeros(1, 100, 12), torch.zeros(1, 12, 12), torch.zeros(1, 12, 6))
    for padded, weight in zip(wide, one.weights, strict=True):
        padded[:, : weight.shape[1], : weight.shape[2]] = weight
    biases = tuple(
        nn.functional.pad(bias, (0, w.shape[2] - bias.shape[2]))
        for w, bias in zip(wide, one.biases, strict=True)
    )
    found, known = (
        reading.read_stack(stack, images, GREY, READINGS)[0]
        for stack in (Stack(wide, biases, one.sizes), one)
    )
    for name in READINGS:
        assert gap(found[name], known[name]) < ROUNDING


def test_derivatives_are_those_of_the_stack_itself() -> None:
    stack, x = networks(GREY).to(dtype=torch.float64), pictures(4).double()
    tangents = torch.randn(
        3, 4, 100, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    y, slopes = reading.push(stack, x, tangents)
    for along, slope in zip(tangents, slopes.unbind(1), strict=True):
        known = jvp(lambda x: nn.functional.normalize(stack(x.expand(3, 4, 100)), dim=2), x, along)
        torch.testing.assert_close((y, slope), known)


def test_a_stack_invariant_by_construction() -> None:
    """Means over rings, through a random layer: the spectral reading finds the rotation, whatever the others find."""
    side = 20
    place = coordinates((side, side))
    radius = place.norm(dim=1)
    rings = torch.stack(
        [torch.exp(-((radius - r) ** 2) / 0.045) for r in (0.0, 0.25, 0.5)], 1
    ).float()
    generator = torch.Generator().manual_seed(0)
    mix = torch.randn(3, 4, generator=generator)
    blind = torch.randn(side**2, 3, generator=generator)
    centres = (torch.rand(200, 3, 1, 2, generator=generator) - 0.5) * 0.7
    heights = torch.randn(200, 3, 1, generator=generator)
    bells = (heights * torch.exp(-(place.float() - centres).square().sum(-1) / 0.08)).sum(1)
    biases = (torch.zeros(2, 1, 3), torch.ones(2, 1, 4))
    stack = Stack(
        (torch.stack([rings, blind]) / 10, torch.stack([mix, mix])), biases, ((side**2, 3, 4),) * 2
    )
    known, other = (
        found["spectral, each"]
        for found in reading.read_stack(stack, bells, (side, side), READINGS)
    )
    assert known.nullity == 1
    assert known.bias(liegg.so(2))[0] < 0.01
    assert known.defect(liegg.so(2))[0] < 1e-4 < 0.1 < other.defect(liegg.so(2))[0]


def test_a_constant_network_among_others() -> None:
    stack = networks(GREY)
    for weight in stack.weights:
        weight[1] = 0.0
    images = pictures(60)
    assert_read_alike(stack, images, GREY, ROUNDING)
    still = reading.read_stack(stack, images, GREY, READINGS)[1]["spectral, each"]
    assert (still.nullity, still.decision.undecided) == (0, 4)
    for bias in stack.biases:  # its logits are now 0, and have no length to be scaled to
        bias[1] = 0.0
    assert_read_alike(stack, images, GREY, ROUNDING)


def test_both_readings_of_the_outputs_share_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    push = reading.push
    monkeypatch.setattr(reading, "push", lambda *given: calls.append(1) or push(*given))
    reading.read_stack(networks(GREY), pictures(60), GREY, READINGS)
    assert len(calls) == 3  # paper, spectral, framed


def test_no_batch_waits_for_the_device() -> None:
    """Numbers that are read from a tensor make the host wait; how many are read must not depend on the batches."""

    class Reads(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.count += func is torch.ops.aten._local_scalar_dense.default
            return func(*args, **(kwargs or {}))

    counts = []
    for numbers in (2**23, 10 * 500):
        with Reads() as reads:
            reading.read_stack(networks(GREY), pictures(60), GREY, READINGS, numbers=numbers)
        counts.append(reads.count)
    assert counts[0] == counts[1] > 0


def test_results_can_be_saved(tmp_path) -> None:
    for count in (5, 60):
        sym = reading.read_stack(networks(GREY), pictures(count), GREY, READINGS)[2][
            "spectral, each"
        ]
        again = liegg.load(sym.save(tmp_path / str(count)))
        assert again.to_dict() == sym.to_dict()


@pytest.mark.parametrize("count", [5, 60])
@pytest.mark.parametrize("numbers", [1, 2**23])
def test_a_network_that_is_not_finite_is_named(count: int, numbers: int) -> None:
    stack = networks(GREY)
    stack.weights[1][2, 0, 0] = torch.nan
    with pytest.raises(
        NonFiniteError,
        match=r"^network 2 returned NaN or infinity for image 0\. Check it there, or remove",
    ):
        reading.read_stack(stack, pictures(count), GREY, READINGS, numbers=numbers)


@pytest.mark.parametrize("numbers", [7 * 500, 2**23])
def test_an_image_that_is_not_finite_is_named(numbers: int) -> None:
    images = pictures(60)
    images[41, 5] = torch.inf
    with pytest.raises(NonFiniteError, match=r"^network 0 returned NaN or infinity for image 41\."):
        reading.read_stack(networks(GREY), images, GREY, READINGS, numbers=numbers)


def test_a_derivative_that_is_not_finite_is_named() -> None:
    """The only pixel that the second network looks at is 0 in image 17, so its logits are, but not their slope."""
    images = pictures(60)
    images[:, 33] = 1e-20
    images[17, 33] = 0.0
    weight = torch.zeros(2, 100, 2)
    weight[0], weight[1, 33] = 1.0, 1e28
    biases = torch.tensor([[[1.0, 2.0]], [[0.0, 0.0]]])
    stack = Stack((weight,), (biases,), ((100, 2),) * 2)
    with pytest.raises(
        NonFiniteError,
        match=r"^the derivative of network 1 at image 17 is NaN or infinite, as it is where the",
    ):
        reading.read_stack(stack, images, GREY, READINGS)


def test_images_that_overflow_are_refused() -> None:
    stack = networks(GREY)
    stack.weights[0].mul_(1e-24)
    with pytest.raises(NonFiniteError, match="the squared motion of the data overflows"):
        reading.read_stack(stack, pictures(60) * 1e24, GREY, READINGS)


def test_no_images() -> None:
    with pytest.raises(EmptyDataError, match="there is no image to read the networks on"):
        reading.read_stack(networks(GREY), pictures(0), GREY, READINGS)


def test_images_of_another_shape() -> None:
    with pytest.raises(
        ShapeError,
        match=r"a sample has shape \(100,\); Image\(shape=\(9, 9\)\) expects that shape, or \(81,\)",
    ):
        reading.read_stack(networks(GREY), pictures(60), (9, 9), READINGS)
