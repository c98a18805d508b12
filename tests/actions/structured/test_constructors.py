"""Structured candidate spaces: laws, the same answers as the restricted linear action, large inputs in little memory, errors."""

import json

import pytest
import torch

import liegg
from cases import normal
from liegg import algebra
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Linear, action_from_settings
from liegg.testing import assert_is_action
from measure import peak_bytes, reset_peak, resident_bytes

EYE = torch.eye(3, dtype=torch.float64)[None]
ACTIONS = {
    "blocks": (liegg.actions.Blocks([2, 3, 1]), 14),
    "blocks of one algebra": (liegg.actions.Blocks([3, 3], algebra.so(3)), 6),
    "blocks, dependent generators": (
        liegg.actions.Blocks([3, 3], torch.cat([algebra.so(3), 2 * algebra.so(3)])),
        6,
    ),
    "blocks of several, in another order": (
        liegg.actions.Blocks(
            [3, 2, 3], [algebra.so(3), None, algebra.sl(3)], order=[7, 0, 5, 4, 3, 2, 1, 6]
        ),
        3 + 4 + 8,
    ),
    "one block": (liegg.actions.Blocks([3]), 9),
    "tridiagonal": (liegg.actions.Banded(7), 19),
    "band": (liegg.actions.Banded(7, 2), 29),
    "diagonal": (liegg.actions.Banded(5, 0), 5),
    "convolutions": (liegg.actions.Banded(7, 2, shared=True), 5),
    "round the end": (liegg.actions.Banded(7, 1, periodic=True), 21),
    "circulant": (liegg.actions.Banded(7, 3, shared=True, periodic=True), 7),
    "weights": (liegg.actions.Weights([0, 0, 1, -1, 1, 2]), 3),
    "grid": (liegg.actions.KroneckerSum((3, 4)), 9 + 16 - 1),
    "tensor": (liegg.actions.KroneckerSum((2, 3, 4)), 4 + 9 + 16 - 2),
    "tensor, fewer than numbers": (liegg.actions.KroneckerSum((2, 2, 2, 2)), 16 - 3),
    "grid with rotations": (liegg.actions.KroneckerSum((3, 3), [algebra.so(3), None]), 12),
    "grid with traces": (
        liegg.actions.KroneckerSum(
            (2, 3, 2), [algebra.diagonal(2), EYE, torch.tensor([[[1.0, 0.0], [0.0, 0.0]]])]
        ),
        3,
    ),
    "axis of length one": (liegg.actions.KroneckerSum((1, 3)), 9),
    "one axis": (liegg.actions.KroneckerSum((4,)), 16),
}


@pytest.fixture(params=ACTIONS.values(), ids=list(ACTIONS))
def case(request):
    return request.param


def basis_of(action):
    return action.matrices(torch.eye(action.size, dtype=torch.float64))


def test_laws(case):
    action, _ = case
    action.check((action.ambient,))
    assert_is_action(action, normal(5, action.ambient), tolerance=1e-12)
    # A long motion is the matrix exponential.
    h, x = 8 * normal(action.size, seed=1) / action.size**0.5, normal(4, action.ambient)
    moved = x @ torch.linalg.matrix_exp(action.matrices(h[None])[0]).mT
    largest = float(moved.abs().max())
    torch.testing.assert_close(action.act(h, x), moved, rtol=1e-9, atol=1e-9 * largest)
    # Moments add over blocks of samples.
    x, block = normal(9, action.ambient), torch.arange(9) % 2
    apart = action.moments(x, block, 3)
    assert bool((apart[2] == 0).all())
    torch.testing.assert_close(apart.sum(0), action.moment(x))


def test_candidates_are_orthonormal_and_made_again_from_settings(case):
    action, size = case
    assert action.size == size
    flat = basis_of(action).flatten(1)
    identity = torch.eye(size, dtype=torch.float64)
    torch.testing.assert_close(flat @ flat.mT, identity, rtol=0, atol=1e-13)
    again = action_from_settings(json.loads(json.dumps(action.settings())))
    assert repr(again) == repr(action)
    torch.testing.assert_close(basis_of(again), basis_of(action), rtol=0, atol=1e-14)


def invariant(x):
    """A function of two quadratic forms with structure of its own."""
    x = x.flatten(1)
    return torch.stack(
        [x[:, : x.shape[1] // 2].square().sum(1).tanh(), x.square().sum(1).sin() + x[:, 0]], dim=1
    )


@pytest.mark.slow
def test_the_answer_is_that_of_the_restricted_linear_action(case):
    """Spectrum and generators are the same; defects too but for one factor, as the yardstick is the structure's own."""
    action, size = case
    x = normal(400, action.ambient)
    ours = liegg.discover(invariant, x, action, controls="none")
    theirs = liegg.discover(
        invariant, x, Linear(action.ambient).restrict(basis_of(action)), controls="none"
    )
    torch.testing.assert_close(ours.spectrum.values, theirs.spectrum.values, rtol=1e-10, atol=1e-10)
    assert len(ours.defects) == len(theirs.defects) == size
    factor = theirs.accumulated.solution.sensitivity / ours.accumulated.solution.sensitivity
    torch.testing.assert_close(ours.defects, theirs.defects * factor, rtol=1e-10, atol=1e-10)
    given = normal(2, size, seed=3)
    torch.testing.assert_close(
        ours.defect(action.matrices(given)),
        factor * theirs.defect(action.matrices(given)),
        rtol=1e-10,
        atol=1e-10,
    )
    assert float(ours.defects.mean()) == pytest.approx(1.0)  # κ is the mean over the candidates
    if ours.nullity and ours.nullity == theirs.nullity:
        liegg.testing.assert_same_span(ours.generators, theirs.generators, tolerance=1e-7)


def test_known_generators_are_found():
    sym = liegg.discover(
        lambda x: x.unflatten(1, (2, 3)).square().sum(2),
        normal(300, 6),
        liegg.actions.Blocks([3, 3]),
    )
    liegg.testing.assert_same_span(
        sym.generators, liegg.algebra.direct_sum(algebra.so(3), algebra.so(3)), tolerance=1e-7
    )
    grid = liegg.discover(
        lambda x: (x @ x.mT).flatten(1), normal(300, 3, 4), liegg.actions.KroneckerSum((3, 4))
    )
    expected = torch.stack(
        [torch.kron(torch.eye(3, dtype=torch.float64), turn) for turn in algebra.so(4)]
    )
    liegg.testing.assert_same_span(grid.generators, expected, tolerance=1e-7)


def lengths_of_rows(x):
    return x.view(-1, 28, 28).square().sum(2)[:, :3].log()


LARGE = {
    # Rotations of the columns keep the lengths of all rows; the first sixty rotations of the rows all turn one of the first three.
    "784 pixels, rotations": (
        liegg.actions.KroneckerSum((28, 28), [algebra.so(28)[:60]] * 2),
        lengths_of_rows,
        60,
    ),
    # The second half of the numbers has no influence.
    "3000 numbers, weights": (
        liegg.actions.Weights((torch.arange(3000) // 30).tolist()),
        lambda x: x[:, :1500].square().sum(1),
        50,
    ),
    # The antisymmetric ones of five shifts.
    "3000 numbers, convolutions": (
        liegg.actions.Banded(3000, 2, shared=True, periodic=True),
        lambda x: x.square().sum(1),
        2,
    ),
}


@pytest.mark.parametrize(("action", "function", "exact"), LARGE.values(), ids=list(LARGE))
def test_large_inputs(action, function, exact):
    sym = liegg.discover(function, normal(300, action.ambient), action, controls="none")
    assert int((sym.defects < 1e-20).sum()) == exact
    assert float(sym.defects[exact]) > 1e-6
    assert action.matrices(sym.coefficients[:1]).shape == (1, action.ambient, action.ambient)


@pytest.mark.parametrize("action", [case[0] for case in LARGE.values()], ids=list(LARGE))
def test_large_inputs_take_little_memory(action):
    """A dense [g, n, n] would take 0.6 to 7 GB; [g, n] for every sample of the batch 0.1 to 0.4 GB."""
    x, slopes = normal(64, action.ambient), normal(64, 2, action.ambient, seed=1)
    reset_peak()
    before = resident_bytes()
    action.contract(slopes, x)
    action.displacement(action.moment(x), 64)
    action.act(normal(action.size), x[:8])
    assert peak_bytes() - before < 100 * 2**20


def test_shapes_of_samples():
    liegg.actions.Blocks([2, 2]).check((2, 2))
    liegg.actions.KroneckerSum((2, 3)).check((1, 2, 3))
    with pytest.raises(
        ShapeError,
        match=r"a sample has shape \(5,\); Blocks\(2 blocks of 2, size=8\) expects 4 numbers",
    ):
        liegg.actions.Blocks([2, 2]).check((5,))
    with pytest.raises(
        ShapeError,
        match=r"shape \(3, 2\); KroneckerSum\(\(2, 3\), size=12\) expects \(2, 3\), or 6 numbers flat",
    ):
        liegg.actions.KroneckerSum((2, 3)).check((3, 2))


def test_acts_in_the_samples_dtype():
    for action in (liegg.actions.Banded(4), liegg.actions.KroneckerSum((2, 2))):
        h = torch.ones(action.size, dtype=torch.float64)
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.ones(1, 4, dtype=dtype)
            assert action.act(h, x).dtype == action.field(h, x).dtype == dtype


WRONG = [
    (
        lambda: liegg.actions.Blocks([]),
        r"sizes=\[\]: expected positive numbers, for example Blocks\(\[4\] \* 196\)",
    ),
    (lambda: liegg.actions.Blocks([2, 0]), r"sizes=\[2, 0\]: expected positive"),
    (
        lambda: liegg.actions.Blocks([True]),
        r"sizes=\[True\]: expected a list, each member a whole number",
    ),
    (
        lambda: liegg.actions.Blocks([2, 2], order=[0, 1, 2, 2]),
        "order has 4 entries; expected every index from 0 to 3 once",
    ),
    (
        lambda: liegg.actions.Blocks([2, 2], [None]),
        "1 algebras were given for 2 blocks; give one per block",
    ),
    (
        lambda: liegg.actions.Blocks([2, 2], algebra.so(3)),
        r"given as shape \(3, 3, 3\); expected finite real matrices \[r, 2, 2\]",
    ),
    (lambda: liegg.actions.Blocks([2], torch.zeros(1, 2, 2)), "no matrix other than zero"),
    (
        lambda: liegg.actions.Banded(4, 4),
        r"Banded\(4, 4\): expected n from 1 to 10000000 and a width from 0 to 3",
    ),
    (lambda: liegg.actions.Banded(4, 2, periodic=True), "a width from 0 to 1"),
    (lambda: liegg.actions.Weights([0, 2]), r"groups=\[0, 2\]: expected every index from 0"),
    (lambda: liegg.actions.Weights([-1, -1]), "every index from 0, for example"),
    (lambda: liegg.actions.KroneckerSum(()), r"sizes=\(\): expected the length of every axis"),
    (lambda: liegg.actions.KroneckerSum((2, 2), [None]), "1 algebras were given for 2 axes"),
    (
        lambda: liegg.actions.Blocks([2, 2]).coefficients(torch.zeros(1, 3, 3)),
        r"shape \(1, 3, 3\); expected \[d, 4, 4\], matrices of",
    ),
    (
        lambda: liegg.actions.Blocks([2, 2]).coefficients(torch.ones(1, 4, 4)),
        "generator 0 lies outside the 8-dimensional space of B",
    ),
    (
        lambda: liegg.actions.KroneckerSum((2, 2)).coefficients(normal(1, 4, 4)),
        "generator 0 lies outside the 7-dimensional space of K",
    ),
]


def test_errors():
    for make, text in WRONG:
        with pytest.raises(ArgumentError, match=text):
            make()
