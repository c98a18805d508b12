"""Diagnoses: every template fills in, counts and chooses words, and comes back from JSON and from a pickle."""

import copy
import json
import pickle
import re
import string

import pytest

from liegg._utils.diagnoses import (
    CHOSEN_WORD,
    COUNTED_NOUN,
    Diagnosis,
    Kind,
    as_remark,
    plural,
    remark_from_dict,
)


def values_for(member, number):
    """Values for every name in the template: a number where one is formatted or counted, else a word."""
    values = {}
    for _, name, spec, conversion in string.Formatter().parse(member.template):
        if name is None:
            continue
        assert name.isidentifier(), f"{member.name} needs names, not places or attributes"
        numeric = bool(spec) and not conversion
        values[name] = number if numeric or isinstance(values.get(name), int) else "word"
    return values


REMARKS = [
    (member, number, member(**values_for(member, number)))
    for member in Diagnosis
    for number in (1, 3)
]


def test_every_template_fills_in():
    for member, number, remark in REMARKS:
        case = f"{member.name} with {number}"
        assert remark.strip(), case
        assert "{" not in remark and "}" not in remark, case  # noqa: PT018
        assert "|" not in remark, case
        assert (remark.diagnosis, remark.values) == (member, values_for(member, number)), case
        assert member.kind in Kind, case


def test_every_value_is_needed():
    for member, number, remark in REMARKS:
        for name in remark.values:
            others = {key: value for key, value in remark.values.items() if key != name}
            with pytest.raises(KeyError):
                pytest.fail(f"{member.name} with {number} without {name}: {member(**others)}")


def test_templates_differ_and_so_do_their_names():
    templates = [member.template for member in Diagnosis]
    assert len(set(templates)) == len(templates) == len(Diagnosis.__members__)


def test_nouns_are_counted_and_words_chosen_by_number():
    assert [plural(n, "sample") for n in (0, 1, 2)] == ["0 samples", "1 sample", "2 samples"]
    assert plural(2, "symmetry") == "2 symmetries"
    assert Diagnosis.NOT_MOVED(count=1).startswith("1 direction does not move")
    assert Diagnosis.NOT_MOVED(count=2).startswith("2 directions do not move")
    assert Diagnosis.EXACT(nullity=1, lower_bound=True).startswith("At least 1 exact symmetry:")
    assert Diagnosis.EXACT(nullity=4, lower_bound=False).startswith("4 exact symmetries:")


NOUNS = "sample|direction|defect|generator|symmetry|candidate|output|cluster|block|matrix|parameter"
WRONG_FOR_ONE = re.compile(
    rf"\b1 (?:[a-z-]+ )?(?:{NOUNS.replace('symmetry', 'symmetrie').replace('matrix', 'matrice')})s\b"
    rf"|\b1 (?:[a-z-]+ )?(?:{NOUNS}) (?:that )?(?:are|have|do|lie|carry|hold|keep|move|count|look|differ)\b"
)
WRONG_FOR_MORE = re.compile(
    rf"\b[02] (?:[a-z-]+ )?(?:{NOUNS})\b"
    r"|\b[02] (?:[a-z-]+ )?[a-z]+s (?:that )?(?:is|has|does|lies|carries|holds|keeps|moves|counts|looks)\b"
)


def test_words_agree_with_numbers():
    assert WRONG_FOR_ONE.search("1 sample that differ cannot decide")
    assert WRONG_FOR_ONE.search("1 of 1 directions hold")
    assert WRONG_FOR_MORE.search("2 directions is near")
    for member in Diagnosis:
        for number, wrong in ((0, WRONG_FOR_MORE), (1, WRONG_FOR_ONE), (2, WRONG_FOR_MORE)):
            remark = member(**values_for(member, number))
            assert not wrong.search(remark), f"{member.name}: {remark}"


def test_number_formats_are_neither_nouns_nor_choices():
    for spec in (".2g", ".0e", "g", "", ".1%", ".0f", "d"):
        assert not COUNTED_NOUN.fullmatch(spec), spec
        assert not CHOSEN_WORD.fullmatch(spec), spec
    assert COUNTED_NOUN.fullmatch("held-out sample")
    assert CHOSEN_WORD.fullmatch("?|s")


def test_remarks_are_strings_that_come_back():
    for member, number, remark in REMARKS:
        case = f"{member.name} with {number}"
        stored = json.loads(json.dumps(remark.to_dict()))
        for again in (
            remark_from_dict(stored),
            pickle.loads(pickle.dumps(remark)),
            copy.deepcopy(remark),
        ):
            assert again == remark, case
            assert (again.diagnosis, again.values) == (member, remark.values), case
        assert stored["kind"] == member.kind.value, case


def test_what_another_version_wrote_stays_as_text():
    unknown = {"diagnosis": "from_the_future", "kind": "note", "values": {}, "text": "as it was"}
    other_values = {"diagnosis": "not_moved", "kind": "note", "values": {"n": 1}, "text": "so"}
    wrong_type = {"diagnosis": "gap_after", "kind": "note", "values": {"gap": "x"}, "text": "gap"}
    for stored, text in (
        (unknown, "as it was"),
        (other_values, "so"),
        (wrong_type, "gap"),
        ("a plain string", "a plain string"),
    ):
        remark = remark_from_dict(stored)
        assert (str(remark), remark.diagnosis) == (text, Diagnosis.TEXT)
        assert remark.values == {"text": text}


def test_any_text_is_a_remark():
    remark = Diagnosis.NOT_MOVED(count=2)
    assert as_remark(remark) is remark
    assert as_remark("with {braces}").diagnosis is Diagnosis.TEXT
    assert as_remark("with {braces}") == "with {braces}"
