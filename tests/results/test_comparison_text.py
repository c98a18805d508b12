"""What a comparison says: a sentence for every outcome, a table of bounded size, JSON values."""

import json
import math
from dataclasses import replace

import pytest
import torch

import liegg
from liegg.discovery.compare import Comparison, Side
from liegg.discovery.paired_defects import Contrast, Measured

EXACT = Measured(1e-32, 0.0, 1e-28, exact=True)
SMALL = Measured(1e-3, 0.8e-3, 1.25e-3, exact=False)
LARGE = Measured(1.2e-2, 1.0e-2, 1.5e-2, exact=False)
UNKNOWN = Measured(math.nan, math.nan, math.nan, exact=False)


def bare(measured):
    return replace(measured, low=math.nan, high=math.nan)


def side(nullity, algebra="so(3)", *, undecided=0, model="net"):
    return Side(
        model, 400, nullity, (nullity, nullity), algebra if nullity else "0", undecided, 0.01
    )


def made(a, b, shared, pair=(SMALL, LARGE), **changes):
    """A comparison with every number given."""
    names = ["both"] * shared + ["a"] * (a.nullity - shared) + ["b"] * (b.nullity - shared)
    contrasts = tuple(
        Contrast(name, "rotation in x₁–x₂", torch.eye(3), *pair) for name in names or ["neither"]
    )
    overall = (
        Contrast("both", "mean of the shared", None, *pair)
        if shared
        else None
        if names
        else contrasts[0]
    )
    angles = torch.full((min(a.nullity, b.nullity),), 0.001 if shared else 1.2, dtype=torch.float64)
    found = Comparison(
        a,
        b,
        "invariance",
        "Linear(n=3)",
        0.95,
        angles,
        0.02,
        shared,
        contrasts,
        overall,
        0.0,
        ("as is",),
    )
    return replace(found, **changes)


SENTENCES = {
    "more invariant": (
        made(side(3), side(3), 3),
        "Both are invariant under so(3); a is 12 (9 to 16) times more invariant.",
    ),
    "the other way": (
        made(side(3), side(3), 3, (LARGE, SMALL)),
        "Both are invariant under so(3); b is 12 (9 to 16) times more invariant.",
    ),
    "both exact": (
        made(side(3), side(3), 3, (EXACT, EXACT)),
        "Both are invariant under so(3); both are exact.",
    ),
    "one exact": (
        made(side(3), side(3), 3, (LARGE, EXACT)),
        "Both are invariant under so(3); b is exact, a has a mean δ² of 0.012 (0.01 to 0.015).",
    ),
    "not clear": (
        made(side(3), side(3), 3, (SMALL, SMALL)),
        "Both are invariant under so(3); neither is clearly more invariant (mean δ² in b over that in a: 1 (0.73 to 1.4)).",
    ),
    "no intervals": (
        made(side(3), side(3), 3, (bare(SMALL), bare(LARGE))),
        "Both are invariant under so(3); the mean δ² is 0.001 in a and 0.012 in b, without intervals.",
    ),
    "other names": (
        made(side(3), side(3, "su(2)"), 3, (EXACT, EXACT)),
        "Both are invariant under the same 3 directions (so(3), su(2)); both are exact.",
    ),
    "no name": (
        made(side(1, "unknown"), side(1, "unknown"), 1, (EXACT, EXACT)),
        "Both are invariant under 1 direction without a name; both are exact.",
    ),
    "a has more": (
        made(side(3), side(1, "so(2)"), 1, (EXACT, EXACT)),
        "a has the so(2) of b and 2 more directions, so(3) in all; on the shared one both are exact.",
    ),
    "b has more": (
        made(side(3), side(4, "so(3) ⊕ R"), 3),
        "b has the so(3) of a and 1 more direction, so(3) ⊕ R in all; on the shared ones a is 12 (9 to 16) times more invariant.",
    ),
    "some shared": (
        made(side(3), side(3, "sl(2,R)"), 1, (EXACT, EXACT)),
        "1 direction shared; 2 more only in a (so(3) in all), 2 only in b (sl(2,R) in all); on the shared one both are exact.",
    ),
    "apart": (
        made(side(3), side(1, "so(2)"), 0),
        "No symmetry in common: so(3) in a, so(2) in b, at least 69° apart; along those of a the other has a δ² of 0.012; "
        "along those of b the other has a δ² of 0.001.",
    ),
    "only a": (
        made(side(3), side(0), 0),
        "a is invariant under so(3), b has no symmetry: along the same directions its δ² is 0.012.",
    ),
    "only b": (
        made(side(0), side(3), 0, (UNKNOWN, EXACT)),
        "b is invariant under so(3), a has no symmetry.",
    ),
    "none": (
        made(side(0), side(0), 0),
        "No symmetry in either; the nearest candidate has a δ² of 0.001 (0.0008 to 0.0013) in a and 0.012 (0.01 to 0.015) in b; a "
        "clearly comes closer.",
    ),
    "none, not clear": (
        made(side(0), side(0), 0, (SMALL, SMALL)),
        "No symmetry in either; the nearest candidate has a δ² of 0.001 (0.0008 to 0.0013) in a and 0.001 (0.0008 to 0.0013) in b; "
        "neither clearly comes closer.",
    ),
    "nothing": (made(side(0), side(0), 0, contrasts=(), overall=None), "No symmetry in either."),
    "undecided": (
        made(side(0, undecided=5), side(3), 0),
        "Not decided: the data of a leaves directions open (too few samples, or nothing that moves the output), so the models "
        "cannot be compared. See its warnings.",
    ),
    "other outputs": (
        made(side(3), side(3), 3, (EXACT, EXACT), question="equivariance", output_difference=1.0),
        "Both are equivariant under so(3); both are exact; but they move the outputs differently, by 100 %.",
    ),
    "each for itself": (
        made(
            side(2, "R²"),
            side(2, "R²"),
            2,
            (SMALL, SMALL),
            contrasts=(
                Contrast("both", "", None, SMALL, LARGE),
                Contrast("both", "", None, LARGE, SMALL),
            ),
        ),
        "Both are invariant under R²; neither is clearly more invariant (mean δ² in b over that in a: 1 (0.73 to 1.4)), but a is "
        "on 1 of 2 and b is on 1 of 2.",
    ),
}


@pytest.mark.parametrize(("found", "words"), SENTENCES.values(), ids=list(SENTENCES))
def test_every_outcome_has_its_sentence(found, words):
    assert found.sentence == words
    assert " ".join(words.split()) in " ".join(str(found).split())


@pytest.mark.parametrize("found", [found for found, _ in SENTENCES.values()], ids=list(SENTENCES))
def test_tables_and_records_are_well_formed(found):
    lines = str(found).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    record = found.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["sentence"] == found.sentence
    assert len(record["directions"]) == len(found.contrasts)


def test_every_direction_has_a_line_with_its_numbers():
    lines = str(made(side(3), side(1, "so(2)"), 1, (SMALL, LARGE))).splitlines()
    rows = [line.split() for line in lines[-4:]]
    assert (
        " ".join(rows[0])
        == "found in δ² in a 95 % interval δ² in b 95 % interval clearly smaller motion"
    )
    assert [row[0] for row in rows[1:]] == ["both", "a", "a"]
    assert rows[1][1:9] == [
        "1.00e-03",
        "8.00e-04",
        "–",
        "1.25e-03",
        "1.20e-02",
        "1.00e-02",
        "–",
        "1.50e-02",
    ]
    assert rows[1][9:] == ["a,", "12", "times", "rotation", "in", "x₁–x₂"]
    lines = str(made(side(1, "so(2)"), side(1, "so(2)"), 1, (UNKNOWN, EXACT))).splitlines()
    assert lines[-1].split() == ["both", "–", "1.00e-32", "exact", "–", "rotation", "in", "x₁–x₂"]


def test_the_mean_comes_last_where_there_are_several():
    assert (
        str(made(side(3), side(3), 3))
        .splitlines()[-1]
        .endswith("a, 12 times       mean of the shared")
    )
    assert "mean of the shared" not in str(made(side(1), side(1), 1))


def test_many_directions_are_left_out_in_the_middle():
    text = str(made(side(300), side(200), 200))
    assert len(text.splitlines()) <= 40
    rows = text[text.index("  found in ") :].splitlines()[1:]
    shown = sum(line.startswith(("  both ", "  a ")) for line in rows)
    left_out = int(next(line.split()[1] for line in text.splitlines() if line.startswith("  ...")))
    assert shown + left_out == 301  # with the mean


def test_names_of_models_may_be_anything():
    found = made(side(3, model="x" * 500), side(3, model="two\nlines <script>"), 3)
    assert max(map(len, str(found).splitlines())) <= 120
    assert len(str(found).splitlines()) <= 40
    assert found.to_dict()["b"]["model"] == "two\nlines <script>"


def test_numbers_of_the_record():
    record = made(side(1), side(1), 1, (SMALL, EXACT)).to_dict()
    assert record["directions"][0]["a"] == {
        "value": 1e-3,
        "low": 0.8e-3,
        "high": 1.25e-3,
        "exact": False,
    }
    assert record["directions"][0]["smaller"] == "b"
    assert record["directions"][0]["ratio"] is None
    assert record["overall"]["found"] == "both"
    assert (record["a"]["nullity_interval"], record["same"], record["level"]) == (
        [1, 1],
        True,
        0.95,
    )
    assert (
        made(side(1), side(0), 0, (EXACT, UNKNOWN)).to_dict()["directions"][0]["b"]["value"] is None
    )


def test_compare_is_public_and_prints():
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(2))
    found = liegg.compare(sym, sym)
    assert repr(found) == "Comparison(shared=1, only_a=0, only_b=0, question='invariance')"
    assert str(found).startswith(
        "invariance under Linear(n=2, copies=1, layout='copies_first'), two models side by side"
    )
