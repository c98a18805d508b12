r"""Generators and their brackets as LaTeX for `amsmath`."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import torch
from jaxtyping import Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.bracket import bracket, structure_constants
from liegg.algebra.subspace import checked_generators
from liegg.algebra.words.wording import PLAIN_DIGITS, signed_sum

EXACT_NUMBER = 1e-9
"""Distance at which a number is taken for a fraction or a root.

About one random number in a million is, by chance."""

LARGEST_DENOMINATOR = 12
"""Largest denominator of a fraction that is written as one; twice that under a root."""

LATEX_ESCAPES = {letter: f"\\{letter}" for letter in "&%$#_{} "} | {
    "\\": r"\backslash ",
    "^": r"\hat{\ }",
    "~": r"\sim ",
    "-": r"\text{-}",
}
"""Letters that mean something to LaTeX, as it writes them."""


def number_latex(value: float, *, digits: int = 3) -> str:
    r"""A number: integers, simple fractions and their square roots exactly, all others rounded.

    So `1` is one to nine digits, and `1.000` is a number near it.

    >>> number_latex(-0.5), number_latex(2**-0.5), number_latex(0.75**0.5), number_latex(0.1234567)
    ('-\\tfrac{1}{2}', '\\tfrac{1}{\\sqrt{2}}', '\\tfrac{\\sqrt{3}}{2}', '0.123')
    """
    if not math.isfinite(value):
        raise ArgumentError(f"the number is {value}; expected finite ones.")
    sign, size = ("-" if value < 0 else ""), abs(value)
    whole = round(size)
    if abs(size - whole) <= EXACT_NUMBER * max(1.0, size):
        return f"{sign if whole else ''}{whole}"
    fraction = Fraction(size).limit_denominator(LARGEST_DENOMINATOR)
    if fraction and abs(size - fraction) <= EXACT_NUMBER:
        return rf"{sign}\tfrac{{{fraction.numerator}}}{{{fraction.denominator}}}"
    square = Fraction(size**2).limit_denominator(2 * LARGEST_DENOMINATOR)
    if 0 < square < LARGEST_DENOMINATOR**2 and abs(size - math.sqrt(square)) <= EXACT_NUMBER:
        top, bottom = _root(square.numerator), _root(square.denominator)
        return f"{sign}{top}" if bottom == "1" else rf"{sign}\tfrac{{{top}}}{{{bottom}}}"
    text = f"{size:.{digits}f}"
    return f"{sign if float(text) else ''}{text}"


def symbol_latex(name: str) -> str:
    r"""The name of a coordinate: a letter with its index, or upright text.

    >>> symbol_latex("x₁₂"), symbol_latex("m1"), symbol_latex("v_x"), symbol_latex("x′")
    ('x_{12}', 'm_1', 'v_x', "x'")
    >>> print(symbol_latex("petal length (cm)"), symbol_latex("log_2"))
    \mathrm{petal\ length\ (cm)} \mathrm{log\_2}
    """
    plain, primes = name.rstrip("′"), "'" * (len(name) - len(name.rstrip("′")))
    match = re.fullmatch(r"([A-Za-z])_?([0-9₀-₉]*|[A-Za-z])", plain)
    if match is None:
        text = "".join(LATEX_ESCAPES.get(letter, letter) for letter in plain)
        return rf"\mathrm{{{text}}}{primes}"
    letter, index = match[1], match[2].translate(PLAIN_DIGITS)
    if plain[1:] and plain[1] != "_" and index.isalpha():  # two letters are a word
        return rf"\mathrm{{{plain}}}{primes}"
    index = f"_{index}" if len(index) == 1 else f"_{{{index}}}" if index else ""
    return f"{letter}{index}{primes}"


def name_latex(name: str) -> str:
    r"""The name of an algebra.

    >>> print(name_latex("so(1,3)"), name_latex("sl(2,R) ⊕ R³"), name_latex("translation(2)"))
    \mathfrak{so}(1,3) \mathfrak{sl}(2,\mathbb{R}) \oplus \mathbb{R}^{3} \mathrm{translation}(2)
    >>> print(name_latex("se(3), up to motions"))
    \mathfrak{se}(3),\ \text{up to motions}
    """

    def word(match: re.Match[str]) -> str:
        text = match[0]
        if text in ("R", "C"):
            return rf"\mathbb{{{text}}}"
        # Names such as so, sp, heis and saff are in Fraktur; longer ones are words.
        return rf"\mathfrak{{{text}}}" if len(text) <= 4 else rf"\mathrm{{{text}}}"

    name, comma, words = name.partition(", ")
    if comma:
        return rf"{name_latex(name)},\ \text{{{words}}}"
    text = re.sub("[A-Za-z]+", word, name)
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"^{{{match[0].translate(PLAIN_DIGITS)}}}", text)
    return text.replace("⊕", r"\oplus").replace("⋉", r"\ltimes")


def matrix_latex(matrix: Num[Tensor, "..."], *, digits: int = 3) -> str:
    r"""A matrix as `pmatrix`; as an array in brackets if it has more columns than `pmatrix` takes.

    >>> matrix_latex(torch.tensor([[0.0, -1.0], [0.5, 0.0]]))
    '\\begin{pmatrix} 0 & -1 \\\\ \\tfrac{1}{2} & 0 \\end{pmatrix}'
    """
    if matrix.ndim != 2 or matrix.numel() == 0 or matrix.is_complex():
        raise ArgumentError(
            f"the matrix has shape {tuple(matrix.shape)} and is {matrix.dtype}; "
            "expected real entries [m, n]."
        )
    lines = [
        " & ".join(number_latex(value, digits=digits) for value in row)
        for row in matrix.to(torch.float64).tolist()
    ]
    body = r" \\ ".join(lines)
    if matrix.shape[1] <= 10:  # the default of the counter `MaxMatrixCols` of `amsmath`
        return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
    return rf"\left( \begin{{array}}{{{'c' * matrix.shape[1]}}} {body} \end{{array}} \right)"


def generators_latex(
    generators: Num[Tensor, "d ..."], *, names: Sequence[str] | None = None, digits: int = 3
) -> str:
    r"""Generators as an `align*`, one per line; an empty text if there are none.

    Args:
        generators: matrices.
        names: LaTeX names; `X_1`, `X_2`, ... otherwise.
        digits: decimals of numbers that are neither simple fractions nor their roots.

    Examples:
        >>> from liegg.algebra import so
        >>> print(generators_latex(so(2)))
        \begin{align*}
        X_1 &= \begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix}
        \end{align*}
    """
    texts = [matrix_latex(matrix, digits=digits) for matrix in checked_generators(generators)]
    return equations_latex(texts, names=names)


def equations_latex(texts: Sequence[str], *, names: Sequence[str] | None = None) -> str:
    r"""Formulas of generators as an `align*`, one per line; an empty text if there are none.

    Args:
        texts: LaTeX, one per generator.
        names: LaTeX names; `X_1`, `X_2`, ... otherwise.

    Examples:
        >>> print(equations_latex([r"x \partial_y"]))
        \begin{align*}
        X_1 &= x \partial_y
        \end{align*}
    """
    pairs = zip(_symbols(len(texts), names), texts, strict=True)
    return _align([f"{symbol} &= {text}" for symbol, text in pairs])


def brackets_latex(
    generators: Num[Tensor, "d ..."], *, names: Sequence[str] | None = None, digits: int = 3
) -> str:
    r"""All nonzero brackets $[X_i, X_j] = \sum_k c_k X_k$ with i < j as an `align*`.

    One line if all vanish.

    Coefficients are least squares solutions in the generators as given; terms that round to zero
    are left out. If more than a millionth of a bracket is outside the span, its line ends in `+
    \ldots`: the equation then shows the part inside the span, and the generators do not close.

    Args:
        generators: independent matrices.
        names: LaTeX names; `X_1`, `X_2`, ... otherwise.
        digits: decimals of coefficients that are neither simple fractions nor their roots.

    Raises:
        ArgumentError: the generators depend on each other, or the number of names is wrong.

    Examples:
        >>> from liegg.algebra import sl
        >>> print(brackets_latex(sl(2), names=("E", "F", "H")))
        \begin{align*}
        [E, F] &= H \\
        [E, H] &= -2 E \\
        [F, H] &= 2 F
        \end{align*}
    """
    symbols, write = _symbols(len(generators), names), partial(number_latex, digits=digits)
    matrices, constants = checked_generators(generators), structure_constants(generators)
    sizes, lines = matrices.flatten(1).norm(dim=1).tolist(), []
    for i, j in torch.triu_indices(len(symbols), len(symbols), 1).mT.tolist():
        product = bracket(matrices[i], matrices[j])
        size = float(product.norm())
        if size > EXACT_NUMBER * sizes[i] * sizes[j]:
            pairs = zip(constants[i, j].tolist(), symbols, strict=True)
            # Without the terms that round to zero.
            terms = signed_sum((pair for pair in pairs if write(pair[0]).strip("-0.")), write, "-")
            inside = torch.einsum("k,kij->ij", constants[i, j], matrices)
            if float((product - inside).norm()) > 1e-6 * size:
                terms = rf"{terms} + \ldots" if terms else r"\ldots"
            lines.append(f"[{symbols[i]}, {symbols[j]}] &= {terms or f'{0.0:.{digits}f}'}")
    return _align(lines or ([r"[X_i, X_j] &= 0 \quad \text{for all } i, j"] if symbols else []))


def _symbols(count: int, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(f"X_{i}" if i < 10 else f"X_{{{i}}}" for i in range(1, count + 1))
    if isinstance(names, str) or len(names) != count:
        raise ArgumentError(
            f"names are {names!r}; expected {count} LaTeX names, one per generator, "
            'for example "L_x".'
        )
    return tuple(names)


def _align(lines: list[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" if lines else ""


def _root(number: int) -> str:
    """Square root of a positive integer, with square factors in front of it."""
    outside = max(k for k in range(1, math.isqrt(number) + 1) if number % (k * k) == 0)
    inside = number // (outside * outside)
    if inside == 1:
        return str(outside)
    return rf"{outside if outside > 1 else ''}\sqrt{{{inside}}}"
