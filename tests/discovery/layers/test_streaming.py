"""One pass for all layers: bounded memory, the same whatever the pieces, and Gram matrices only where they are safe."""

import pytest
import torch
from torch import nn

import liegg
from cases import mlp, normal
from liegg._utils.errors import DeviceMemoryError
from liegg.discovery.layers import streaming


def found(model, x, **options):
    return liegg.discover_layers(model, x, liegg.Linear(x.shape[1]), **options)


@pytest.mark.parametrize("numbers", [500, 2**23])
def test_batches_are_split_to_bound_the_memory(numbers, monkeypatch):
    model, x, seen = mlp(3, 8, 4), normal(50, 3), []
    expected = found(model, x)
    monkeypatch.setattr(streaming, "LAYER_TANGENT_NUMBERS", {"cpu": numbers})
    ours = found(model, x, run=liegg.Run(progress=seen.append))
    assert max(seen) == {500: 500 // (10 * 8), 2**23: 50}[numbers]
    assert sum(seen) == 50
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(
            one.invariance.defects, other.invariance.defects, rtol=1e-9, atol=1e-25
        )


def test_tangents_made_in_pieces_are_the_same():
    action, x = liegg.Image("affine"), normal(7, 1, 5, 5)
    whole = action.tangents(torch.eye(6, dtype=x.dtype), x)
    room = torch.empty(0, dtype=x.dtype)
    for most in (1, 400, 2**23):
        room = streaming._tangents(action, x, room, most)
        torch.testing.assert_close(room, whole)
    assert (
        streaming._tangents(action, x[:3], room, 100).data_ptr() == room.data_ptr()
    )  # memory that was there


@pytest.mark.parametrize(
    ("dtype", "samples", "batch_size", "accumulator"),
    [
        (torch.float32, 60, None, "gram"),
        (
            torch.float32,
            60,
            10,
            "qr+gram",
        ),  # the first batch has fewer samples than twice the columns
        (torch.float32, 15, None, "qr"),
        (torch.float64, 60, None, "qr"),
    ],
)
def test_rows_are_squared_only_where_that_is_safe(dtype, samples, batch_size, accumulator):
    result = found(
        mlp(3, 8, 4, dtype=dtype),
        normal(samples, 3).to(dtype),
        run=liegg.Run(batch_size=batch_size),
    )
    assert len(result) == 3
    for layer in result:
        assert (
            layer.invariance.settings["accumulator"]
            == layer.unit.settings["accumulator"]
            == accumulator
        )


def test_few_samples_decide_nothing_in_any_layer():
    """With fewer samples than constraints null directions exist that every row satisfies, and only a QR keeps those exact."""

    class Norm(nn.Module):
        def forward(self, x):
            return x.norm(dim=1)

    few = found(nn.Sequential(Norm()), normal(5, 3).float())
    assert (few[0].invariance.nullity, few[0].invariance.decision.undecided) == (0, 4)


class Cramped(nn.Module):
    """A layer on a device that has memory for so many samples."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def forward(self, x):
        if len(x) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return x


@pytest.mark.parametrize(
    ("dtype", "outputs"),
    [(torch.float32, "each"), (torch.float64, "sum"), (torch.float32, 2)],
    ids=str,
)
def test_batches_that_do_not_fit_are_halved_and_counted_once(outputs, dtype):
    """The layers before the one that did not fit had seen the batch already."""
    net, x = list(mlp(3, 8, 4, dtype=dtype)), normal(300, 3).to(dtype)
    whole = found(
        nn.Sequential(*net[:2], nn.Identity(), *net[2:]),
        x,
        outputs=outputs,
        run=liegg.Run(batch_size=150),
    )
    halved = found(
        nn.Sequential(*net[:2], Cramped(40), *net[2:]),
        x,
        outputs=outputs,
        run=liegg.Run(batch_size=150),
    )
    said = (
        "the batches did not fit into the memory of the cpu: they were halved, down to 38 samples"
    )
    assert said in halved.notes
    assert said not in whole.notes
    for one, other in zip(halved, whole, strict=True):
        assert one.invariance.samples == 300
        rtol = 1e-10 if dtype == torch.float64 else 1e-5
        torch.testing.assert_close(
            one.invariance.defects, other.invariance.defects, rtol=rtol, atol=1e-12
        )
        torch.testing.assert_close(one.unit.defects, other.unit.defects, rtol=rtol, atol=1e-12)


def test_a_layer_for_which_not_even_one_sample_fits():
    calls = []

    class Full(nn.Module):
        def forward(self, x):
            calls.append(len(x))
            if len(calls) > 20:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return x

    with pytest.raises(
        DeviceMemoryError,
        match=r"not even one sample fits into the memory of cpu \(CUDA out of memory",
    ):
        found(nn.Sequential(Full(), *mlp(3, 8, 4)), normal(300, 3), run=liegg.Run(batch_size=4))
