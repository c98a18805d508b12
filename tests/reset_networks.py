"""Modules whose weights are shared, replaced, parametrized or reset in ways of their own; trained ones, and their state."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize


class Bare(nn.Module):
    """A layer that resets itself, and a parameter that nothing resets."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.shift = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + self.shift


class Mended(Bare):
    def reset_parameters(self) -> None:
        nn.init.normal_(self.shift)


class Halved(nn.Module):
    """Its reset calls its children's, and then does something to their weights."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))

    def reset_parameters(self) -> None:
        for part in self.inner:
            part.reset_parameters()  # pyright: ignore[reportCallIssue]
        self.inner[1].weight.zero_()  # pyright: ignore[reportCallIssue]

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class Spread(nn.Module):
    """A reset with an argument that has a default."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def reset_parameters(self, size: float = 7.0) -> None:
        nn.init.constant_(self.weight, size)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Demanding(Spread):
    """A reset that cannot be called without being told how."""

    def reset_parameters(self, size: float) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        nn.init.constant_(self.weight, size)


class Replacing(Spread):
    """A reset that makes new parameters."""

    def reset_parameters(self, size: float = 5.0) -> None:
        self.weight = nn.Parameter(torch.full((3,), size))


class Behind(Spread):
    """A reset that torch does not count as a write."""

    def reset_parameters(self, size: float = 3.0) -> None:
        self.weight.data.fill_(size)


class Tied(nn.Module):
    def __init__(self, kind: type[nn.Module] = Spread) -> None:
        super().__init__()
        self.one, self.two = kind(), kind()
        self.two.weight = self.one.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.two(torch.tanh(self.one(x)))


class Doubled(nn.Module):
    """A parametrization without an inverse."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 2, 3),
        nn.BatchNorm2d(2),
        nn.Flatten(),
        nn.Linear(32, 2),
    )


def parametrized(how: Callable[..., nn.Module], **knobs: Any) -> nn.Module:
    return nn.Sequential(how(nn.Linear(3, 4), **knobs), nn.Tanh(), how(nn.Linear(4, 4), **knobs))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), (3,)),
    "norms": (
        lambda: nn.Sequential(
            nn.Linear(3, 4), nn.LayerNorm(4), nn.PReLU(), nn.GroupNorm(2, 4), nn.RMSNorm(4)
        ),
        (3,),
    ),
    "convolutional": (convolutional, (1, 8, 8)),
    "encoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2
        ),
        (5, 4),
    ),
    "attention": (lambda: Attending(), (5, 4)),
    "lstm": (lambda: First(nn.LSTM(3, 4, 2, batch_first=True)), (5, 3)),
    "weight norm": (lambda: parametrized(parametrizations.weight_norm), (3,)),
    "orthogonal": (lambda: parametrized(parametrizations.orthogonal), (3,)),
    "orthogonal, no base": (
        lambda: parametrized(parametrizations.orthogonal, use_trivialization=False),
        (3,),
    ),
    "spectral norm": (lambda: parametrized(parametrizations.spectral_norm), (3,)),
    "tied": (Tied, (3,)),
    "mended": (Mended, (3,)),
    "nested": (Halved, (3,)),
}


class First(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)[0]


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x)[0]


def trained(build: Callable[[], nn.Module]) -> nn.Module:
    """A model whose parameters and statistics are all away from where they started, with gradients and modes of their own."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = build()
        model.requires_grad_(True)
        for weight in model.parameters():
            weight.data += 0.1 + 0.1 * torch.rand_like(weight)
            weight.grad = torch.ones_like(weight)
        for buffer in model.buffers():
            if buffer.is_floating_point() and not any(
                parametrize.is_parametrized(part) for part in model.modules()
            ):
                buffer += 1.5
    next(model.parameters()).requires_grad_(False)
    list(model.modules())[-1].eval()
    return model


def state(model: nn.Module) -> dict[str, Any]:
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return {
        "modes": [part.training for part in model.modules()],
        "classes": [
            (type(p), [key for key, value in vars(type(p)).items() if isinstance(value, property)])
            for p in model.modules()
        ],
        "tensors": [
            (name, id(t), t._version, t.requires_grad, t.dtype, t.tolist()) for name, t in tensors
        ],
        "gradients": [None if p.grad is None else p.grad.tolist() for p in model.parameters()],
    }


def values(model: nn.Module) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}
