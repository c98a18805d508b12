"""Digests of samples: equal for any batches, different for any change."""

import pytest
import torch

from cases import normal
from liegg.polarization.sample_digest import sample_digest

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def in_batches(x: torch.Tensor, size: int, first: int = 0) -> int:
    parts = [sample_digest(x[at : at + size], first + at) for at in range(0, len(x), size)]
    return int(torch.stack(parts).sum())


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_does_not_depend_on_the_batches(dtype):
    x = normal(50, 3, 4).to(dtype)
    whole = int(sample_digest(x, 9))
    assert [in_batches(x, size, 9) for size in (1, 7, 50)] == [whole] * 3
    assert int(sample_digest(x.flatten(1).t().contiguous().t().reshape(50, 3, 4), 9)) == whole


def test_it_does_not_depend_on_how_much_is_multiplied_at_once(monkeypatch):
    x = normal(50, 3)
    whole = int(sample_digest(x, 0))
    monkeypatch.setattr("liegg.polarization.sample_digest.WORDS_AT_ONCE", 12)
    assert int(sample_digest(x, 0)) == whole


def changed(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Data that differs from `x` in one respect."""
    found = {}
    for place in (0, len(x) // 2, len(x) - 1):
        found[f"one number of sample {place}"] = x.clone()
        found[f"one number of sample {place}"][place, 1] *= 1 + torch.finfo(x.dtype).eps
    found["two signs"] = x.clone()
    found["two signs"][3, :2] *= -1
    found["all signs"] = -x
    found["two samples swapped"] = x[[1, 0, *range(2, len(x))]]
    found["two numbers swapped"] = x.clone()
    found["two numbers swapped"][5] = x[5].flip(0)
    found["one sample fewer"] = x[:-1]
    found["one sample twice"] = torch.cat([x, x[-1:]])
    found["another shift"] = x.roll(1, 0)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_change_is_seen(dtype):
    x = normal(40, 4).to(dtype)
    digests = {name: int(sample_digest(other, 0)) for name, other in changed(x).items()}
    digests["the data"] = int(sample_digest(x, 0))
    digests["another position"] = int(sample_digest(x, 1))
    assert len(set(digests.values())) == len(digests)


def test_every_bit_of_a_number_counts():
    bits = torch.tensor([[1.5, -2.25]]).double().view(torch.int64)
    flipped = torch.stack([bits[0] ^ (1 << bit) for bit in range(64)]).view(torch.float64)
    digests = {int(sample_digest(one[None], 0)) for one in flipped}
    assert len(digests) == 64
