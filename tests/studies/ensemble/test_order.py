"""The order of samples: permutations that depend on seed and epoch alone, and look random."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from liegg.studies.ensemble.order import permutations


def order(seed: int, epoch: int, count: int, width: int | None = None) -> torch.Tensor:
    width = count if width is None else width
    return permutations(torch.tensor([seed]), torch.tensor([epoch]), torch.tensor([count]), width)[
        0
    ]


@given(st.integers(0, 2**31), st.integers(0, 10_000), st.integers(1, 200), st.integers(0, 50))
def test_every_index_once_and_what_is_beyond_the_count_at_the_end(
    seed: int, epoch: int, count: int, more: int
) -> None:
    row = order(seed, epoch, count, count + more)
    assert sorted(row[:count].tolist()) == list(range(count))
    assert row[count:].tolist() == list(range(count, count + more))
    assert torch.equal(row[:count], order(seed, epoch, count))


def test_rows_do_not_depend_on_each_other() -> None:
    many = permutations(
        torch.tensor([1, 2, 3]), torch.tensor([5, 0, 9]), torch.tensor([40, 30, 40]), 40
    )
    assert torch.equal(many[1, :30], order(2, 0, 30))
    assert torch.equal(many[2], order(3, 9, 40))


def test_seeds_and_epochs_give_different_orders() -> None:
    rows = {tuple(order(seed, epoch, 50).tolist()) for seed in range(20) for epoch in range(20)}
    assert len(rows) == 400


def test_every_place_is_equally_likely() -> None:
    """Chi-squared of index against place over 4,000 epochs, with 81 degrees of freedom: between the 0.1 % and 99.9 % points."""
    epochs = torch.arange(4000)
    rows = permutations(torch.full_like(epochs, 7), epochs, torch.full_like(epochs, 10), 10)
    counts = torch.stack([(rows == index).sum(0) for index in range(10)]).double()
    assert 45 < float(((counts - 400).square() / 400).sum()) < 127


def test_neighbouring_epochs_are_unrelated() -> None:
    rows = [order(3, epoch, 2000).double() for epoch in range(6)]
    related = [float(torch.corrcoef(torch.stack([a, b]))[0, 1]) for a, b in pairwise(rows)]
    assert max(abs(value) for value in related) < 0.08  # 3.5 standard errors


def test_the_mixing_is_splitmix64() -> None:
    """The published generator's first numbers from the seed 1234567."""
    from liegg._utils.random import STRIDE, splitmix64

    states = torch.tensor(1234567) + torch.arange(1, 6) * STRIDE
    known = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [value % 2**64 for value in splitmix64(states).tolist()] == known
