"""Words that are not plain are explained."""

import torch

import liegg
from liegg.report.page.comparisons import comparison_html
from liegg.report.page.glossary import GLOSSARY_TERMS, WORDS_OF_MOTIONS, words_of_motions
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


def test_comparisons_explain_the_words_of_their_motions():
    """Of the motions that are nearest to a symmetry, which are shears, hyperbolic rotations and maps with eigenvalues."""
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one, other = (
        liegg.discover(
            lambda x, part=part: (x**2).sum(1) + part * x[:, 0] * x[:, 1], x, liegg.Linear(3)
        )
        for part in (1.0, 3.0)
    )
    comparison = liegg.compare(one, other)
    words = " ".join(pair.words for pair in comparison.directions)
    explained = dict(words_of_motions(words))
    assert explained
    page = comparison_html(comparison)
    for term in WORDS_OF_MOTIONS:
        assert (f"<dt>{term}</dt>" in page) == (term in explained)
