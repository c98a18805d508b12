"""Vector fields as text and LaTeX: the sign convention, constants, names, numbers, and terms left out."""

import math
import re
from typing import Any

import pytest
import torch

from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.actions import Affine, Color, Image, Linear, Product
from liegg.algebra import aff, gl, identify, scaling, se, sl, so, translation
from liegg.algebra.words.latex import name_latex, symbol_latex
from liegg.algebra.words.vector_fields import SHOWN_TERMS, vector_field, vector_field_latex


def evaluated(text, x):
    """Components of a vector field in the default names at a point: the text read back."""
    velocity = torch.zeros_like(x)
    digits = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
    for sign, size, factor, along in re.findall(
        r"([−+]?) ?([\d.]*) ?(?:x([₀-₉]+))?∂([₀-₉]+)", text
    ):
        value = (-1 if sign == "−" else 1) * float(size or 1)
        value *= x[int(factor.translate(digits)) - 1] if factor else 1.0
        velocity[int(along.translate(digits)) - 1] += value
    return velocity


def test_the_field_is_the_velocity_of_the_action():
    """A point moves by dx/dt = h x: the formula evaluated is the field of `Linear`, and the slope of its motion."""
    h, x = normal(3, 3), normal(1, 3, seed=1)
    field = evaluated(vector_field(h), x[0])
    torch.testing.assert_close(field, Linear(3).field(h.flatten(), x)[0], rtol=0, atol=0.02)
    step = (Linear(3).act(1e-6 * h, x) - x)[0] / 1e-6
    torch.testing.assert_close(field, step, rtol=0, atol=0.02)


def test_the_constants_of_an_affine_motion():
    h, x = normal(6), normal(1, 2, seed=1)
    (matrix,) = Affine(2).matrices(h[None])
    field = evaluated(vector_field(matrix, homogeneous=True), x[0])
    torch.testing.assert_close(field, Affine(2).field(h, x)[0], rtol=0, atol=0.02)


def test_the_rotation_takes_the_first_axis_towards_the_second():
    rotation = so(2)[0]
    assert vector_field(rotation) == "x₁∂₂ − x₂∂₁"
    moved = Linear(2).act(0.1 * rotation, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert float(moved[0, 1]) == pytest.approx(math.sin(0.1))


def test_an_image_turns_as_its_field_says():
    """A spot to the right of the centre goes up under x ∂y − y ∂x, with y upwards."""
    action = Image()
    (matrix,) = action.matrices(action.coefficients(so(2)))
    assert vector_field(matrix, coordinates=action.axes) == "x ∂y − y ∂x"
    image = torch.zeros(1, 15, 15, dtype=torch.float64)
    image[0, 7, 11] = 1.0
    moved = action.act(math.pi / 2 * matrix, image)
    row, column = divmod(int(moved.argmax()), 15)
    assert (row, column) == (3, 7)


def test_known_formulas():
    for matrix, homogeneous, text, latex in [
        (se(2)[1], True, "∂₁", r"\partial_1"),
        (-translation(1)[0], True, "−∂₁", r"-\partial_1"),
        (scaling(2)[0], False, "x₁∂₁ + x₂∂₂", r"x_1 \partial_1 + x_2 \partial_2"),
        (sl(2)[0] / 2, False, "0.5 x₂∂₁", r"\tfrac{1}{2} x_2 \partial_1"),
        (torch.zeros(2, 2), False, "0", "0"),
        (1e-7 * so(2)[0], False, "1e-07 x₁∂₂ − 1e-07 x₂∂₁", None),
        (torch.tensor([[1e-9, 2.0], [0.0, 0.0]]), False, "2 x₂∂₁", r"2 x_2 \partial_1"),
        (torch.tensor([[3]]), False, "3 x₁∂₁", r"3 x_1 \partial_1"),
        (torch.tensor([[0.12345]]), False, "0.123 x₁∂₁", r"0.123 x_1 \partial_1"),
        (torch.tensor([[123456.0]]), False, "123000 x₁∂₁", None),
        (torch.tensor([[2e9]]), False, "2e+09 x₁∂₁", r"2 \cdot 10^{9} x_1 \partial_1"),
    ]:
        assert vector_field(matrix, homogeneous=homogeneous) == text
        assert latex in (None, vector_field_latex(matrix, homogeneous=homogeneous))


def test_a_rotation_about_another_point():
    about = se(2)[0] + 0.2 * se(2)[1] - 0.3 * se(2)[2]
    names: dict[str, Any] = {"coordinates": ("x", "y"), "homogeneous": True}
    assert vector_field(about, **names) == "x ∂y − y ∂x + 0.2 ∂x − 0.3 ∂y"
    assert vector_field_latex(about, **names) == (
        r"x \partial_y - y \partial_x + \tfrac{1}{5} \partial_x - \tfrac{3}{10} \partial_y"
    )


def test_entries_within_the_tolerance_are_left_out():
    noisy = so(2)[0] + 0.01 * torch.eye(2)
    assert vector_field(noisy, tolerance=0.05) == "x₁∂₂ − x₂∂₁"
    assert "0.01 x₁∂₁" in vector_field(noisy, tolerance=0.001)


def test_a_name_that_begins_with_a_digit_is_not_a_factor():
    assert vector_field(2 * so(2)[0], coordinates=("2x", "y")) == "2 [2x] ∂y − 2 y ∂[2x]"


def test_names_that_are_not_letters():
    rotation = so(2)[0]
    given: dict[str, Any] = {"coordinates": ("petal length (cm)", "log_2")}
    assert (
        vector_field(rotation, **given) == "[petal length (cm)] ∂log_2 − log_2 ∂[petal length (cm)]"
    )
    assert vector_field_latex(rotation, **given) == (
        r"\mathrm{petal\ length\ (cm)} \partial_{\mathrm{log\_2}} - "
        r"\mathrm{log\_2} \partial_{\mathrm{petal\ length\ (cm)}}"
    )


def test_names_in_latex():
    for name, latex in [
        ("x", "x"),
        ("x₁₂", "x_{12}"),
        ("m1", "m_1"),
        ("m_1", "m_1"),
        ("v_x", "v_x"),
        ("vx", r"\mathrm{vx}"),
        ("x₂′", "x_2'"),
        ("50%", r"\mathrm{50\%}"),
        ("a$b#c&d", r"\mathrm{a\$b\#c\&d}"),
        ("{x}", r"\mathrm{\{x\}}"),
        ("a-b", r"\mathrm{a\text{-}b}"),
        ("\\input", r"\mathrm{\backslash input}"),
    ]:
        assert symbol_latex(name) == latex


def test_algebras_in_latex():
    for name, latex in [
        ("so(1,3)", r"\mathfrak{so}(1,3)"),
        ("sl(2,C)", r"\mathfrak{sl}(2,\mathbb{C})"),
        ("so(3) ⊕ R²", r"\mathfrak{so}(3) \oplus \mathbb{R}^{2}"),
        ("so(3) ⋉ R³", r"\mathfrak{so}(3) \ltimes \mathbb{R}^{3}"),
        ("diagonal(3)", r"\mathrm{diagonal}(3)"),
        ("0", "0"),
    ]:
        assert name_latex(name) == latex


def test_many_terms_end_in_dots():
    text = vector_field(normal(9, 9))
    assert text.count("∂") == SHOWN_TERMS
    assert text.endswith(" + …")
    assert vector_field_latex(torch.ones(9, 9)).endswith(r" + \ldots")
    assert "…" not in vector_field(torch.ones(4, 6)[:, :4])


def test_constants_of_a_product_are_numbers():
    both: Any = Product(Affine(2), Color("affine", channels=1))
    h = torch.zeros(1, both.size)
    h[0, 2] = 1.0  # the shift of x₁
    h[0, 7] = 0.5  # the offset of the values
    text = vector_field(both.matrices(h)[0], coordinates=both.axes)
    assert text == "∂x₁ + 0.5 ∂[the values]"


def test_what_is_not_a_generator():
    for matrix, given in [
        (torch.zeros(2, 3), {}),
        (torch.zeros(2), {}),
        (torch.full((2, 2), math.nan), {}),
        (torch.zeros(2, 2, dtype=torch.complex64), {}),
        (torch.eye(2), {"homogeneous": True}),
        (torch.eye(2), {"coordinates": ("x",)}),
        (torch.eye(2), {"coordinates": "xy"}),
        (torch.eye(2), {"tolerance": math.nan}),
        ("a", {}),
        (None, {}),
        (torch.zeros(0, 0), {"homogeneous": True}),
    ]:
        for write in (vector_field, vector_field_latex):
            with pytest.raises(ArgumentError):
                write(matrix, **given)


def test_arrays_half_precision_and_gradients():
    array: Any = so(2)[0].numpy()
    assert vector_field(array) == "x₁∂₂ − x₂∂₁"
    matrix = so(2)[0].half().requires_grad_()
    assert vector_field(matrix) == "x₁∂₂ − x₂∂₁"


def test_an_identification_in_a_notebook():
    """Jupyter shows `_repr_latex_` where there is no `_repr_html_`."""
    found = identify(so(3), coordinates=("x", "y", "z"))
    assert not hasattr(found, "_repr_html_")
    text = found._repr_latex_()
    assert text.startswith("$$")
    assert text.endswith("$$")
    assert r"\mathfrak{so}(3)" in text
    assert r"X_{1} &= x \partial_y - y \partial_x" in text
    assert found.vector_fields == ("x ∂y − y ∂x", "x ∂z − z ∂x", "y ∂z − z ∂y")
    assert found.to_dict()["readable"]["vector_fields"] == list(found.vector_fields)


def test_every_identification_has_latex():
    for generators in (gl(2)[:0], sl(2)[:2], aff(2), gl(6)):
        text = identify(generators)._repr_latex_()
        assert text.count(r"\begin") == text.count(r"\end") == 1
        assert text.count("{") == text.count("}")


def test_latex_of_an_identification_as_fields():
    found = identify(so(2))
    assert found.latex(fields=True).splitlines()[1] == r"X_1 &= x_1 \partial_2 - x_2 \partial_1"
    assert "pmatrix" in found.latex()
    with pytest.raises(ArgumentError):
        found.latex(fields=True, framed=True)
