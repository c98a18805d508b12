"""Beside a neighbour that an error can turn it into, a name is right or not sure."""

import pytest
import torch

import liegg
from cases import units
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import diagonal, heis, orthonormal
from liegg.algebra.stability import limit_distance, rigid
from neighbours import Neighbour as Case
from neighbours import (
    abelian,
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


# Distance to limits, rigidity


@pytest.mark.parametrize("s", [10.0, 100.0, 1000.0])
def test_the_distance_to_a_limit_is_known(s):
    """so(3) with axes 1 : 1 : s is 1/s² from se(2)."""
    generators = orthonormal(stretched(liegg.so(3), 1, 1, s))
    assert limit_distance(generators, 5) == pytest.approx(s**-2, rel=0.3)


def test_what_is_rigid():
    """As cohomology has it: H² of so(n) and of gl(n) vanishes, of nilpotent algebras never."""
    for generators, affine, answer in [
        (liegg.so(3), False, True),
        (liegg.u(3), False, True),
        (diagonal(3), False, True),
        (liegg.aff(2), True, True),
        (liegg.se(3), True, True),
        (liegg.se(3), False, False),
        (liegg.se(2), True, False),
        (liegg.translation(3), True, False),
        (heis(5), False, False),
        (offsets(2), False, False),
    ]:
        for error in (1e-6, 1e-2):
            assert rigid(orthonormal(generators), error, affine=affine) is answer
