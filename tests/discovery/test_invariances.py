"""What must not change a verdict: units and copies of outputs, what does not matter, the basis of the candidates, copied data."""

from itertools import groupby

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal

X = normal(300, 3)


def nearly_round(x):
    """Rotations of R³ up to a small part: one exact, two above the floor."""
    return (x[:, :3].square().sum(1) + 0.1 * torch.sin(2 * x[:, 0]))[:, None]


def no_symmetry(x):
    return torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] ** 2


def both(x):
    return torch.cat([nearly_round(x), no_symmetry(x)], dim=1)


def count(model, x=X, action=None):
    return liegg.discover(model, x, action or liegg.Linear(x.shape[1])).nullity


@settings(max_examples=6, deadline=None)
@given(power=st.floats(-4, 6), which=st.integers(0, 1), times=st.integers(1, 20))
def test_units_and_copies_of_outputs_do_not_change_the_count(power, which, times):
    units = torch.ones(2, dtype=torch.float64)
    units[which] = 10**power

    def model(x):
        y = both(x) * units
        return torch.cat([y, y[:, which : which + 1].expand(-1, times - 1)], dim=1)

    assert count(model) == 0


@settings(max_examples=4, deadline=None)
@given(power=st.floats(-3, 3), times=st.integers(1, 20))
def test_units_and_copies_of_outputs_that_share_a_symmetry_do_not_change_the_count(power, times):
    def model(x):
        y = nearly_round(x)
        return torch.cat([y, 10**power * y.sin(), y.expand(-1, times)], dim=1)

    assert count(model) == 3


@pytest.mark.parametrize("size", [0.0, 1e-14])
def test_an_output_that_does_not_matter_changes_nothing(size):
    alone = liegg.discover(nearly_round, X, liegg.Linear(3))
    model = lambda x: torch.cat([nearly_round(x), 1 + size * no_symmetry(x)], dim=1)  # noqa: E731
    more = liegg.discover(model, X, liegg.Linear(3))
    assert more.decision.grades == alone.decision.grades
    assert torch.allclose(more.defects, alone.defects, rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize(("unused", "size"), [(1, 1.0), (1, 8.0), (1, 100.0), (3, 1.0), (3, 8.0)])
def test_features_that_do_not_matter_add_their_own_motions_only(unused, size):
    """Maps to the unused features preserve the function; the rotations stay counted, with their grade."""
    x = torch.cat([X, size * normal(300, unused, seed=5)], dim=1)
    alone = liegg.discover(nearly_round, X, liegg.Linear(3))
    more = liegg.discover(nearly_round, x, liegg.Linear(3 + unused))
    assert alone.nullity == 3
    assert more.nullity == 3 + unused * (3 + unused)
    assert more.decision.grades[more.nullity - 3 : more.nullity] == alone.decision.grades[:3]


def test_rotations_that_nearly_change_too_much_are_not_lost_beside_a_large_unused_feature():
    """The effect is that of motions as large as the data that is read: rotations stay approximate."""
    x = normal(1000, 4, seed=6)

    def learned(x):
        return (x[:, :3].square().sum(1) / 2).sin() + 0.05 * (
            (2 * x[:, 0]).sin() + x[:, 1] * x[:, 2]
        )

    grades = [
        liegg.discover(learned, x * torch.tensor([1, 1, 1, size]), liegg.Linear(4)).decision.grades
        for size in (1.0, 8.0)
    ]
    assert grades[0].count("approximate") == 3
    assert grades[1] == grades[0]


def test_a_candidate_that_does_not_move_the_data_changes_nothing():
    alone = liegg.discover(nearly_round, X, liegg.Linear(3))
    more = liegg.discover(nearly_round, torch.nn.functional.pad(X, (0, 1)), liegg.Linear(4))
    moving = len(alone.defects)
    # Maps of the three features to the fourth move the data and not the output: three more exact ones.
    assert more.nullity == alone.nullity + 3
    assert len(more.defects) == moving + 3
    assert more.decision.trivial == 16 - moving - 3


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 100))
def test_the_basis_of_the_candidates_does_not_matter(seed):
    plain = liegg.discover(nearly_round, X, liegg.Linear(3))
    basis = normal(9, 9, seed=seed).reshape(9, 3, 3)
    other = liegg.discover(nearly_round, X, liegg.Linear(3).restrict(basis))
    assert torch.allclose(other.defects, plain.defects, rtol=1e-9, atol=1e-25)
    assert other.decision.grades == plain.decision.grades


@pytest.mark.parametrize("times", [2, 5])
def test_copied_data_changes_neither_defects_nor_the_verdict(times):
    plain = liegg.discover(nearly_round, X, liegg.Linear(3))
    more = liegg.discover(nearly_round, X.repeat(times, 1), liegg.Linear(3))
    assert torch.allclose(more.defects, plain.defects, rtol=1e-9, atol=1e-25)
    assert more.decision.grades == plain.decision.grades
    width = plain.intervals[:, 1] / plain.intervals[:, 0]
    copied = more.intervals[:, 1] / more.intervals[:, 0]
    assert bool((copied[1:3] > 0.9 * width[1:3]).all())


def test_name_and_dimension_never_flicker_while_a_symmetry_is_broken():
    """so(3) broken from 0 to 1: its cluster stays whole until it is gone."""
    found = []
    for strength in torch.linspace(0, 1, 15).tolist():

        def model(x, strength=strength):
            return x.square().sum(1) + strength * no_symmetry(x)[:, 0]

        sym = liegg.discover(model, X, liegg.Linear(3))
        found.append(sym.tower[-1].dimension if sym.tower else 0)
    assert [dimension for dimension, _ in groupby(found)] == [3, 0]
