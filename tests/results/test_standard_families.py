"""Standard families are reported as wholes where the count says nothing of them."""

import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis


def families(sym):
    return [
        (remark.values["name"], remark.values["defect"])
        for remark in sym.decision.reasons
        if remark.diagnosis is Diagnosis.STANDARD_FAMILY
    ]


def nearly_round(x):
    return x.square().sum(1) + 0.2 * torch.sin(2 * x[:, 0])


WIDE_GAP = liegg.Thresholds(minimum_gap=1e6)


def test_rotations_that_no_gap_sets_apart_are_reported():
    sym = liegg.discover(nearly_round, normal(500, 3), liegg.Affine(3), thresholds=WIDE_GAP)
    assert sym.nullity <= 1
    ((name, defect),) = families(sym)
    assert name == "so(3)"
    rows = sym.action.as_coefficients(torch.nn.functional.pad(liegg.so(3), (0, 1, 0, 1)))
    assert defect >= 0.999 * float(sym.defect(rows).max())


def test_rigid_motions_stand_for_their_parts():
    def model(x):
        apart = x[:, :3] - x[:, 3:]
        return nearly_round(apart)

    action = liegg.Affine(3, copies=2)
    sym = liegg.discover(model, normal(500, 6), action, thresholds=WIDE_GAP)
    assert [name for name, _ in families(sym)] == ["se(3)"]


def test_named_symmetries_and_functions_without_any_report_none():
    x = normal(500, 3)
    assert families(liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))) == []
    assert families(liegg.discover(lambda x: (x**3).sum(1), x, liegg.Linear(3))) == []
