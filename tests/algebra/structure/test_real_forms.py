"""The table of real forms and the names of one algebra."""

import pytest

from liegg._utils.errors import ArgumentError
from liegg.algebra.structure.real_forms import (
    EXCEPTIONAL_FORMS,
    SAME_ALGEBRA,
    SPLIT_ORTHOGONAL,
    abelian,
    aliases,
    bracketed,
    real_form,
    sum_names,
)

FORMS = [
    # type, noncompact dimension, name; dimensions of maximal compact subgroups by hand, dimension less that of K
    ("A1", 0, "so(3)"),
    ("A1", 2, "sl(2,R)"),
    ("A2", 0, "su(3)"),
    ("A2", 4, "su(1,2)"),
    ("A2", 5, "sl(3,R)"),  # K = U(2), SO(3)
    ("A3", 0, "so(6)"),
    ("A3", 5, "so(1,5)"),
    ("A3", 6, "su(1,3)"),
    ("A3", 8, "so(2,4)"),
    ("A3", 9, "sl(4,R)"),
    ("A4", 8, "su(1,4)"),
    ("A4", 12, "su(2,3)"),
    ("A4", 14, "sl(5,R)"),
    ("A5", 14, "sl(3,H)"),
    ("A5", 18, "su(3,3)"),
    ("A5", 20, "sl(6,R)"),  # K = Sp(3), S(U(3)×U(3)), SO(6)
    ("B2", 0, "so(5)"),
    ("B2", 4, "so(1,4)"),
    ("B2", 6, "so(2,3)"),
    ("B3", 0, "so(7)"),
    ("B3", 6, "so(1,6)"),
    ("B3", 10, "so(2,5)"),
    ("B3", 12, "so(3,4)"),
    ("C3", 0, "sp(3)"),
    ("C3", 8, "sp(1,2)"),
    ("C3", 12, "sp(6,R)"),  # K = Sp(1)×Sp(2), U(3)
    ("C4", 12, "sp(1,3)"),
    ("C4", 16, "sp(2,2)"),
    ("C4", 20, "sp(8,R)"),
    ("D4", 0, "so(8)"),
    ("D4", 7, "so(1,7)"),
    ("D4", 12, "so(2,6)"),
    ("D4", 15, "so(3,5)"),
    ("D4", 16, "so(4,4)"),
    ("D5", 20, "so*(10)"),
    ("D5", 21, "so(3,7)"),  # K = U(5), SO(3)×SO(7)
    ("G2", 0, "g2"),
    ("G2", 8, "g2(split)"),
    ("F4", 16, "f4(-20)"),
    ("E6", 26, "e6(-26)"),
    ("E7", 54, "e7(-25)"),
    ("E8", 128, "e8(8)"),
]

CLASSES = [
    ("so(3)", "su(2)", "sp(1)"),
    ("sl(2,R)", "so(1,2)", "su(1,1)", "sp(2,R)"),
    ("so(5)", "sp(2)"),
    ("so(1,4)", "sp(1,1)"),
    ("so(2,3)", "sp(4,R)"),
    ("so(6)", "su(4)"),
    ("so(1,5)", "sl(2,H)"),
    ("so(2,4)", "su(2,2)"),
    ("sl(4,R)", "so(3,3)"),
    ("su(1,3)", "so*(6)"),
    ("so(2,6)", "so*(8)"),
    ("so(1,3)", "sl(2,C)", "so(3,C)", "sp(2,C)"),
    ("so(5,C)", "sp(4,C)"),
    ("sl(4,C)", "so(6,C)"),
    ("so(7,C)",),
    ("sp(3)",),
]


def test_forms():
    for dynkin, noncompact, name in FORMS:
        assert real_form(dynkin, noncompact) == name


def test_complex_algebras():
    for dynkin, name in [
        ("A1", "so(1,3)"),
        ("A2", "sl(3,C)"),
        ("A3", "sl(4,C)"),
        ("B2", "so(5,C)"),
        ("C3", "sp(6,C)"),
        ("D4", "so(8,C)"),
        ("G2", "g2(C)"),
    ]:
        assert real_form(dynkin, 3, complex_type=True) == name


def test_the_number_in_brackets_is_noncompact_less_compact():
    sizes = {"G2": 14, "F4": 52, "E6": 78, "E7": 133, "E8": 248}
    for dynkin, forms in EXCEPTIONAL_FORMS.items():
        for noncompact, name in forms.items():
            if "(" in name and "split" not in name:
                assert int(name[3:-1]) == 2 * noncompact - sizes[dynkin]


def test_forms_of_a_type_have_different_dimensions_and_the_split_one_the_largest():
    for n in range(2, 9):
        roots = {"A": n * (n + 1), "B": 2 * n * n, "C": 2 * n * n, "D": 2 * n * (n - 1)}
        for letter, count in roots.items():
            if letter == "D" and n < 4:
                continue
            sizes = [k for k in range(count + n + 1) if real_form(f"{letter}{n}", k) != "unknown"]
            assert max(sizes) == count // 2 + n  # half the roots and the rank
            assert not any(" or " in real_form(f"{letter}{n}", k) for k in sizes)


def test_two_forms_that_the_numbers_do_not_tell_apart_are_both_named():
    assert real_form("D9", 72) == "so(6,12) or so*(18)"
    assert real_form("A13", 90) == "su(5,9) or sl(7,H)"


def test_no_such_form():
    assert real_form("A2", 3) == "unknown"
    assert real_form("G2", 5) == "unknown"


def test_aliases_are_the_same_from_every_name():
    for names in CLASSES:
        for name in names:
            assert aliases(name) == names


def test_sums_and_centres():
    for name, others in [
        ("so(4)", ["so(3) ⊕ so(3)", "su(2) ⊕ su(2)"]),
        ("so(2,2)", ["sl(2,R) ⊕ sl(2,R)", "so(1,2) ⊕ so(1,2)"]),
        ("so*(4)", ["so(3) ⊕ sl(2,R)", "su(2) ⊕ sl(2,R)"]),
        ("so(4,C)", ["so(1,3) ⊕ so(1,3)", "sl(2,C) ⊕ sl(2,C)"]),
        ("u(2)", ["so(3) ⊕ R", "su(2) ⊕ R"]),
        ("u(1,2)", ["su(1,2) ⊕ R"]),
        ("gl(3,R)", ["sl(3,R) ⊕ R"]),
        ("gl(2,C)", ["so(1,3) ⊕ R²", "sl(2,C) ⊕ R²"]),
        ("so(2)", ["R", "u(1)"]),
    ]:
        names = aliases(name)
        assert {name, *others} <= set(names)
        assert names[0] == others[0]
        for other in others:
            assert aliases(other) == names


def test_sums_are_sorted_largest_first_and_compact_before_others():
    assert aliases("R² ⊕ sl(2,R) ⊕ su(2) ⊕ so(5) ⊕ R")[0] == "so(5) ⊕ so(3) ⊕ sl(2,R) ⊕ R³"


def test_a_part_of_a_sum_is_drawn_together():
    assert "so(4) ⊕ so(5)" in aliases("so(5) ⊕ so(3) ⊕ so(3)")
    assert "so*(4)" not in aliases("so(5) ⊕ so(3) ⊕ so(3)")


def test_every_alias_of_the_table_is_read():
    for names in SAME_ALGEBRA:
        assert {aliases(name) for name in names} == {aliases(names[0])}
    for whole, parts in SPLIT_ORTHOGONAL.items():
        assert aliases(whole) == aliases(" ⊕ ".join(parts))


def test_abelian_and_nothing():
    assert [abelian(k) for k in (1, 2, 3, 10)] == ["R", "R²", "R³", "R¹⁰"]
    assert aliases("R²") == ("R²",)
    assert sum_names([]) == ("0",)


def test_semidirect_sums_are_bracketed_in_sums():
    assert sum_names([("aff(2)", "gl(2,R) ⋉ R²")], 1) == ("aff(2) ⊕ R", "(gl(2,R) ⋉ R²) ⊕ R")
    assert bracketed("so(3)") == "so(3)"


def test_unknown_names():
    for name in ["so", "so(3) + so(3)", "su(2", "spin(7)", "gl(1,Q)", "", "so(3,1)"]:
        with pytest.raises(
            ArgumentError,
            match=r"is not the name of a simple or abelian algebra; expected for example 'so\(1,3\)'",
        ):
            aliases(name)


def test_unknown_types():
    for dynkin in ["", "B", "H3", "A0", "b2"]:
        with pytest.raises(ArgumentError, match=r"expected a letter and a rank, for example 'B2'"):
            real_form(dynkin, 0)
