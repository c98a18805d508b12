# pyright: reportIncompatibleMethodOverride=false
"""Functions that hide a part of their change from the derivative, and honest ones that look as if they did."""

from collections.abc import Callable
from functools import cache, partial, reduce
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from cases import normal

Function = Callable[[Tensor], Tensor]

TABLE = normal(50, 4, seed=5)
CENTRES = normal(50, 3, seed=9)
MIX = normal(3, 19, seed=3)


def square(x: Tensor) -> Tensor:
    return x.square().flatten(1).sum(1)


def network(activation: type[nn.Module], *widths: int, seed: int = 0) -> nn.Sequential:
    """Random network; the caller's random state is left alone."""
    layers: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1]).double().eval()


def in_dtype(module: nn.Module) -> Function:
    """A module as a function that takes samples of any precision."""

    def function(x: Tensor) -> Tensor:
        weights = {name: value.to(x.dtype) for name, value in module.state_dict().items()}
        return torch.func.functional_call(module, weights, (x,))

    return function


RELU, TANH = in_dtype(network(nn.ReLU, 3, 64, 64, 1)), in_dtype(network(nn.Tanh, 3, 32, 1))


class Shrunk(torch.autograd.Function):
    """A sine whose backward is 3 % too small."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, slope):
        return 0.97 * slope * ctx.saved_tensors[0].cos()


class Reversed(torch.autograd.Function):
    """A cube whose backward has the wrong sign."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, slope):
        return -3 * slope * ctx.saved_tensors[0] ** 2


def frozen_branch(x: Tensor) -> Tensor:
    with torch.no_grad():
        branch = x[:, 0].tanh()
    return square(x) + 2 * branch


def straight_through(x: Tensor, value: Tensor) -> Tensor:
    return x + (value - x).detach()


def nearest(x: Tensor) -> Tensor:
    return torch.cdist(x.detach().double(), CENTRES).argmin(1)


def hard_choice(x: Tensor) -> Tensor:
    soft = x.softmax(1)
    return straight_through(soft, functional.one_hot(x.argmax(1), 3).to(x))[:, 0]


HIDDEN: dict[str, Function] = {
    "detached term": lambda x: square(x) + 3 * x[:, 0].detach(),
    "detached norm": lambda x: x[:, 0] / x.norm(dim=1).detach(),
    "detached attention": lambda x: ((2 * x).softmax(1).detach() * x).sum(1),
    "detached term of a network": lambda x: RELU(x)[:, 0] + 0.1 * x[:, 0].detach(),
    "frozen branch": frozen_branch,
    "data attribute": lambda x: x[:, 0] ** 2 + x.data[:, 1] ** 2,
    "round trip to numpy": lambda x: square(x) + torch.from_numpy(x.detach().numpy() ** 3)[:, 1],
    "numbers of Python": lambda x: torch.stack([row.square().sum() + row[0].item() for row in x]),
    "backward too small": lambda x: Shrunk.apply(x).sum(1),
    "backward reversed": lambda x: Reversed.apply(x).sum(1),
    "floor": lambda x: square(x) + 3 * x[:, 0].floor(),
    "small floor": lambda x: square(x) + 0.5 * x[:, 0].floor(),
    "floor beside a network": lambda x: RELU(x)[:, 0] + 0.1 * x[:, 0].floor(),
    "round beside a network": lambda x: TANH(x)[:, 0] + 0.2 * x[:, 1].round(),
    "ceil in a product": lambda x: x[:, 1] * x[:, 0].ceil(),
    "fractional part": lambda x: x[:, 0].frac() + x[:, 1],
    "truncated": lambda x: x[:, 0].trunc() + x[:, 1],
    "step": lambda x: square(x) + 2 * (x[:, 0] > 0).to(x),
    "embedding": lambda x: square(x) + TABLE.to(x)[(x[:, 0].round().long() + 20).clamp(0, 49), 0],
    "argmax look-up": lambda x: square(x) + 2 * TABLE.to(x)[x.argmax(1), 1],
    "top-k look-up": lambda x: square(x) + TABLE.to(x)[x.topk(2, 1).indices].sum((1, 2)),
    "nearest centre": lambda x: x[:, 0] + TABLE.to(x)[nearest(x), 3],
    "bins": lambda x: x[:, 0].tanh() + (x[:, 1:2] > torch.linspace(-2, 2, 9)).to(x).sum(1) / 3,
    "quantised": lambda x: ((16 * x).round() / 16).square().sum(1) + 1e-3 * square(x),
    "straight-through sign": lambda x: square(x) + straight_through(x, x.sign())[:, 0],
    "straight-through rounding": lambda x: square(straight_through(x, x.round())),
    "straight-through quantiser": lambda x: square(straight_through(x, (32 * x).round() / 32)),
    "straight-through choice": hard_choice,
    "detached in 1 of 20 outputs": lambda x: torch.cat(
        [torch.sin(x @ MIX.to(x)), x[:, :1] ** 2 + x[:, 1:2].detach()], 1
    ),
    "floor in 1 of 20 outputs": lambda x: torch.cat(
        [torch.sin(x @ MIX.to(x)), x[:, :1] / 100 + x[:, 1:2].floor()], 1
    ),
}
"""Functions of three numbers that hide something."""


class Encoder(nn.Module):
    """Attention over the numbers of a sample."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.random.manual_seed(1)
            self.embed, self.head = nn.Linear(1, 16), nn.Linear(16, 2)
            self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.double().eval()

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(self.embed(x[..., None])).mean(1))


def convolutional(activation: type[nn.Module], pool: type[nn.Module]) -> nn.Sequential:
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(0)
        features = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), activation(), pool(2)]
        more = [nn.Conv2d(8, 16, 3, padding=1), activation(), pool(2), nn.Flatten()]
        return nn.Sequential(*features, *more, nn.Linear(16 * 9, 10)).double().eval()


@cache
def trained(activation: type[nn.Module], target: Function) -> Function:
    """A network trained on a target."""
    model, x = network(activation, 3, 32, 32, 1).float(), normal(256, 3, seed=7).float()
    y = target(x).reshape(-1, 1).detach()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        functional.mse_loss(model(x), (y - y.mean()) / y.std()).backward()
        optimizer.step()
    return in_dtype(model.double().eval())


def later(make: Callable[[], Function]) -> Function:
    """A function that is made when it is first used."""
    return lambda x: make()(x)


def fixed_point(x: Tensor) -> Tensor:
    return reduce(lambda z, _: torch.tanh(0.5 * z + x), range(30), torch.zeros_like(x)).sum(1)


def periodic(x: Tensor) -> Tensor:
    """A parabola on each unit interval; floor is constant between its jumps, and these cancel."""
    part = x - x.detach().floor()
    return (part * (1 - part)).sum(1)


def interpolated(x: Tensor) -> Tensor:
    grid = normal(1, 1, 9, 9, seed=3).to(x).expand(len(x), 1, 9, 9)
    places = (x[:, None, None, :2] / 3).clamp(-1, 1)
    return functional.grid_sample(grid, places, align_corners=True)[:, 0, 0, 0]


def of_octaves(x: Tensor) -> Tensor:
    waves = [(2**k * torch.pi * x).sin() for k in range(5)]
    return torch.cat(waves, 1) @ normal(15, 1).to(x)


PLAIN = normal(200, 3)
SPARSE = (normal(200, 40) - 1).relu()
IMAGES = normal(60, 1, 12, 12)
MATRICES = normal(200, 3, 3)

HONEST: dict[str, tuple[Function, Tensor]] = {
    **{
        name: (function, PLAIN)
        for name, function in {
            "square": square,
            "linear": lambda x: x @ MIX.to(x),
            "seventh power": lambda x: (x**7).sum(1),
            "product": lambda x: x.prod(1),
            "absolute value": lambda x: x.abs().sum(1),
            "clamp": lambda x: x.clamp(-1, 1).sum(1),
            "sorted": lambda x: x.sort(1).values @ torch.tensor([1.0, 2.0, -3.0]).to(x),
            "largest": lambda x: x.max(1).values,
            "median": lambda x: x.median(1).values,
            "top-k values": lambda x: x.topk(2, 1).values,
            "running sums": lambda x: x.cumsum(1).abs(),
            "norm": lambda x: x.norm(dim=1),
            "direction": lambda x: functional.normalize(x, dim=1),
            "cosine": lambda x: x[:, 0] / x.norm(dim=1),
            "root": lambda x: x.abs().sqrt().sum(1),
            "third root": lambda x: (x.abs() + 1e-3).pow(1 / 3).sum(1),
            "inverse distance": lambda x: 1 / x.norm(dim=1),
            "poles": lambda x: (1 / x).sum(1),
            "exponential": lambda x: (3 * x).exp().sum(1),
            "narrow peak": lambda x: (-100 * square(x)).exp(),
            "sin 20 x": lambda x: (20 * x).sin().sum(1),
            "sin 20 x of one": lambda x: (20 * x[:, 0]).sin(),
            "sin 100 x": lambda x: (100 * x).sin().sum(1),
            "sin of a square": lambda x: (10 * square(x)).sin(),
            "octaves": of_octaves,
            "triangle wave": lambda x: torch.asin(0.999 * torch.sin(20 * x)).sum(1),
            "saturated": lambda x: torch.tanh(30 * x).sum(1),
            "very saturated": lambda x: torch.sigmoid(100 * TANH(x)),
            "softmax": lambda x: (5 * x).softmax(1),
            "log-sum-exp": lambda x: (5 * x).logsumexp(1),
            "huber": lambda x: functional.huber_loss(
                x, torch.zeros_like(x), reduction="none", delta=0.1
            ).sum(1),
            "rare kink": lambda x: square(x) + 50 * (x[:, 0] - 2.8).relu() ** 2,
            "fixed point": fixed_point,
            "periodic": periodic,
            "interpolated table": interpolated,
            "large offset": lambda x: square(x) + 1000,
            "noise of a solver": lambda x: square(x) + 1e-5 * torch.sin(1e9 * x.detach()).sum(1),
            "one constant output": lambda x: torch.stack([square(x), 1 + 1e-30 * x[:, 0]], 1),
            "relu": RELU,
            "tanh": TANH,
            "steep relu": lambda x: RELU(5 * x),
            "steep tanh": lambda x: TANH(20 * x),
            "leaky relu": in_dtype(network(nn.LeakyReLU, 3, 64, 64, 4)),
            "deep relu": in_dtype(network(nn.ReLU, 3, *[64] * 8, 1)),
            "wide relu": in_dtype(network(nn.ReLU, 3, 1024, 1)),
            "relu6": in_dtype(network(nn.ReLU6, 3, 64, 2)),
            "hardtanh": in_dtype(network(nn.Hardtanh, 3, 64, 2)),
            "hardswish": in_dtype(network(nn.Hardswish, 3, 32, 2)),
            "softshrink": in_dtype(network(nn.Softshrink, 3, 32, 2)),
            "gelu": in_dtype(network(nn.GELU, 3, 64, 2)),
            "silu": in_dtype(network(nn.SiLU, 3, 64, 64, 3)),
            "sigmoid": in_dtype(network(nn.Sigmoid, 3, 32, 1)),
            "trained relu": later(partial(trained, nn.ReLU, square)),
            "trained tanh": later(partial(trained, nn.Tanh, square)),
            "trained silu": later(partial(trained, nn.SiLU, RELU)),
        }.items()
    },
    "logarithm over decades": (lambda x: x.log().sum(1), (2 * PLAIN).exp()),
    "quotient over decades": (lambda x: (x[:, 0] * x[:, 1] / x[:, 2]).log(), (2 * PLAIN).exp()),
    "norm near 0": (lambda x: x.norm(dim=1), 1e-3 * PLAIN),
    "lognormal data": (square, (2 * PLAIN).exp()),
    "heavy tails": (RELU, PLAIN / normal(200, 1, seed=4)),
    "whole numbers": (RELU, (3 * PLAIN).round()),
    "binary numbers": (RELU, (PLAIN > 0).double()),
    "two samples": (RELU, PLAIN[:2]),
    "on a sphere": (lambda x: square(x) + 0.1 * x[:, 0], functional.normalize(PLAIN, dim=1)),
    "relu at exact zeros": (lambda x: x.relu().sum(1) + square(x), SPARSE),
    "network at exact zeros": (lambda x: (x @ normal(40, 32).to(x)).relu().sum(1), SPARSE),
    "equivariant cross product": (lambda x: torch.linalg.cross(x[:, 0], x[:, 1]), MATRICES),
    "equivariant field": (lambda x: x * x.norm(dim=2, keepdim=True), MATRICES),
    "attention": (in_dtype(Encoder()), normal(100, 6)),
    "layer norm": (
        lambda x: functional.layer_norm(x, [6]).relu() @ MIX.T.to(x)[:6],
        normal(100, 6),
    ),
    "convolutions": (in_dtype(convolutional(nn.ReLU, nn.MaxPool2d)), IMAGES),
    "convolutions at zeros": (
        in_dtype(convolutional(nn.ReLU, nn.MaxPool2d)),
        (IMAGES - 0.5).relu(),
    ),
    "smooth convolutions": (in_dtype(convolutional(nn.GELU, nn.AvgPool2d)), IMAGES),
    "pooled ties": (
        lambda x: functional.max_pool2d(x, 2).square().sum((1, 2, 3)),
        (IMAGES - 0.8).relu(),
    ),
}
"""Honest functions, each with its samples."""
