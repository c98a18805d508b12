"""The first sentence: a member of its own for every outcome, with the model's name, the motions and their numbers."""

import math
from dataclasses import replace

import pytest
import torch

import liegg
from cases import conjugated_map, lorentz, norm_case, normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg.results.sentence import certainty_of, motions_in_words


def found(function, x=None, action=None, **more):
    x = normal(400, 3) if x is None else x
    return liegg.discover(function, x, liegg.Linear(3) if action is None else action, **more)


def bent(x):
    return square(x) + 1e-2 * x[:, 0].sin()


def members(remarks):
    return [remark.diagnosis for remark in remarks]


def test_exact_symmetries():
    sym = found(square)
    assert sym.sentence.diagnosis is Diagnosis.UNCHANGED
    assert sym.sentence.values == {
        "subject": "the output of square",
        "motions": "rotations of 3 dimensions",
        "algebra": "so(3), ",
        "nullity": 3,
        "lower_bound": False,
        "certainty": "sure",
    }


def test_learned_symmetries_have_a_size():
    values = found(bent).sentence.values
    assert values["change"] == "hardly changes"
    assert float(values["percent"]) == pytest.approx(0.2, abs=0.1)


def test_few_motions_are_named_one_by_one():
    sym = found(lambda x: x[:, :2].square().sum(1) + x[:, 2] ** 3)
    assert sym.sentence.values["motions"] == "rotation in x₁–x₂"
    shifts = found(lambda x: x[:, 2] ** 3, action=liegg.Affine(3).restrict(liegg.se(3)))
    assert shifts.nullity >= 2
    assert "translation" in shifts.sentence.values["motions"] or "se(2)" in shifts.name


def test_groups_have_their_article():
    case = lorentz()
    sym = liegg.discover(case.function, case.data, case.action)
    assert sym.sentence.values["motions"].startswith("the Lorentz group: ")


def test_equivariance():
    case = conjugated_map()
    sym = liegg.discover(case.function, case.data, case.action, output_action=case.output_action)
    assert sym.sentence.diagnosis is Diagnosis.FOLLOWS
    none = replace(sym, decision=replace(sym.decision, nullity=0, levels=(0, 0, 0, 0)))
    assert none.sentence.diagnosis is Diagnosis.NEVER_FOLLOWS
    weak = replace(sym, decision=replace(sym.decision, nullity=0, levels=(0, 0, 0, 3)))
    assert weak.sentence.diagnosis is Diagnosis.WEAKLY_FOLLOWED


def test_nothing_found_names_the_nearest():
    sym = found(lambda x: square(x) + 0.3 * x.pow(3).sum(1), normal(1000, 3))
    values = sym.sentence.values
    assert sym.sentence.diagnosis is Diagnosis.ALWAYS_CHANGED
    assert sym.candidates[0].words in values["nearest"]
    assert float(values["percent"]) == pytest.approx(
        100 * math.sqrt(float(sym.defects[0])), rel=0.05
    )
    silent = replace(sym, account=replace(sym.account, candidates=()))
    assert silent.sentence.values["nearest"] == "the nearest"


def test_undecided_results():
    few = found(square, normal(4, 3))
    assert few.sentence.diagnosis is Diagnosis.UNDECIDED_FOR
    assert (few.sentence.values["undecided"], few.sentence.values["total"]) == (5, 9)
    still = found(square, torch.zeros(30, 3, dtype=torch.float64))
    assert still.sentence.diagnosis is Diagnosis.NOTHING_MOVES_FOR
    constant = found(lambda x: 0 * x.sum(1) + 1)
    assert constant.sentence.diagnosis is Diagnosis.UNDECIDED_FOR


def test_only_a_lower_bound():
    case = norm_case(5)
    sym = liegg.discover(case.function, case.data, case.action, run=liegg.Run(bottom=4))
    assert sym.sentence.values["lower_bound"] is True
    assert "at least 4 directions" in sym.sentence


def test_finite_transformations_are_told():
    sym = found(bent)
    verdict = Diagnosis.NONE_VERIFIED(count=3, percent="40", motion=0.5)
    decision = replace(sym.decision, nullity=0, levels=(0, 0, 0, 0), sentence=verdict)
    changed = replace(sym, decision=decision)
    assert changed.sentence.diagnosis is Diagnosis.CHANGED_WHEN_MOVED
    assert changed.sentence.values == verdict.values | {"model": "bent"}
    verdict = Diagnosis.VERIFIED_SYMMETRIES(nullity=3, grades="3 strong", percent="4", motion=0.5)
    moved = replace(sym, decision=replace(sym.decision, sentence=verdict))
    assert moved.sentence.diagnosis is Diagnosis.NEARLY_UNCHANGED_WHEN_MOVED
    assert (moved.sentence.values["percent"], moved.sentence.values["motion"]) == ("4", 0.5)


def test_weak_and_unclear_results():
    sym = found(lambda x: square(x) + 0.3 * x.pow(3).sum(1), normal(1000, 3))
    weak = replace(sym.decision, levels=(0, 0, 0, 3))
    remark = replace(sym, decision=weak).sentence
    assert (remark.diagnosis, remark.values["weak"]) == (Diagnosis.WEAKLY_CHANGED, 3)
    verdict = Diagnosis.NO_CLEAR_COUNT(below=2, percent="9")
    unclear = replace(sym, decision=replace(sym.decision, sentence=verdict)).sentence
    assert unclear.diagnosis is Diagnosis.UNCLEAR_COUNT


def test_a_result_of_an_earlier_version_has_its_sentence_too():
    sym = found(bent)
    text = Diagnosis.TEXT(text="as it was stored")
    older = replace(sym, decision=replace(sym.decision, sentence=text))
    assert older.sentence == sym.sentence


def test_doubts_take_the_place_of_sure():
    sym = found(bent)
    certainty = sym.decision.certainty
    assert certainty is not None
    assert members(certainty_of(sym)) == [Diagnosis.SURE]
    assert members(certainty_of(found(bent, controls="none"))) == [Diagnosis.COUNT_WITHOUT_INTERVAL]
    doubtful = replace(
        sym,
        identification=replace(sym.identification, confident=False),
        decision=replace(
            sym.decision,
            certainty=replace(certainty, nullity=(2, 2)),
            borderline=(("strong",), *sym.decision.borderline[1:]),
            warnings=(Diagnosis.NOT_MOVED(count=1),),
        ),
    )
    remarks = certainty_of(doubtful)
    assert members(remarks) == [
        Diagnosis.NAME_NOT_SURE,
        Diagnosis.COUNT_BETWEEN,
        Diagnosis.NEAR_A_THRESHOLD,
        Diagnosis.SEE_WARNINGS,
    ]
    assert remarks[1].values == {"low": 2, "high": 3}


@pytest.mark.parametrize(
    ("words", "name", "meaning", "expected"),
    [
        (("rotation in x–y",), "so(2)", "rotations of a plane", "rotation in x–y"),
        (("linear map with …",), "so(2)", "rotations of a plane", "rotations of a plane"),
        (("a", "b"), "unknown", "", "a and b"),
        (("a", "b", "c"), "unknown", "", "a and 2 more motions"),
        (("linear map",) * 3, "unknown", "", "motions without a common name"),
        (("linear map",), "unknown", "", "a motion without a name"),
        ((), "so(9)", "rotations of 9 dimensions", "rotations of 9 dimensions"),
        (("a",) * 3, "so(3) ⊕ R", "these; those", "these and those"),
        (("linear map",) * 3, "so(3)", "in another way", "so(3) in another way"),
        (("a", "b", "c"), "so(3)", "in another way", "a, b and c"),
        (("a", "b", "c", "d", "e"), "sim(2)", "in another way", "a, b and 3 more motions"),
    ],
)
def test_motions_in_words(words, name, meaning, expected):
    nullity = len(words) or 36
    assert motions_in_words(words, name=name, meaning=meaning, nullity=nullity) == expected
