"""The result: the name of the algebra of every function of known symmetry, and questions about any direction."""

import torch

import liegg
from cases import CASES, normal
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
    "plane": "se(2)",
    "network": "0",
    "classifier": "0",
    "inner-products": "so(5)",
}


def test_every_case_of_known_symmetry_has_its_name():
    for case in CASES:
        sym = liegg.discover(case.function, case.data, case.action)
        assert sym.name == NAMES[case.name], case
        assert sym.identification.confident, case
        if sym.nullity:
            named = sym.identification.generators.flatten(1)
            angles = principal_angles(named, sym.generators.flatten(1))
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
    sym = liegg.discover(
        lambda x: x.sum((1, 2, 3)),
        images,
        liegg.Image("affine"),
        controls="none",
        thresholds=liegg.Thresholds(clear=0.0),
    )
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
