"""MkDocs hook: adapt the MathML of latex2mathml to MathML Core, which browsers render.

Browsers ignore `mathvariant` except on single letters in `normal`, so letters become Unicode
mathematical letters. Bars and brackets get no operator spacing, and a sign after an opening bracket,
a comma or a relation is a prefix.
"""

import re
from html import unescape

ALPHABETS = {"fraktur": 0x1D51E, "double-struck": 0x1D552}
"""Code point of the small letter a; capital A is 26 places before."""

EXCEPTIONS = {
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
"""Letters that have their own code point."""

STYLED = re.compile(r'(?:<mi mathvariant="(normal|fraktur|double-struck)">(\w)</mi>)+')
LETTER = re.compile(r'<mi mathvariant="[\w-]+">(\w)</mi>')
FENCE = re.compile(r"<m[io][^>]*>(?:&#x(0007C|02016|027E8|027E9|0002F);)</m[io]>")
SIGN = re.compile(
    r"(^|<math[^>]*>(?:<mrow>)?|<mo[^>]*>(?:&#x(?:00028|0002C|0003D|0003C|02264|021A6|02261);|[\[(,=])</mo>)"
    r"<mo>(&#x02212;|&#x0002B;|&#x000B1;|−|\+)</mo>"
)


def on_page_content(html: str, **kwargs: object) -> str:
    """Adapt every formula of a page."""
    return re.sub(r"<math\b.*?</math>", lambda found: adapt(found[0]), html, flags=re.DOTALL)


def adapt(formula: str) -> str:
    """One formula with letters and spacing that browsers understand.

    >>> adapt('<math><mi mathvariant="fraktur">s</mi><mi mathvariant="fraktur">o</mi></math>')
    '<math><mi>𝔰𝔬</mi></math>'
    """
    formula = STYLED.sub(_word, formula)
    formula = SIGN.sub(r'\1<mo form="prefix">\2</mo>', formula)
    formula = FENCE.sub(
        lambda found: f'<mo stretchy="false" lspace="0" rspace="0">&#x{found[1]};</mo>', formula
    )
    wide = formula.startswith('<math display="block"')
    return f'<div class="formula">{formula}</div>' if wide else formula


def _word(found: re.Match[str]) -> str:
    """Letters of one style as one identifier, which browsers set upright if it has several."""
    letters = "".join(_letter(letter, found[1]) for letter in LETTER.findall(found[0]))
    single = len(letters) == 1 and found[1] == "normal"
    return f'<mi mathvariant="normal">{letters}</mi>' if single else f"<mi>{letters}</mi>"


def _letter(letter: str, style: str) -> str:
    letter = unescape(letter)
    if style == "normal" or not letter.isascii() or not letter.isalpha():
        return letter
    if letter in EXCEPTIONS[style]:
        return EXCEPTIONS[style][letter]
    small = ALPHABETS[style]
    return chr(
        small + ord(letter) - ord("a") if letter.islower() else small - 26 + ord(letter) - ord("A")
    )
