"""The result: the name of the algebra of every function of known symmetry, questions about any direction, JSON values."""

import json
from dataclasses import asdict

import numpy as np
import torch

import liegg
from cases import CASES, analysed, conjugated_map, lorentz, network, normal
from liegg.algebra import principal_angles

NAMES = {
    "norm-2": "so(2)",
    "norm-5": "so(5)",
    "sphere-4": "so(4)",
    "lorentz": "so(1,3)",
    "conjugated-so3-2": "so(3)",
    "determinant-2": "sl(2,R)",
    "determinant-3": "sl(3,R)",
    "symplectic": "sp(4,R)",
    "hermitian": "u(2)",
    "complex-norm": "u(2)",
    "distances": "se(3)",
    "tetrahedron": "saff(3)",
    "differences": "translation(2)",
    "direction": "scaling(3)",
    "rayleigh": "scaling(3)",
    "opposite-outputs": "aff(2)",
    "linear": "aff(3)",
    "two-norms": "so(3) ⊕ so(3)",
    "hyperbola": "so(1,1)",
    "product-of-three": "R²",
    "height": "so(2)",
    "zero": "gl(3,R)",
    "plane": "so(3), up to motions that do not move this data",
    "network": "0",
    "classifier": "0",
    "inner-products": "so(5)",
}


def test_every_case_of_known_symmetry_has_its_name():
    for case in CASES:
        sym = analysed(case)
        assert sym.name == NAMES[case.name], case
        assert sym.identification.confident, case
        if sym.nullity:
            named, found = sym.identification.generators, sym.generators
            if case.name == "plane":  # equal as motions of the data, which do not leave a plane
                named, found = (part @ case.data.mT for part in (named, found))
            angles = principal_angles(named.flatten(1), found.flatten(1))
            assert float(angles.max()) < 1e-9, case


def test_lorentz_in_a_rotated_basis_has_its_metric_and_three_rotations_and_boosts():
    turn = torch.linalg.qr(normal(4, 4, seed=5))[0]
    metric = turn @ torch.diag(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64)) @ turn.mT
    sym = liegg.discover(
        lambda x: torch.einsum("bi,ij,bj->b", x, metric, x).sin(), normal(300, 4), liegg.Linear(4)
    )
    found = sym.identification
    assert (found.name, found.meaning[:13]) == ("so(1,3)", "Lorentz group")
    assert found.metric is not None
    assert torch.allclose(found.metric, metric, atol=1e-9)
    assert (found.readable.rotations, found.readable.boosts) == (3, 3)
    assert sum("rotation in" in words for words in found.readable.framed_words) == 3
    assert sum("boost along" in words for words in found.readable.framed_words) == 3
    assert "preserves a metric of signature (1, 3), volume" in str(found)


def test_rigid_motions_of_a_point_cloud():
    def pairwise_distances(x: torch.Tensor) -> torch.Tensor:
        i, j = torch.triu_indices(5, 5, 1)
        return (x[:, i] - x[:, j]).norm(dim=2)

    found = liegg.discover(
        pairwise_distances, normal(300, 5, 3), liegg.Affine(3, copies=5)
    ).identification
    assert found.name == "se(3)"
    assert found.readable.words == (
        "rotation in x₁–x₂",
        "rotation in x₁–x₃",
        "rotation in x₂–x₃",
        "translation along x₁",
        "translation along x₂",
        "translation along x₃",
    )


def test_special_unitary_maps():
    def product_and_area(x: torch.Tensor) -> torch.Tensor:
        z, w = torch.complex(x[:, 0, :2], x[:, 0, 2:]), torch.complex(x[:, 1, :2], x[:, 1, 2:])
        product, area = (z.conj() * w).sum(1), z[:, 0] * w[:, 1] - z[:, 1] * w[:, 0]
        return torch.stack([product.real, product.imag, area.real, area.imag], 1)

    found = liegg.discover(
        product_and_area, normal(300, 2, 4), liegg.Linear(4, copies=2)
    ).identification
    assert found.name == "su(2)"
    assert "so(3)" in found.aliases
    assert len(found.forms.antisymmetric) == 3
    assert len(found.forms.commutant) == 4  # the quaternions


def test_a_linear_action_has_no_translations():
    sym = liegg.discover(lambda x: x[:, 2:].sin(), normal(300, 3), liegg.Linear(3))
    assert sym.name == "aff(2)"
    assert "in homogeneous coordinates" in sym.identification.meaning
    assert not any("translation" in words for words in sym.identification.readable.words)


def test_images_have_coordinates_x_and_y():
    place = torch.linspace(-1, 1, 16, dtype=torch.float64)
    bumps = torch.exp(-20 * ((place - 0.3 * normal(100, 1)) ** 2))
    images = (
        bumps[:, :, None] * torch.exp(-10 * (place - 0.2 * normal(100, 1, seed=1)) ** 2)[:, None, :]
    )[:, None]
    sym = liegg.discover(lambda x: x.sum((1, 2, 3)), images, liegg.Image("affine"), controls="none")
    assert (sym.identification.coordinates, sym.identification.homogeneous) == (("x", "y"), True)
    assert sym.nullity
    assert all("x" in words or "y" in words for words in sym.identification.readable.words)


def test_words_and_candidates_are_stored_with_the_result():
    found = liegg.discover(lambda x: x.square().sum(1), normal(300, 3), liegg.Linear(3))
    assert found.words == found.identification.readable.words
    assert sorted(found.words) == ["rotation in x₁–x₂", "rotation in x₁–x₃", "rotation in x₂–x₃"]
    assert len(found.account.words) == 3
    assert [near.grade for near in found.candidates] == list(found.decision.grades[3:6])
    for place, near in enumerate(found.candidates, start=3):
        assert near.defect == float(found.defects[place])
        assert near.interval[0] < near.defect < near.interval[1]
        assert torch.equal(near.coefficients, found.accumulated.solution.directions[place])


def test_coefficients_and_matrices_ask_the_same_question():
    sym = liegg.discover(lambda x: x.pow(3).sum(1), normal(300, 3), liegg.Linear(3))
    h = normal(4, 9, seed=2)
    matrices = sym.action.as_coefficients(h).unflatten(1, (3, 3))
    torch.testing.assert_close(sym.defect(h), sym.defect(matrices), rtol=1e-12, atol=0)
    one, other = sym.defect_interval(h), sym.defect_interval(matrices)
    torch.testing.assert_close(one, other, rtol=1e-12, atol=0)


# The record as a dict: JSON values only, and nothing of the record missing.

KEYS = {
    "distribution",
    "on_output",
    "vector_fields",
    "model",
    "sentence",
    "readable",
    "question",
    "samples",
    "rows",
    "action",
    "output_action",
    "nullity",
    "variance",
    "spectrum",
    "defects",
    "sensitivity",
    "generators",
    "output_generators",
    "generator_variance",
    "generator_defect",
    "tower",
    "trivial",
    "name",
    "identification",
    "decision",
    "settings",
    "notes",
    "intervals",
    "grades",
    "control",
    "reinitialised",
    "words",
    "answers",
    "generator_words",
    "candidate_words",
    "candidates",
    "coefficients",
    "bias",
    "verification",
    "bottom",
}


def test_is_json():
    for case in CASES:
        record = analysed(case).to_dict()
        assert json.loads(json.dumps(record, allow_nan=False)) == record, case
        assert record.keys() == KEYS, case


def test_tells_what_was_found():
    case = lorentz()
    sym = liegg.discover(case.function, case.data, case.action)
    record = sym.to_dict()
    assert (record["question"], record["nullity"], record["samples"], record["rows"]) == (
        "invariance",
        6,
        200,
        200,
    )
    np.testing.assert_array_equal(record["generators"], sym.generators)
    np.testing.assert_array_equal(record["spectrum"], sym.spectrum.values)
    np.testing.assert_array_equal(record["defects"], sym.defects)
    assert record["output_generators"] is None
    assert record["decision"]["thresholds"] == asdict(sym.decision.thresholds)
    for key in ("reasons", "warnings"):
        stored, remarks = record["decision"][key], getattr(sym.decision, key)
        assert [one["diagnosis"] for one in stored] == [r.diagnosis.name.lower() for r in remarks]
        assert [one["text"] for one in stored] == list(map(str, remarks))
    assert record["words"] == list(sym.words)
    assert len(record["words"]) == 6
    assert [near["defect"] for near in record["candidates"]] == sym.defects[6:9].tolist()
    assert record["bias"] is not None
    assert max(record["bias"][:6]) < 1e-9
    assert record["settings"]["versions"]["liegg"] == liegg.__version__


def test_each_generator_has_its_numbers():
    record = analysed(lorentz()).to_dict()
    assert len(record["generator_variance"]) == len(record["generator_defect"]) == 6
    assert max(record["generator_defect"]) < 1e-28


def test_none_found():
    record = analysed(network()).to_dict()
    assert (record["nullity"], record["generators"], record["generator_defect"]) == (0, [], [])
    assert len(record["candidates"]) == 3
    assert record["candidates"][0]["interval"][0] < record["candidates"][0]["defect"]


def test_an_infinite_gap_is_null():
    found = liegg.discover(
        lambda x: x.square().sum(1), normal(50, 3), liegg.Linear(3).restrict(liegg.so(3))
    )
    assert found.nullity == 3
    assert found.to_dict()["decision"]["gap"] is None


def test_equivariance_has_both_sides():
    case = conjugated_map()
    record = liegg.discover(
        case.function, case.data, case.action, output_action=case.output_action
    ).to_dict()
    assert record["question"] == "equivariance"
    assert np.shape(record["generators"]) == (3, 6, 6)
    assert np.shape(record["output_generators"]) == (3, 3, 3)
    assert record["output_action"] == {
        "kind": "linear",
        "n": 3,
        "copies": 1,
        "layout": "copies_first",
    }
    assert max(record["generator_defect"]) < 1e-28
