"""Structured samples for tests: graphs with PyG's methods, clouds, and models on them."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

import liegg


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Graph:
    """A graph with the methods of PyG by which it is recognised."""

    def __init__(self, **leaves: Any) -> None:
        self.__dict__["values"] = leaves

    stores = ()

    def to_dict(self) -> dict[str, Any]:
        return dict(self.values)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("values", {}):
            return self.values[name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.values[name] = value

    def __copy__(self) -> "Graph":
        return Graph(**self.values)

    def __deepcopy__(self, memo: Any) -> "Graph":
        return Graph(**copy.deepcopy(self.values, memo))

    def __cat_dim__(self, key: str, value: Tensor) -> int:
        return -1 if "index" in key else 0


def molecule(
    n: int, draw: torch.Generator, dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Atoms with numbers, positions and bonds between neighbours in a ring and some others."""
    first = torch.arange(n)
    ring = torch.stack([first, (first + 1) % n])
    extra = torch.randint(0, n, (2, n // 2), generator=draw)
    return {
        "z": torch.randint(0, 5, (n,), generator=draw),
        "pos": torch.randn(n, 3, generator=draw, dtype=torch.float64).to(dtype),
        "edge_index": torch.cat([ring, extra[:, extra[0] != extra[1]]], 1),
    }


def molecules(count: int = 60, seed: int = 0, most: int = 8) -> list[dict[str, Tensor]]:
    draw = generator(seed)
    sizes = torch.randint(3, most + 1, (count,), generator=draw).tolist()
    return [molecule(n, draw) for n in sizes]


def joined(samples: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Molecules joined to one graph by hand."""
    parts: dict[str, list[Tensor]] = {key: [] for key in (*samples[0], "batch")}
    first = 0
    for number, sample in enumerate(samples):
        for key, leaf in sample.items():
            parts[key].append(leaf + first if key == "edge_index" else leaf)
        parts["batch"].append(torch.full((len(sample["z"]),), number))
        first += len(sample["z"])
    return {key: torch.cat(part, -1 if key == "edge_index" else 0) for key, part in parts.items()}


class GraphNet(nn.Module):
    """Messages along edges from distances: invariant under rigid motions."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.embedding = nn.Embedding(5, 3)
            self.message = nn.Sequential(nn.Linear(7, 8), nn.Tanh(), nn.Linear(8, 4))
            self.readout = nn.Linear(4, 1)

    def forward(self, z: Tensor, pos: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        i, j = edge_index
        squares = (pos[i] - pos[j]).square().sum(-1, keepdim=True)
        h = self.embedding(z)
        messages = self.message(torch.cat([h[i], h[j], torch.exp(-squares / 4)], -1))
        atoms = messages.new_zeros(len(z), 4).index_add(0, i, messages)
        energies = self.readout(torch.tanh(atoms))
        return energies.new_zeros(int(batch.max()) + 1, 1).index_add(0, batch, energies)


class Forces(nn.Module):
    """Minus the gradient of an energy, one vector per atom."""

    def __init__(self, energy: nn.Module) -> None:
        super().__init__()
        self.energy = energy

    def forward(self, z: Tensor, pos: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return -torch.func.grad(lambda p: self.energy(z, p, edge_index, batch).sum())(pos)


class MaskedNet(nn.Module):
    """Sums over pairs of points that exist, `[b, n, 3]` with a mask; invariant under rigid motions."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.embedding = nn.Embedding(5, 3)
            self.pair = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, z: Tensor, pos: Tensor, mask: Tensor) -> Tensor:
        squares = (pos[:, :, None] - pos[:, None]).square().sum(-1, keepdim=True)
        h = self.embedding(z)
        values = self.pair(torch.cat([h[:, :, None] * h[:, None], torch.exp(-squares)], -1))
        return (values * (mask[:, :, None] & mask[:, None])[..., None]).sum((1, 2))


def padded(count: int = 80, n: int = 5, seed: int = 0) -> dict[str, Tensor]:
    """A batch of clouds with a mask of the points that exist."""
    draw = generator(seed)
    mask = torch.rand(count, n, generator=draw) < 0.7
    mask[:, :2] = True
    return {
        "z": torch.randint(0, 5, (count, n), generator=draw),
        "pos": torch.randn(count, n, 3, generator=draw, dtype=torch.float64),
        "mask": mask,
    }


class CloudNet(nn.Module):
    """Distances from the mean of a cloud, `[b, n, 3] -> [b, 2]`: invariant under rigid motions."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.inner, self.outer = nn.Linear(1, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(1, keepdim=True)
        hidden = torch.tanh(self.inner(centred.square().sum(-1, keepdim=True)))
        return self.outer(hidden.mean(1))


def clouds(count: int = 60, most: int = 50, seed: int = 0) -> list[Tensor]:
    draw = generator(seed)
    sizes = torch.randint(3, most + 1, (count,), generator=draw).tolist()
    return [torch.randn(n, 3, generator=draw, dtype=torch.float64) for n in sizes]


POSITIONS = {"pos": liegg.Affine(3, copies=None)}
