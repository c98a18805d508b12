"""Actions at leaves: laws on rows, what shares generators moves together, context stays."""

import pytest
import torch

import liegg
from liegg._utils.errors import ShapeError
from liegg.actions import Action, action_from_settings
from liegg.actions.placed import place, places_of
from liegg.inputs.structure.packed import pack_data
from liegg.testing import assert_is_action
from structures import molecules, padded

A = liegg.Affine(3, copies=None)
R = A.restrict(liegg.se(3))


def cloud(shape: tuple[int, ...]) -> None:
    A.check(shape)


def ragged():
    draw = torch.Generator().manual_seed(1)
    samples = [
        one | {"vel": torch.randn(one["pos"].shape, generator=draw, dtype=torch.float64)}
        for one in molecules(9)
    ]
    packed, _ = pack_data(samples, {"pos": cloud, "vel": cloud})
    return packed.layout, packed.rows(0, 9)


def masked():
    batch = padded(7)
    batch["vel"] = batch["pos"].flip(0)
    packed, _ = pack_data(batch, {"pos": cloud, "vel": cloud})
    return packed.layout, packed.rows(0, 7)


class Bend(Action):
    """Not linear, and without matrices."""

    size, words = 2, ("bend", "grow")  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]

    def fields(self, x):
        return torch.stack([torch.sin(x), x], 1)


MOVES = {
    "alone": {"pos": A},
    "together": {"pos": A, "vel": A},
    "vectors": {"pos": A, "vel": A.vectors},
    "apart": {"pos": A, "vel": liegg.Linear(3)},
    "restricted": {"pos": R, "vel": R.vectors},
    "custom": {"pos": (bend := Bend()), "vel": bend},
}


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("samples", [ragged, masked])
def test_the_laws_of_actions_hold(samples, moves):
    layout, x = samples()
    action = place(moves, layout)
    action.check(tuple(x.shape[1:]))
    assert_is_action(action, x, tolerance=1e-5 if moves is MOVES["custom"] else 1e-6)
    movable = action.movable(x)
    assert movable is not None
    h = torch.linspace(-0.3, 0.4, action.size, dtype=torch.float64)
    for other in (action.act(h, x) - x, action.field(h, x)):
        assert bool((other[~movable] == 0).all())
        assert bool((other[movable] != 0).any())
    assert torch.equal(action.moving(x) != 0, movable & (x != 0))


@pytest.mark.parametrize("moves", [v for k, v in MOVES.items() if k != "custom"])
def test_actions_are_made_again_from_their_settings(moves):
    layout, x = ragged()
    action = place(moves, layout)
    other = action_from_settings(action.settings())
    h = torch.linspace(-0.3, 0.4, action.size, dtype=torch.float64)
    assert torch.equal(other.act(h, x), action.act(h, x))
    assert other.same_motions(action)
    assert other.structure == layout
    assert list(places_of(other)) == list(moves)


def test_blocks_of_samples_have_their_own_moments():
    for layout, x in (ragged(), masked()):
        action = place(MOVES["vectors"], layout)
        block = torch.arange(len(x)) % 3
        each = action.moments(x, block, 3)
        assert torch.allclose(each.sum(0), action.moment(x))
        assert torch.allclose(each[1], action.moment(x[block == 1]))


def test_velocities_move_by_the_linear_part():
    layout, x = ragged()
    action = place(MOVES["vectors"], layout)
    shift = liegg.translation(3)[0].double()
    moved = action.act(shift, x) - x
    velocities = layout.by_path["vel"]
    assert bool((moved[:, velocities.start : velocities.stop] == 0).all())
    positions = layout.values(moved, layout.by_path["pos"])
    present = layout.present(x, layout.by_path["pos"])
    assert torch.allclose(positions[present], torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64))


def test_names_and_words_are_those_of_the_action():
    layout, _ = masked()
    action = place(MOVES["alone"], layout)
    assert action.has_matrices
    assert action.words == A.words
    assert repr(action) == f"{{'pos': {A!r}}}"
    assert action.code() == f"{{'pos': liegg.{A!r}}}"


def test_one_vector_becomes_one_per_point():
    layout, _ = ragged()
    action = place({"pos": liegg.Affine(3)}, layout)
    assert places_of(action)["pos"] == A
    with pytest.raises(
        ShapeError, match=r"'pos': a sample has shape \(8, 3\); Linear\(2, copies=1\)"
    ):
        place({"pos": liegg.Linear(2)}, layout)
    with pytest.raises(ShapeError, match="expected the"):
        action.check((3,))


def test_any_number_of_vectors():
    x = torch.randn(4, 7, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for action in (A, liegg.Linear(3, copies=None), A.vectors):
        assert_is_action(action, x)
        assert torch.equal(action.fields(x[:, :2]), action.fields(x)[:, :, :2])
        assert action_from_settings(action.settings()).same_motions(action)
        assert_is_action(action, x[:, None])
        torch.testing.assert_close(action.fields(x[:, None]), action.fields(x)[:, :, None])
    flipped = liegg.Linear(3, copies=None, layout="vector_first")
    assert_is_action(flipped, x.mT)
    with pytest.raises(ShapeError, match=r"Affine\(3, copies=None\) expects \[k, 3\]"):
        A.check((21,))
    with pytest.raises(ShapeError, match=r"shape \(2, 7, 3\)"):
        A.check((2, 7, 3))
    with pytest.raises(ShapeError, match=r"expects \[3, k\]"):
        flipped.check((7, 3))


def test_the_same_vectors_belong_to_the_same_positions():
    assert A.vectors.family == A.family == A.vectors.vectors.family
    assert R.vectors.family == R.family
    assert liegg.Affine(3).family != liegg.Affine(3).family
    linear = liegg.Linear(3)
    assert linear.vectors is linear
    with pytest.raises(AttributeError, match="vectors are for Linear and Affine"):
        _ = liegg.Image("affine").restrict(liegg.so(2)).vectors
