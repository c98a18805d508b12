"""The farthest samples and the range of every number."""

import torch

from known_data import data_set
from liegg.polarization import extremes


def test_the_farthest_samples_are_found_whoever_reads_them() -> None:
    x = data_set("gaussian", 300)
    x[[7, 211]] = torch.tensor([300.0, 0.0, 400.0], dtype=torch.float64)
    empty = extremes.init(x[:50])
    apart = [extremes.update(empty, x[start : start + 100], start) for start in range(0, 300, 100)]
    state = extremes.merge(extremes.merge(apart[2], apart[0]), apart[1])
    torch.testing.assert_close(state.total, (x - empty.centre).square().sum())
    torch.testing.assert_close(state.least, x.amin(0))
    torch.testing.assert_close(state.greatest, x.amax(0))
    places, share = extremes.carriers(state, 0.9)
    assert places == [7, 211]
    assert 0.9 < share < 1
    assert extremes.constants(state) == []


def test_even_data_has_no_carriers_and_constants_are_named() -> None:
    x = torch.cat([data_set("gaussian", 200), torch.full((200, 1), 2.0, dtype=torch.float64)], 1)
    state = extremes.update(extremes.init(x), x, 0)
    assert extremes.carriers(state, 0.25) == ([], 0.0)
    assert extremes.constants(state) == [3]
    few = extremes.update(extremes.init(x[:2]), x[:2], 0)
    assert len(extremes.carriers(few, 1.0)[0]) <= 2
