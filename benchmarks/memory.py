"""Peak extra memory of one way of extracting the spectrum, for one number of samples; prints JSON. Run by run.py and growth.py."""

import json
import sys
from collections.abc import Iterator

import torch
from torch import nn

import liegg
from dense import dense_rows, dense_spectrum
from measure import peak_bytes, reset_peak, resident_bytes
from perceptrons import perceptron

DIMENSION = 16


class Batched:
    """Random samples in batches of 512, made when asked for, so that the data itself takes no memory; re-iterable."""

    def __init__(self, samples: int, n: int) -> None:
        self.samples, self.n = samples, n

    def __iter__(self) -> Iterator[torch.Tensor]:
        generator = torch.Generator().manual_seed(0)
        for start in range(0, self.samples, 512):
            yield torch.randn(min(512, self.samples - start), self.n, generator=generator)


def network(n: int) -> nn.Module:
    """A perceptron n→64→64→1."""
    return perceptron(n, 64, 64, 1)


def dense(samples: int, n: int) -> None:
    """All rows stored in float32 (taken in batches, so that only the rows are held), then an SVD."""
    model = network(n)
    dense_spectrum(torch.cat([dense_rows(model, batch, n) for batch in Batched(samples, n)]))


def streamed(samples: int, n: int) -> None:
    """The product."""
    liegg.discover(network(n), Batched(samples, n), liegg.Linear(n), outputs="sum", controls="none")


def default(samples: int, n: int) -> None:
    """The product with intervals and controls."""
    liegg.discover(network(n), Batched(samples, n), liegg.Linear(n), outputs="sum")


if __name__ == "__main__":
    way, samples = (
        {"dense": dense, "streamed": streamed, "default": default}[sys.argv[1]],
        int(sys.argv[2]),
    )
    way(64, 2)  # code and libraries in memory before the measurement begins
    before = resident_bytes()
    reset_peak()
    way(samples, DIMENSION)
    print(json.dumps({"extra_bytes": peak_bytes() - before}))
