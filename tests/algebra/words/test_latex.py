"""Generators and brackets as LaTeX: exact texts, structure, and coefficients read back."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg import algebra
from liegg._utils.errors import ArgumentError
from liegg.algebra import bracket, diagonal, se, sl, so, su, translation
from liegg.algebra.words.latex import brackets_latex, generators_latex, matrix_latex, number_latex


def assert_well_formed(text):
    """Braces, environments and `\\left` with `\\right` are balanced, and every row of a matrix has as many columns."""
    depth = 0
    for character in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0, "a brace is closed that was not opened"
    assert depth == 0, "a brace is left open"
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z]+\*?)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack[-1:] == [name], f"{name} ends where it did not begin"
            stack.pop()
    assert not stack, f"{stack} do not end"
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text)), (
        "left without right"
    )
    for name, body in re.findall(r"\\begin\{(pmatrix|array)\}(.*?)\\end\{\1\}", text):
        assert len({row.count("&") for row in body.split(r"\\")}) == 1, "rows of different length"
        assert name == "array" or body.split(r"\\")[0].count("&") < 10, (
            "more columns than a pmatrix takes"
        )


def test_the_check_of_structure_fails():
    for text, reason in [
        (r"\tfrac{1}{2", "left open"),
        (r"1}{", "not opened"),
        (r"\begin{align*}\end{pmatrix}", "did not begin"),
        (r"\begin{align*}", "do not end"),
        (r"\left( 1", "left without right"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}", "different length"),
        (
            r"\begin{pmatrix} 1 & 2 & 3 & 4 & 5 & 6 & 7 & 8 & 9 & 10 & 11 \end{pmatrix}",
            "more columns",
        ),
    ]:
        with pytest.raises(AssertionError, match=reason):
            assert_well_formed(text)


def test_numbers():
    for value, text in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-2.0, "-2"),
        (1e-12, "0"),
        (1 - 1e-12, "1"),
        (12.0, "12"),
        (1000.0, "1000"),
        (0.5, r"\tfrac{1}{2}"),
        (-0.5, r"-\tfrac{1}{2}"),
        (2 / 3, r"\tfrac{2}{3}"),
        (1.25, r"\tfrac{5}{4}"),
        (1 / 12, r"\tfrac{1}{12}"),
        (1 / 13, "0.077"),
        (math.sqrt(2), r"\sqrt{2}"),
        (math.sqrt(8), r"2\sqrt{2}"),
        (-math.sqrt(0.5), r"-\tfrac{1}{\sqrt{2}}"),
        (math.sqrt(3) / 2, r"\tfrac{\sqrt{3}}{2}"),
        (math.sqrt(2 / 3), r"\tfrac{\sqrt{2}}{\sqrt{3}}"),
        (1 / math.sqrt(12), r"\tfrac{1}{2\sqrt{3}}"),
        (1.5 * math.sqrt(2), r"\tfrac{3}{\sqrt{2}}"),
        (0.1234567, "0.123"),
        (-0.1234567, "-0.123"),
        (0.9999, "1.000"),
        (-1e-5, "0.000"),
        (0.5 + 1e-6, "0.500"),
        (math.pi, "3.142"),
    ]:
        assert number_latex(value) == text


def test_digits():
    assert number_latex(math.pi, digits=5) == "3.14159"
    assert (
        matrix_latex(torch.tensor([[math.pi]], dtype=torch.float64), digits=1)
        == r"\begin{pmatrix} 3.1 \end{pmatrix}"
    )


@given(st.floats(-100, 100))
@settings(deadline=None)
def test_every_number_reads_back(value):
    text = number_latex(value, digits=6)
    assert_well_formed(text)
    plain = re.sub(r"\\tfrac\{(.*)\}\{(.*)\}$", r"(\1)/(\2)", text)
    plain = re.sub(r"(\d*)\\sqrt\{(\d+)\}", lambda m: f"({m[1] or 1}*{m[2]}**0.5)", plain)
    assert eval(plain) == pytest.approx(value, abs=1e-6)


def test_a_matrix():
    matrix = torch.tensor([[0.0, -1.0, 0.5], [2.0, 0.25, 0.1234]], dtype=torch.float64)
    assert (
        matrix_latex(matrix)
        == r"\begin{pmatrix} 0 & -1 & \tfrac{1}{2} \\ 2 & \tfrac{1}{4} & 0.123 \end{pmatrix}"
    )


def test_wide_matrices_do_not_need_more_columns_than_a_pmatrix_has():
    for n, environment in [(10, "pmatrix"), (11, "array")]:
        text = matrix_latex(torch.eye(n))
        assert_well_formed(text)
        assert rf"\begin{{{environment}}}" in text
        assert (r"{ccccccccccc}" in text) == (n == 11)


def test_rotations_of_space():
    assert generators_latex(so(3)) == (
        "\\begin{align*}\n"
        r"X_1 &= \begin{pmatrix} 0 & -1 & 0 \\ 1 & 0 & 0 \\ 0 & 0 & 0 \end{pmatrix} \\"
        "\n"
        r"X_2 &= \begin{pmatrix} 0 & 0 & -1 \\ 0 & 0 & 0 \\ 1 & 0 & 0 \end{pmatrix} \\"
        "\n"
        r"X_3 &= \begin{pmatrix} 0 & 0 & 0 \\ 0 & 0 & -1 \\ 0 & 1 & 0 \end{pmatrix}"
        "\n"
        "\\end{align*}"
    )
    assert brackets_latex(so(3)) == (
        "\\begin{align*}\n[X_1, X_2] &= X_3 \\\\\n[X_1, X_3] &= -X_2 \\\\\n[X_2, X_3] &= X_1\n\\end{align*}"
    )


def test_special_linear_maps():
    assert brackets_latex(sl(2), names=("E", "F", "H")) == (
        "\\begin{align*}\n[E, F] &= H \\\\\n[E, H] &= -2 E \\\\\n[F, H] &= 2 F\n\\end{align*}"
    )
    assert (
        generators_latex(sl(2), names=["E", "F", "H"]).splitlines()[3]
        == r"H &= \begin{pmatrix} 1 & 0 \\ 0 & -1 \end{pmatrix}"
    )


def test_motions_of_the_plane():
    # The bracket of the translations vanishes and is left out.
    assert (
        brackets_latex(se(2))
        == "\\begin{align*}\n[X_1, X_2] &= X_3 \\\\\n[X_1, X_3] &= -X_2\n\\end{align*}"
    )


def test_coefficients_that_are_roots_and_sums():
    unit = algebra.orthonormal(so(3))
    assert all(
        r"\tfrac{1}{\sqrt{2}} X_" in line for line in brackets_latex(unit).splitlines()[1:-1]
    )
    # [E12, E21] = h = ½(h + 1) + ½(h - 1).
    h, one = diagonal(2)[0] - diagonal(2)[1], torch.eye(2, dtype=torch.float64)
    text = brackets_latex(torch.stack([*sl(2)[:2], one + h, h - one]))
    assert r"[X_1, X_2] &= \tfrac{1}{2} X_3 + \tfrac{1}{2} X_4" in text


def test_what_commutes_says_so():
    assert (
        brackets_latex(translation(2))
        == "\\begin{align*}\n[X_i, X_j] &= 0 \\quad \\text{for all } i, j\n\\end{align*}"
    )


def test_nothing_is_an_empty_text():
    assert generators_latex(torch.zeros(0, 3, 3)) == ""
    assert brackets_latex(torch.zeros(0, 3, 3)) == ""


def test_what_does_not_close_is_not_said_to():
    # [E12, E21] is diagonal, all of it outside; [E12, E21 + h] = h - 2 E12 lies half outside.
    assert brackets_latex(sl(2)[:2]).splitlines()[1] == r"[X_1, X_2] &= \ldots"
    half = torch.stack([sl(2)[0], sl(2)[1] + sl(2)[2]])
    assert brackets_latex(half).splitlines()[1].endswith(r" + \ldots")
    nearly = sl(2) + 1e-4 * torch.eye(2, dtype=torch.float64)
    assert r"\ldots" in brackets_latex(nearly)
    assert r"\ldots" not in brackets_latex(sl(2) + 1e-9 * torch.eye(2, dtype=torch.float64))


def test_more_than_nine_generators_have_braces():
    text = brackets_latex(so(5))
    assert_well_formed(text)
    assert "X_{10}" in text
    assert "X_10" not in text


def test_brackets_read_back():
    for generators in [so(3), sl(3), su(3), se(3), so(1, 3)]:
        mixed = torch.einsum("ab,bij->aij", regular(len(generators)), generators)
        text = brackets_latex(mixed, names=[f"X[{i}]" for i in range(len(mixed))], digits=9)
        found = 0
        for line in text.splitlines()[1:-1]:
            i, j, right = re.fullmatch(
                r"\[X\[(\d+)\], X\[(\d+)\]\] &= (.*?)(?: \\\\)?", line
            ).groups()  # pyright: ignore[reportOptionalMemberAccess]
            terms = re.findall(r"(-?) ?([\d.]*) ?X\[(\d+)\]", right)
            value = sum(float(f"{sign}{size or 1}") * mixed[int(k)] for sign, size, k in terms)
            torch.testing.assert_close(
                value, bracket(mixed[int(i)], mixed[int(j)]), atol=1e-6, rtol=0
            )
            found += 1
        assert found == len(mixed) * (len(mixed) - 1) // 2


@given(d=st.integers(1, 4), n=st.integers(2, 4), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_every_text_is_well_formed(d, n, seed):
    generators = normal(d, n, n, seed=seed)
    assert_well_formed(generators_latex(generators))
    assert_well_formed(brackets_latex(generators))
    assert generators_latex(generators).count("X_") == d


def test_errors():
    for make, text in [
        (lambda: number_latex(math.nan), "the number is nan; expected finite ones"),
        (
            lambda: matrix_latex(torch.zeros(3)),
            r"the matrix has shape \(3,\) and is torch.float32; expected real entries \[m, n\]",
        ),
        (lambda: matrix_latex(torch.zeros(0, 2)), r"the matrix has shape \(0, 2\)"),
        (lambda: generators_latex(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (
            lambda: generators_latex(so(3), names=("a",)),
            r"names are \('a',\); expected 3 LaTeX names",
        ),
        (lambda: brackets_latex(so(3), names="abc"), r"names are 'abc'; expected 3 LaTeX names"),
        (
            lambda: brackets_latex(torch.cat([so(2), so(2)])),
            r"2 generators span 1 dimensions; expected independent ones",
        ),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()
