"""Verdicts about data sets: what is said beside a model, and when nothing can be."""

import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis


def test_a_model_beside_its_data() -> None:
    x = data_set("half shell", 4000)
    data = liegg.discover_data(x, liegg.Linear(3), functions=32)
    ball = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
    comparison = liegg.compare(data, ball, names=("data", "model"))
    kept, beyond = comparison.remarks
    assert kept.diagnosis is Diagnosis.MODEL_KEEPS
    assert (kept.values["shared"], kept.values["total"]) == (1, 1)
    assert beyond.diagnosis is Diagnosis.MODEL_BEYOND
    assert beyond.values["beyond"] == 2
    assert "a data set and a model" in comparison.table(width=120)
    other = liegg.discover(lambda x: x[:, 0] ** 3 + x[:, 1] + x[:, 2] ** 2, x, liegg.Linear(3))
    kinds = [one.diagnosis for one in liegg.compare(other, data).remarks]
    assert kinds[0] is Diagnosis.MODEL_KEEPS
    assert kinds[-1] is Diagnosis.MODEL_BREAKS


def test_data_without_a_symmetry_has_nothing_to_keep() -> None:
    x = data_set("cube", 3000)
    data = liegg.discover_data(x, liegg.Linear(3), functions=32)
    assert data.decision.sentence.diagnosis is Diagnosis.DATA_NO_SYMMETRY
    ball = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
    first = liegg.compare(data, ball).remarks[0]
    assert first.diagnosis is Diagnosis.DATA_HAS_NOTHING_TO_KEEP


def test_a_data_set_is_never_exact() -> None:
    x = data_set("half shell", 4000)
    data = liegg.discover_data(x, liegg.Linear(3), functions=32)
    odd = liegg.discover(lambda x: x[:, 0] ** 3 + x[:, 1] + x[:, 2] ** 2, x, liegg.Linear(3))
    text = liegg.compare(data, odd, names=("data", "model")).table(width=160)
    assert "rotation" in text
    assert "data, exact" not in text
    assert "both models" not in text


def test_affine_maps_about_a_far_point_are_undecided() -> None:
    x = data_set("gaussian", 4000)[:, :2]
    near = liegg.discover_data(x, liegg.Affine(2), functions=32)
    assert near.nullity == 1
    for offset in (10.0, 1e6):
        sym = liegg.discover_data(x + offset, liegg.Affine(2), functions=32)
        assert sym.nullity == 0
        assert sym.decision.undecided
        kinds = [one.diagnosis for one in sym.decision.warnings]
        assert Diagnosis.DATA_OFF_CENTRE in kinds


def test_the_error_of_a_near_symmetry_is_known() -> None:
    """Chance does not explain what moves these samples, but the direction is as uncertain as that of a symmetry."""
    generator = torch.Generator().manual_seed(0)
    signs = torch.rand(40_000, 2, generator=generator, dtype=torch.float64) < 0.5
    noise = torch.randn(40_000, 2, generator=generator, dtype=torch.float64)
    x = 0.8 * noise + 0.6 * (2.0 * signs - 1)
    sym = liegg.discover_data(x, liegg.Linear(2), functions=64)
    assert sym.decision.sentence.diagnosis is Diagnosis.DATA_NEAR_SYMMETRIES
    assert sym.name == "so(2)"
    assert float(sym.angles(liegg.so(2)).max()) < sym.decision.uncertainty < 0.05
