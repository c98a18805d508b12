"""Words that are not plain are explained."""

from liegg.report.page.glossary import GLOSSARY_TERMS
from liegg.report.page.page import report_html

WORDS = """
    δ² defect effect grade gap span basis spectrum variance bias candidate direction generator algebra invariant
    equivariant interval threshold undecided trivial held-out re-initialised untrained learned tolerance nonlinearity
    displacement rows exp(tA) symmetry spread finite field ∂ squeeze logits distribution scale-free
"""


def test_every_word_is_explained():
    missing = [word for word in WORDS.split() if not any(word in term for term in GLOSSARY_TERMS)]
    assert missing == []


def test_the_page_holds_every_term(classified):
    page = report_html(classified)
    assert page.count("<dt>") >= len(GLOSSARY_TERMS)
    assert all(f"<dt>{term}</dt>" in page for term in GLOSSARY_TERMS)
