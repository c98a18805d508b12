"""Spaces of finite elements: products act one after the other, and grids agree with what torch and interpolation do."""

import pytest
import torch

import liegg
from liegg._utils.errors import ShapeError
from liegg.actions import Slots, action_from_settings
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.structured import pack_samples

QUARTER = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize(
    ("shape", "dimension", "order"),
    [((3, 5, 5), 2, 8), ((4, 6), 2, 4), ((3, 3, 3), 3, 48), ((1, 7), 1, 2)],
)
def test_products_of_grid_elements_act_one_after_the_other(shape, dimension, order):
    space, x = GridSpace(shape, dimension), normal(2, *shape)
    assert len(space.elements) == order
    for one in space.elements[:: len(space.elements) // 4 + 1]:
        for other in space.elements:
            both = space.apply(one, space.apply(other, x))
            assert torch.equal(space.apply(one @ other, x), both)


def test_a_quarter_turn_is_that_of_torch_and_of_the_interpolating_action():
    x = normal(2, 3, 5, 5)
    turned = GridSpace((3, 5, 5), 2).apply(QUARTER, x)
    assert torch.equal(turned, torch.rot90(x, 1, (2, 3)))
    assert float((liegg.Image().act(torch.pi / 2 * QUARTER, x) - turned).abs().max()) < 1e-12


def test_matrices_on_vectors_in_both_layouts():
    h, x = normal(3, 3), normal(5, 4, 3)
    first = liegg.Linear(3, copies=4).spaces((4, 3))[0]
    last = liegg.Linear(3, copies=4, layout="vector_first").spaces((3, 4))[0]
    wanted = x @ h.mT
    assert torch.allclose(first.apply(h, x), wanted)
    assert torch.allclose(last.apply(h, x.mT), wanted.mT)
    for space, samples in ((first, x), (last, x.mT)):
        assert isinstance(space, VectorSpace)
        moved = space.apply_all(h[None], samples)[0]
        assert torch.allclose(moved, space.apply(h, samples))


def test_affine_maps_and_channels():
    x, h = normal(5, 2, 3), torch.eye(4, dtype=torch.float64)
    h[:3, 3] = torch.tensor([1.0, 2.0, 3.0])
    space = liegg.Affine(3, copies=2).spaces((2, 3))[0]
    assert torch.allclose(space.apply(h, x), x + h[:3, 3])
    assert isinstance(space, VectorSpace)
    assert torch.allclose(space.apply_all(h[None], x)[0], x + h[:3, 3])
    images, swap = normal(2, 3, 4, 4), torch.eye(3, dtype=torch.float64)[[1, 0, 2]]
    colours = liegg.Color("linear").spaces((3, 4, 4))[0]
    assert torch.allclose(colours.apply(swap, images), images[:, [1, 0, 2]])


def test_shifts_and_slots_permute_an_axis():
    x = normal(2, 3, 6)
    assert torch.equal(ShiftSpace((3, 6), 1).apply(ShiftSpace((3, 6), 1).shift(2), x), x.roll(2, 2))
    space = SlotSpace((3, 6), 0)
    assert torch.equal(space.apply(space.matrix((2, 0, 1)), x), x[:, [2, 0, 1]])


def test_which_spaces_an_action_has():
    def kinds(action, shape):
        return [space.kind for space in action.spaces(shape)]

    assert kinds(liegg.Linear(3, copies=4), (4, 3)) == ["vectors", "slots"]
    assert kinds(liegg.Linear(3).restrict(liegg.so(3)), (3,)) == ["vectors"]
    both = liegg.Product(liegg.Image(), liegg.Color("linear"))
    assert kinds(both, (3, 8, 8)) == ["grid", "shifts", "shifts", "channels"]
    assert kinds(liegg.actions.Banded(8, 1), (8,)) == []


def test_slots_state_what_they_need():
    action = Slots(axis=-1)
    assert action.spaces((4, 3))[0].side == 3
    assert action_from_settings(action.settings()) == action
    with pytest.raises(ShapeError, match="expects an axis 2"):
        Slots(axis=2).check((4, 3))
    with pytest.raises(ShapeError, match="a permutation needs 2"):
        Slots().check((1, 3))


def test_matrices_and_permutations_at_leaves_of_structured_samples():
    atoms = liegg.Affine(2)
    data = {"pos": normal(3, 4, 2), "vel": normal(3, 4, 2), "z": normal(3, 4)}
    packed, _, action = pack_samples(data, {"pos": atoms, "vel": atoms.vectors})
    vectors, slots = action.spaces((packed.layout.width,))
    assert isinstance(vectors, VectorSpace)
    assert isinstance(slots, SlotSpace)
    x, h = packed.rows(0, 3), torch.eye(3, dtype=torch.float64)
    h[:2, :2], h[:2, 2] = QUARTER, torch.tensor([1.0, 2.0])
    after, leaves = vectors.apply(h, x), packed.layout.by_path
    moved = {name: packed.layout.values(after, leaf) for name, leaf in leaves.items()}
    assert torch.allclose(moved["pos"], data["pos"] @ QUARTER.mT + h[:2, 2])
    assert torch.allclose(moved["vel"], data["vel"] @ QUARTER.mT)
    assert torch.equal(moved["z"], data["z"])
    assert torch.allclose(vectors.apply_all(h[None], x)[0], vectors.apply(h, x))
    assert torch.equal(vectors.factors(x)[0, :, 2], torch.tensor([1.0] * 4 + [0.0] * 4).double())
    order = [1, 0, 2, 3]
    swapped = slots.permute(order, x)
    for name, permuted in (("pos", True), ("vel", True), ("z", False)):
        values = packed.layout.values(swapped, leaves[name])
        assert torch.equal(values, data[name][:, order] if permuted else data[name])


def test_points_that_are_missing_stay_and_are_not_permuted():
    data = [{"pos": normal(size, 2)} for size in (2, 3)]
    packed, _, action = pack_samples(data, {"pos": liegg.Affine(2, copies=None)})
    (vectors,) = action.spaces((packed.layout.width,))
    assert isinstance(vectors, VectorSpace)
    x = torch.cat(list(packed))
    assert vectors.factors(x)[:, :, 2].tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    h = torch.eye(3, dtype=torch.float64)
    h[0, 2] = 5.0
    assert vectors.apply(h, x)[0, 4:6].tolist() == [0.0, 0.0]
