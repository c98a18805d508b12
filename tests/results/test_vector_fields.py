"""Symmetries of a result as vector fields: invariance, equivariance, restrictions, products, and without matrices."""

import pytest
import torch

import liegg
from cases import normal
from liegg.results.vector_fields import field_texts, output_field_texts


def force(x):
    """A central force in three dimensions, which turns with its argument."""
    return x * torch.cos(x.square().sum(1, keepdim=True))


def test_fields_of_an_equivariant_model_and_of_its_output():
    sym = liegg.discover(
        force,
        normal(200, 3),
        liegg.Affine(3, names=["x", "y", "z"]),
        output_action=liegg.Linear(3, names=["F_x", "F_y", "F_z"]),
    )
    assert sym.words[0] == "rotation in x–y"
    assert sym.vector_fields() == ("x ∂y − y ∂x", "x ∂z − z ∂x", "y ∂z − z ∂y")
    assert sym.vector_fields(of_output=True) == (
        "F_x ∂F_y − F_y ∂F_x",
        "F_x ∂F_z − F_z ∂F_x",
        "F_y ∂F_z − F_z ∂F_y",
    )
    lines = sym.latex().splitlines()
    assert (
        lines[1]
        == r"X_1 &= x \partial_y - y \partial_x & Y_1 &= F_x \partial_{F_y} - F_y \partial_{F_x} \\"
    )
    assert sym.to_dict()["vector_fields"] == list(sym.vector_fields())


def pair_forces(x):
    """Forces along the lines between points, which turn with them and do not change when all are shifted."""
    lines = x[:, :, None] - x[:, None]
    return (lines * torch.exp(-lines.square().sum(-1, keepdim=True) / 2)).sum(2)


def test_a_generator_that_does_not_move_the_output_has_no_terms_there():
    atoms = normal(150, 12).unflatten(1, (4, 3))
    sym = liegg.discover(
        pair_forces, atoms, liegg.Affine(3, copies=4), output_action=liegg.Linear(3, copies=4)
    )
    shifts = [i for i, text in enumerate(sym.vector_fields()) if text in ("∂₁", "∂₂", "∂₃")]
    outputs = sym.vector_fields(of_output=True)
    assert len(shifts) == 3
    assert [outputs[i] for i in shifts] == ["0"] * 3
    assert sorted(len(text.split()) for text in outputs) == [1, 1, 1, 5, 5, 5]


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_small_outputs_of_large_units_are_not_taken_for_errors(unit):
    """A shift by one unit multiplies exp(x / unit) by exp(1 / unit), however small that is."""
    sym = liegg.discover(
        lambda x: torch.exp(x / unit),
        unit * normal(200, 1),
        liegg.Affine(1),
        output_action=liegg.Linear(1),
    )
    (output,) = sym.vector_fields(of_output=True)
    rate, empty = output.split("y₁ ∂y₁")
    assert not empty
    assert float(rate or 1) == pytest.approx(1 / unit)


def test_an_output_that_turns_the_other_way_has_the_other_sign():
    """f(x, y) = (x, -y): a rotation of the input turns the output back, and twice as fast for the square."""

    def squared(x):
        return torch.stack([x[:, 0] ** 2 - x[:, 1] ** 2, -2 * x[:, 0] * x[:, 1]], dim=1)

    sym = liegg.discover(squared, normal(200, 2), liegg.Linear(2), output_action=liegg.Linear(2))
    turns = dict(zip(sym.vector_fields(), sym.vector_fields(of_output=True), strict=True))
    assert turns["x₁∂₂ − x₂∂₁"] == "−2 y₁ ∂y₂ + 2 y₂ ∂y₁"
    assert turns["x₁∂₁ + x₂∂₂"] == "2 y₁ ∂y₁ + 2 y₂ ∂y₂"


def test_translations_are_constants():
    sym = liegg.discover(lambda x: (x[:, 0] - x[:, 1]) ** 3, normal(200, 2), liegg.Affine(2))
    assert "∂₁ + ∂₂" in sym.vector_fields()


def test_restrictions_and_images_keep_their_coordinates():
    grid = liegg.discover(
        lambda x: x.square().mean((1, 2)),
        normal(100, 8, 9),
        liegg.Image("affine", border="periodic"),
    )
    assert {"∂x", "∂y"} <= set(grid.vector_fields())
    only = liegg.Linear(3, names=["a", "b", "c"]).restrict(liegg.so(3)[:2])
    sym = liegg.discover(lambda x: x.square().sum(1), normal(200, 3), only)
    assert sym.vector_fields() == ("a ∂b − b ∂a", "a ∂c − c ∂a")


def test_a_span_without_a_name_has_fields_of_size_one():
    x = normal(300, 4)
    sym = liegg.discover(
        lambda x: torch.stack([x[:, 0] * x[:, 1], x[:, 2] - x[:, 3]], 1), x, liegg.Affine(4)
    )
    assert not sym.identification.known
    assert sym.vector_fields()[0] == "x₁∂₁ − x₂∂₂"
    assert len(sym.vector_fields()) == len(sym.words) == sym.nullity


def test_invariance_has_no_output_fields_and_nothing_found_none():
    sym = liegg.discover(
        lambda x: x[:, 0] + x[:, 1] ** 3 + x[:, 0] ** 2, normal(200, 2), liegg.Linear(2)
    )
    assert sym.nullity == 0
    assert field_texts(sym) == output_field_texts(sym) == ()
    assert sym.latex() == ""


class Wave(liegg.Action):
    """Shifts of the phase; no matrices."""

    @property
    def size(self):
        return 1

    def fields(self, x):
        return torch.ones_like(x)[:, None]


def test_an_action_without_matrices_has_no_fields():
    sym = liegg.discover(lambda x: torch.sin(x[:, 0] - x[:, 1]), normal(100, 2), Wave())
    assert sym.nullity == 1
    assert sym.vector_fields() == ()


def test_a_notebook_shows_the_page_of_a_result_and_the_formulas_of_its_name():
    """HTML comes first in Jupyter; without the package for pages, the table would give way to LaTeX."""
    sym = liegg.discover(lambda x: x.square().sum(1), normal(100, 2), liegg.Linear(2))
    assert hasattr(sym, "_repr_html_")
    assert not hasattr(sym, "_repr_latex_")
    assert r"x_1 \partial_2 - x_2 \partial_1" in sym.identification._repr_latex_()


class Scaled(liegg.actions.MatrixAction):
    """All linear maps of the plane, with candidates of different lengths."""

    sizes = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)

    @property
    def size(self):
        return 4

    @property
    def ambient(self):
        return 2

    def matrices(self, coefficients):
        return (coefficients * self.sizes.to(coefficients)).unflatten(1, (2, 2))

    def coefficients(self, matrices):
        return matrices.flatten(1) / self.sizes.to(matrices)

    def field(self, h, x):
        return x @ self.matrices(h[None].to(x))[0].mT


def test_candidates_of_different_lengths():
    sym = liegg.discover(
        lambda x: x * torch.cos(x.square().sum(1, keepdim=True)),
        normal(200, 2),
        Scaled(),
        output_action=liegg.Linear(2),
    )
    assert sym.vector_fields() == ("x₁∂₂ − x₂∂₁",)
    assert sym.vector_fields(of_output=True) == ("y₁ ∂y₂ − y₂ ∂y₁",)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fields_of_coarse_models(dtype):
    x = normal(200, 2).to(dtype)
    sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(2))
    assert sym.vector_fields() == ("x₁∂₂ − x₂∂₁",)
