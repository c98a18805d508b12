"""Beside a neighbour that an error can turn it into, a name is right or not sure."""

import pytest
import torch

import liegg
from cases import regular, units
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import diagonal, direct_sum, heis, orthonormal
from liegg.algebra.identify import identified
from liegg.algebra.stability import limit_distance
from neighbours import Neighbour as Case
from neighbours import (
    abelian,
    affine,
    bianchi,
    contractions,
    offset_errors,
    offsets,
    planar,
    stretched,
    with_error,
)
from neighbours import rigid as rigid_algebras

ERRORS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
STATED = (None, 1.0, 10.0)


@pytest.mark.parametrize("family", [abelian, contractions, bianchi], ids=lambda f: f.__name__)
def test_no_wrong_name_is_sure(family):
    """Every case with one of the errors, stated or not; all of them in the slow test."""
    for turn, case in enumerate(family()):
        error, factor = ERRORS[turn % len(ERRORS)], STATED[turn % len(STATED)]
        stated = None if factor is None else factor * error
        found = liegg.identify(with_error(case, error, 7 * turn), uncertainty=stated)
        assert case.right(found.name) or not found.confident, (case.label, error, stated)


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("family", [abelian, contractions, bianchi], ids=lambda f: f.__name__)
def test_no_wrong_name_is_sure_in_all_of_them(family, error):
    for turn, case in enumerate(family()):
        for factor in STATED if error else (None,):
            stated = None if factor is None else factor * error
            found = liegg.identify(with_error(case, error, turn + 100), uncertainty=stated)
            assert case.right(found.name) or not found.confident, (case.label, error, stated)


@pytest.mark.slow
@pytest.mark.parametrize("case", rigid_algebras(), ids=lambda case: case.label)
def test_rigid_algebras_stay_sure(case):
    for turn, error in enumerate([0.0, 1e-6, 1e-2]):
        found = liegg.identify(with_error(case, error, turn), uncertainty=error)
        assert (found.name, found.confident) == (case.names[0], True), error


def test_exact_algebras_stay_sure_whatever_is_stated():
    """No error leaves a special algebra exactly where it is."""
    shear = torch.stack([torch.eye(2, dtype=torch.float64), units(2, (0, 1))[0]])
    for generators, name in [
        (liegg.translation(2), "translation(2)"),
        (liegg.se(2), "se(2)"),
        (heis(3), "heis(3)"),
        (shear, "R²"),
        (offsets(2), "R²"),
    ]:
        for uncertainty in (None, 1e-6, 1e-3):
            found = liegg.identify(generators, uncertainty=uncertainty)
            assert (found.name, found.confident) == (name, True)


def test_entries_below_rounding_are_not_ignored():
    """With c = 3e8 m/s, 1/c² is below the rounding of 1, but the entry itself is exact."""
    for c in (1e5, 3e8):
        for generators, name in [
            (stretched(liegg.so(1, 3), 1, c, c, c), "so(1,3)"),
            (stretched(liegg.se(1, 3), 1, c, c, c, 1), "e(1,3)"),
        ]:
            found = liegg.identify(generators)
            assert found.name == name or not found.confident
    assert found.reasons[-1].diagnosis is Diagnosis.OTHER_NAME_IN_UNITS
    assert found.reasons[-1].values["name"] == "e(1,3)"
    junk = liegg.se(3) + 1e-17 * torch.arange(96.0, dtype=torch.float64).sin().reshape(6, 4, 4)
    assert liegg.identify(junk).confident


# Both names are said, and what would decide


def test_small_constants_are_reported_with_both_names():
    found = liegg.identify(with_error(Case("", offsets(2), (), offset_errors(2)), 1e-7, 3))
    doubt = found.reasons[-1]
    assert not found.confident
    assert doubt.diagnosis is Diagnosis.SMALL_CONSTANTS_DECIDE
    assert {doubt.values["exact"], doubt.values["cut_name"]} == {"aff(1)", "R²"}
    found = liegg.identify(planar((1e-7, -1), (1, 1e-7)))
    assert {found.reasons[-1].values[key] for key in ("exact", "cut_name")} == {
        "Bianchi VII (h = 1e-14)",
        "se(2)",
    }


def test_a_larger_algebra_within_the_error_is_named():
    so3 = Case("", stretched(liegg.so(3), 1, 1, 100), ())
    found = liegg.identify(with_error(so3, 1e-3, 1), uncertainty=1e-3)
    doubt = found.reasons[-1]
    assert (found.name, found.confident, doubt.diagnosis) == ("se(2)", False, Diagnosis.NOT_RIGID)
    assert "so(3)" in doubt.values["others"] or "so(1,2)" in doubt.values["others"]


def test_a_simpler_algebra_within_the_error_is_pointed_out():
    so3 = stretched(liegg.so(3), 1, 1, 20)  # 1/400 from se(2)
    sure, unsure = (liegg.identify(so3, uncertainty=error) for error in (1e-4, 2e-3))
    assert (sure.name, sure.confident) == ("so(3)", True)
    assert not unsure.confident
    assert unsure.reasons[-1].diagnosis is Diagnosis.SIMPLER_WITHIN_NOISE
    assert "se(2)" in unsure.reasons[-1].values["others"]


# Distance to limits


@pytest.mark.parametrize("s", [10.0, 100.0, 1000.0])
def test_the_distance_to_a_limit_is_known(s):
    """so(3) with axes 1 : 1 : s is 1/s² from se(2)."""
    generators = orthonormal(stretched(liegg.so(3), 1, 1, s))
    assert limit_distance(generators, 5) == pytest.approx(s**-2, rel=0.3)


# How an algebra acts

ONE_PLANE = torch.eye(2, dtype=torch.float64)
DEFORMED = {
    "spiral": liegg.so(2) + 0.01 * ONE_PLANE,
    "squeeze with a scaling": liegg.so(1, 1) + 0.01 * ONE_PLANE,
    "shear with a scaling": units(2, (0, 1)) + 0.01 * ONE_PLANE,
    "uneven scaling": diagonal(2)[:1] + 0.99 * diagonal(2)[1:],
    "rotations, one a spiral": torch.cat(
        [
            direct_sum(liegg.so(2) + 0.01 * ONE_PLANE, torch.zeros(0, 2, 2)),
            direct_sum(torch.zeros(0, 2, 2), liegg.so(2)),
        ]
    ),
    "so(3) beside a spiral": direct_sum(liegg.so(3), liegg.so(2) + 0.01 * ONE_PLANE),
    "su(2) with a spiral": torch.cat(
        [liegg.algebra.su(2), liegg.algebra.u(2)[3:] + 0.01 * torch.eye(4)]
    ),
    "spiral with translations": planar((0.01, -1), (1, 0.01)),
}


@pytest.mark.parametrize("generators", DEFORMED.values(), ids=DEFORMED.keys())
def test_what_an_error_can_have_made_compact_is_not_sure(generators):
    """Without the scaling each is another algebra; an error as large as the scaling may have added or hidden it."""
    exact = liegg.identify(generators)
    for error in (0.01, 0.03):
        found = liegg.identify(generators, uncertainty=error)
        assert found.name == exact.name or not found.confident, (found.name, error)


@pytest.mark.parametrize("noise", [1e-8, 1e-6, 1e-4, 1e-2])
def test_no_rotation_is_shown_that_is_not_there(noise):
    """An error makes scalings with a shear those with a rotation, or with a boost, as its sign has it."""
    both = torch.stack([ONE_PLANE, units(2, (0, 1))[0]])
    for seed in range(4):
        for stated in (noise, None):
            found = liegg.identify(with_error(Case("", both, ()), noise, seed), uncertainty=stated)
            assert (found.name, found.confident) == ("R²", False)


def test_noise_does_not_choose_between_names_of_two_rotations():
    """In oblique planes the noise outside of them is larger than that of the generators."""
    names = set()
    for seed in range(6):
        frame = regular(4, seed=seed, condition=17.0)
        turns = frame @ direct_sum(liegg.so(2), liegg.so(2)) @ torch.linalg.inv(frame)
        found = liegg.identify(with_error(Case("", turns, ()), 1e-5, seed), uncertainty=1e-5)
        names.add((found.name, found.confident))
    assert names == {("so(2) ⊕ so(2)", False)}


def test_rounding_of_the_source_leaves_exact_algebras_sure():
    """Symmetries that are exact but for the rounding of float32, as those of a model in that precision."""
    for generators, name in [(liegg.so(2), "so(2)"), (liegg.se(2), "se(2)")]:
        near = with_error(Case("", generators, (), affine(3) if name == "se(2)" else None), 1e-8, 1)
        for exact in (True, False):
            found = identified(
                near, uncertainty=3e-6, coordinates=None, homogeneous=None, exact=exact
            )
            assert (found.name, found.confident) == (name, exact)
        coarse = identified(near, uncertainty=1e-3, coordinates=None, homogeneous=None, exact=True)
        assert not coarse.confident
