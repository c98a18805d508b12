"""Findings as data and as text."""

from dataclasses import replace

import pytest

from liegg.studies.claims import evaluate, markdown, table
from liegg.studies.claims.record import Finding
from studies.claims import planted

ONE = Finding(
    "o5-ten", "Ten values vanish.", "5.1", "o5", "ten", "one output", "nullity ten", "holds", False
)
SUM = Finding(
    "deeper",
    "Depth helps.",
    "5.3",
    "configurations",
    "yes",
    "paper, sum",
    "ρ = -0.75",
    "holds",
    True,
)
EACH = replace(SUM, reading="paper, each", ours="ρ = 0.47", verdict="does not hold")
OPEN = replace(
    SUM,
    name="layers",
    reading="paper, sum",
    ours="no results of layerwise",
    verdict="not run",
    quick=False,
)


@pytest.fixture
def found(tmp_path):
    return evaluate(planted.store(tmp_path, *planted.everything().values()))


def test_a_block_for_each_claim():
    assert table([ONE, SUM, EACH, OPEN]).splitlines() == [
        "o5-ten: Ten values vanish. Section 5.1.",
        "    paper           ten",
        "    one output      holds          nullity ten",
        "",
        "deeper: Depth helps. Section 5.3.",
        "    paper           yes",
        "    summed outputs  holds          quick run: ρ = -0.75",
        "    each output     does not hold  quick run: ρ = 0.47",
        "",
        "layers: Depth helps. Section 5.3.",
        "    paper           yes",
        "    summed outputs  not run        no results of layerwise",
        "",
        "2 hold, 1 do not hold, 1 not run; 2 verdicts come from quick runs, which prove little",
    ]


def test_the_text_fits_a_terminal_and_loses_nothing(found):
    text = table(found)
    assert max(map(len, text.splitlines())) <= 120
    words = " ".join(text.split())
    for finding in found:
        assert " ".join(finding.ours.split()) in words
    assert "quick" not in text


def test_the_readings_stand_side_by_side():
    assert markdown([ONE, SUM, EACH]).splitlines() == [
        "| claim | paper | summed outputs | each output |",
        "|---|---|---|---|",
        "| Ten values vanish. (`o5-ten`, section 5.1) | ten | **holds**: nullity ten | one output: the same |",
        "| Depth helps. (`deeper`, section 5.3) | yes | **holds** (quick run): ρ = -0.75 | "
        "**does not hold** (quick run): ρ = 0.47 |",
    ]


def test_every_line_has_four_columns(found):
    found = [replace(found[0], ours="bias |b| of all"), *found[1:]]
    lines = markdown(found).splitlines()
    assert len(lines) == 2 + len({finding.name for finding in found})
    assert r"bias \|b\| of all" in lines[2]
    assert {line.replace(r"\|", "").count("|") for line in lines} == {5}
