"""Models that are compiled, lie channels last, or are re-initialised, on the GPU."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

import liegg
from cases import mlp, normal
from gpu.agreement import (
    TOLERANCES,
    Attention,
    assert_agree,
    convolutional,
    differences,
    images,
    seeded,
)
from liegg.inputs.reinitialise import reinitialise


class Counting:
    """A backend that runs graphs as they are and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, graph, _inputs):
        self.count += 1
        return graph.forward


@pytest.mark.parametrize("way", ["wrapped", "in place"])
def test_compiled(way, device, enter):
    torch.compiler.reset()
    backend, x, action = Counting(), normal(200, 4).to(device), liegg.Linear(4)
    net = mlp(4, 16, 3).to(device)
    plain = liegg.discover(net, x, action)
    layers = liegg.discover_layers(net, x, action)
    if way == "wrapped":
        net = torch.compile(net, backend=backend)
    else:
        net.compile(backend=backend)
    sym = liegg.discover(net, x, action)
    again = liegg.discover_layers(net, x, action)
    assert backend.count == 0
    enter(**assert_agree(sym, plain, TOLERANCES[torch.float64]))
    for one, other in zip(again, layers, strict=True):
        assert_agree(one.invariance, other.invariance, TOLERANCES[torch.float64])
    if way == "wrapped":  # torch itself does not compile such a module in place
        net(x)
        assert backend.count > 0
    torch.compiler.reset()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("route", ["jvp", "vjp"])
def test_channels_last(dtype, route, device, enter):
    net, x = convolutional().to(device, dtype), images(60).to(device, dtype)
    action = liegg.Image("affine")
    here = liegg.discover(
        convolutional().to(dtype), images(60).to(dtype), action, run=liegg.Run(route=route)
    )
    layout = torch.channels_last
    there = liegg.discover(
        net.to(memory_format=layout),  # pyright: ignore[reportCallIssue]
        x.contiguous(memory_format=layout),
        action,
        run=liegg.Run(route=route),
    )
    enter(**assert_agree(there, here, TOLERANCES[dtype]))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.LSTM(3, 4, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0][:, -1]


def parametrized(how) -> nn.Module:
    return nn.Sequential(how(nn.Linear(3, 4)), nn.Tanh(), how(nn.Linear(4, 4)))


NETWORKS = {
    "perceptron": lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)),
    "normalisation": lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.PReLU()),
    "convolutions": convolutional,
    "attention": Attention,
    "recurrent": Recurrent,
    "weight norm": lambda: parametrized(parametrizations.weight_norm),
    "orthogonal": lambda: parametrized(parametrizations.orthogonal),
    "spectral norm": lambda: parametrized(parametrizations.spectral_norm),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_seed_gives_the_same_weights_on_every_device(name, device):
    """Weights are drawn on the CPU, so only what a parametrization computes can be rounded."""
    model = seeded(NETWORKS[name])
    here = reinitialise(model, seed=5).module
    before = torch.cuda.get_rng_state() if device.type == "cuda" else torch.get_rng_state()
    there = reinitialise(model.to(device), seed=5).module
    after = torch.cuda.get_rng_state() if device.type == "cuda" else torch.get_rng_state()
    assert {value.device.type for value in there.state_dict().values()} == {device.type}
    assert torch.equal(after, before)
    for one, other in zip(there.parameters(), here.parameters(), strict=True):
        torch.testing.assert_close(one.detach().cpu(), other.detach(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["perceptron", "batch statistics"])
def test_reinitialised_controls(kind, device, enter):
    """The same directions count as learned, and the defects of the controls agree."""
    if kind == "perceptron":
        net, x, action = mlp(3, 8, 2), normal(200, 3), liegg.Linear(3)
    else:
        net, x, action = convolutional().double(), images(60), liegg.Image("affine")
    here, there = (
        liegg.discover(
            net.to(place),
            x.to(place),
            action,
            controls="reinitialised",
            run=liegg.Run(control_draws=3),
        )
        for place in ("cpu", device)
    )
    assert here.controls.reinitialised is not None
    assert there.controls.reinitialised is not None
    assert there.controls.reinitialised.learned == here.controls.reinitialised.learned
    largest = here.controls.reinitialised.along.abs().max()
    difference = float(
        (there.controls.reinitialised.along - here.controls.reinitialised.along).abs().max()
        / largest
    )
    assert difference < TOLERANCES[torch.float64] * 10  # the statistics are averages, too
    enter(controls=difference, **differences(there, here))
