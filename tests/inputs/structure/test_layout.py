"""Rows hold complete samples: what is packed comes back exactly, in every way of putting samples together."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import liegg
from liegg._utils.errors import DtypeError, ShapeError
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.packed import pack_data
from liegg.inputs.structure.tree import rebuild, tensors
from liegg.inputs.structure.unpack import joined, listed, padded, single, stacked

CLOUDS = liegg.Affine(3, copies=None)
FREE = {"pos": CLOUDS.check}
TYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
]


def values(shape: list[int], dtype: torch.dtype, draw: torch.Generator) -> Tensor:
    if dtype is torch.bool:
        return torch.rand(shape, generator=draw) < 0.5
    if dtype.is_floating_point:
        return torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype)
    limits = torch.iinfo(dtype)
    low, high = max(limits.min, -(2**52)), min(limits.max, 2**52)
    return torch.randint(low, high, shape, generator=draw, dtype=torch.int64).to(dtype)


@st.composite
def trees(draw: Any) -> list[dict[str, Any]]:
    """Samples with the same leaves; the first axis of some has another size in every sample."""
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    kinds = draw(
        st.lists(st.tuples(st.sampled_from(TYPES), st.integers(0, 2), st.booleans()), max_size=4)
    )
    fixed = [
        draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes)) for _, axes, _ in kinds
    ]
    samples = []
    for _ in range(draw(st.integers(1, 5))):
        n = draw(st.integers(1, 4))
        sample: dict[str, Any] = {"pos": values([n, 3], draw(st.just(torch.float64)), random)}
        for place, ((dtype, _, ragged), shape) in enumerate(zip(kinds, fixed, strict=True)):
            size = [n, *shape] if ragged else shape
            leaf = values(size, dtype, random)
            sample[f"leaf{place}"] = leaf if place % 2 else {"inner": (leaf, "constant")}
        samples.append(sample)
    return samples


@settings(deadline=None, max_examples=60)
@given(trees())
def test_samples_come_back_exactly(samples):
    packed, tree = pack_data(samples, FREE)
    rows = packed.rows(0, len(samples))
    layout = packed.layout
    assert rows.shape == (len(samples), layout.width)
    for sample, call in zip(samples, single(layout, rows, None), strict=True):
        assert_equal(rebuild(tree, call.leaves, 1), sample)
    for call in stacked(layout, rows, None):
        places = range(len(samples)) if call.rows is None else call.rows.tolist()
        for i, place in enumerate(places):
            assert_equal(
                {path: leaf[i] for path, leaf in call.leaves.items()}, tensors(samples[place])
            )
    (lists,) = listed(layout, rows, None)
    for path, leaf in tensors(samples[-1]).items():
        assert torch.equal(lists.leaves[path][-1], leaf)
    (full,) = padded(layout, rows, None)
    counts = [len(sample["pos"]) for sample in samples]
    assert full.leaves["mask"].sum(1).tolist() == counts
    assert torch.equal(
        full.leaves["pos"][full.leaves["mask"]], torch.cat([s["pos"] for s in samples])
    )


def assert_equal(one: Any, other: Any) -> None:
    ours, theirs = tensors(one), tensors(other)
    assert list(ours) == list(theirs)
    for path, leaf in theirs.items():
        assert ours[path].dtype == leaf.dtype
        assert torch.equal(ours[path], leaf)


def graphs() -> list[dict[str, Tensor]]:
    return [
        {
            "pos": torch.randn(n, 3, dtype=torch.float64),
            "edge_index": torch.tensor([[0, n - 1], [1, 0]])[:, : n - 1],
            "edge_attr": torch.full((min(n - 1, 2), 1), float(n)),
            "cell": torch.full((1, 2), n),
        }
        for n in (2, 3, 5)
    ]


def test_joined_graphs_number_their_nodes_through():
    packed, _ = pack_data(graphs(), FREE)
    (call,) = joined(packed.layout, packed.rows(0, 3), None)
    assert call.leaves["batch"].tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]
    assert call.leaves["ptr"].tolist() == [0, 2, 5, 10]
    assert call.leaves["edge_index"].tolist() == [[0, 2, 4, 5, 9], [1, 3, 2, 6, 5]]
    assert call.leaves["edge_attr"].flatten().tolist() == [2, 3, 3, 5, 5]
    assert call.leaves["cell"].tolist() == [[2, 2], [3, 3], [5, 5]]


def test_rows_know_which_numbers_move():
    packed, _ = pack_data(graphs(), FREE)
    rows, layout = packed.rows(0, 3), packed.layout
    movable = layout.movable(rows, ["pos"])
    assert movable.sum(1).tolist() == [6, 9, 15]
    assert not movable[:, 15:].any()
    other = layout.replaced(rows, {"pos": torch.full((3, 5, 3), 7.0)})
    assert bool((other[movable] == 7).all())
    assert torch.equal(other[~movable], rows[~movable])


def test_settings_are_read_back():
    layout = pack_data(graphs(), FREE)[0].layout
    assert Layout.from_settings(layout.settings()) == layout


def test_context_has_no_derivative():
    packed, _ = pack_data(graphs(), FREE)
    rows = packed.rows(0, 3).requires_grad_()
    (call,) = joined(packed.layout, rows, torch.float32)
    assert call.leaves["pos"].requires_grad
    assert call.leaves["pos"].dtype == torch.float32
    assert not call.leaves["edge_attr"].requires_grad


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        (
            [{"pos": torch.ones(2, 3), "z": torch.ones(2, 2)}, {"pos": torch.ones(3, 3)}],
            ShapeError,
            "'z' is in some",
        ),
        (
            [
                {"pos": torch.ones(2, 3), "a": torch.ones(2, 2)},
                {"pos": torch.ones(3, 3), "a": torch.ones(3, 3)},
            ],
            ShapeError,
            "'a' has different sizes along several axes",
        ),
        (
            [
                {"pos": torch.ones(2, 3), "a": torch.ones(2)},
                {"pos": torch.ones(3, 3), "a": torch.ones(3, 1)},
            ],
            ShapeError,
            "'a' has different numbers of axes",
        ),
        (
            [{"pos": torch.ones(2, 3)}, {"pos": torch.ones(0, 3)}],
            ShapeError,
            "sample 1 has no points in 'pos': an empty cloud or graph",
        ),
        ([{"pos": torch.ones(2, 3), "id": torch.tensor([2**60])}], DtypeError, "above 2⁵³"),
        (
            [
                {"pos": torch.ones(2, 3), "a": torch.ones(1)},
                {"pos": torch.ones(2, 3), "a": torch.ones(1).long()},
            ],
            DtypeError,
            "'a' has dtype torch.int64 in a sample, and float32",
        ),
    ],
)
def test_samples_that_do_not_belong_together(samples, error, text):
    with pytest.raises(error, match=text):
        pack_data(samples, FREE)[0].rows(0, len(samples))
