"""Words and other names of algebras."""

from liegg.algebra.words.names import MEANING, meaning, other_names

# name, words, other names
NAMES = [
    ("so(2)", "rotations of a plane", ("u(1)", "R")),
    ("so(3)", "rotations of 3 dimensions", ("su(2)", "sp(1)")),
    ("so(4)", "rotations of 4 dimensions", ("so(3) ⊕ so(3)", "su(2) ⊕ su(2)", "sp(1) ⊕ sp(1)")),
    ("so(12)", "rotations of 12 dimensions", ()),
    ("so(1,1)", "boosts in a plane", ("R",)),
    (
        "so(1,2)",
        "linear maps that preserve a metric of signature (1, 2)",
        ("sl(2,R)", "su(1,1)", "sp(2,R)"),
    ),
    (
        "so(1,3)",
        "Lorentz group: rotations and boosts that preserve a metric of signature (1, 3)",
        ("sl(2,C)", "so(3,C)", "sp(2,C)"),
    ),
    ("sl(3,R)", "linear maps of 3 dimensions that preserve volume", ()),
    (
        "sl(2,R)",
        "linear maps of 2 dimensions that preserve volume",
        ("so(1,2)", "su(1,1)", "sp(2,R)"),
    ),
    ("sl(3,C)", "complex linear maps of 3 complex dimensions with determinant one", ()),
    ("gl(3,R)", "all linear maps of 3 dimensions", ("sl(3,R) ⊕ R",)),
    ("gl(3,C)", "all complex linear maps of 3 complex dimensions", ("sl(3,C) ⊕ R²",)),
    (
        "sp(4,R)",
        "symplectic maps of 4 dimensions: they preserve the area form of positions and momenta",
        ("so(2,3)",),
    ),
    ("su(3)", "unitary maps of 3 complex dimensions with determinant one", ()),
    ("u(1)", "a common phase", ("so(2)", "R")),
    ("u(2)", "unitary maps of 2 complex dimensions", ("so(3) ⊕ R", "su(2) ⊕ R", "sp(1) ⊕ R")),
    ("u(3)", "unitary maps of 3 complex dimensions", ("su(3) ⊕ R",)),
    (
        "su(1,2)",
        "complex maps with determinant one that preserve a Hermitian form of signature (1, 2)",
        (),
    ),
    ("u(1,2)", "complex maps that preserve a Hermitian form of signature (1, 2)", ("su(1,2) ⊕ R",)),
    ("se(2)", "rigid motions of 2 dimensions: rotations and translations", ("e(2)", "so(2) ⋉ R²")),
    ("se(3)", "rigid motions of 3 dimensions: rotations and translations", ("e(3)", "so(3) ⋉ R³")),
    (
        "e(1,1)",
        "motions that preserve a metric of signature (1, 1): its rotations, boosts and translations",
        ("R ⋉ R²",),
    ),
    (
        "e(1,3)",
        "Poincaré group: translations, rotations and boosts that preserve a metric of signature (1, 3)",
        ("so(1,3) ⋉ R⁴",),
    ),
    ("sim(3)", "similarities of 3 dimensions: rotations, translations and scaling", ()),
    ("aff(2)", "all affine maps of 2 dimensions", ("gl(2,R) ⋉ R²",)),
    ("aff(1)", "all affine maps of one dimension", ()),
    ("saff(3)", "affine maps of 3 dimensions that preserve volume", ("sl(3,R) ⋉ R³",)),
    ("translation(1)", "a translation or shear", ("R",)),
    ("translation(3)", "translations along 3 axes", ("R³",)),
    ("scaling(1)", "scaling of one direction", ("R",)),
    ("scaling(4)", "uniform scaling of 4 dimensions", ("R",)),
    ("diagonal(12)", "independent scalings of 12 axes", ("R¹²",)),
    ("shear(4)", "all shears along a flag: strictly upper triangular matrices of size 4", ()),
    ("heis(5)", "Heisenberg group of dimension 5", ()),
    ("R¹²", "maps that commute with one another", ()),
    ("R", "a one-parameter group", ("so(2)", "so(1,1)", "u(1)")),
    ("0", "nothing moves", ()),
]


def test_words_and_other_names():
    for name, words, others in NAMES:
        assert meaning(name) == words
        assert other_names(name) == others
        assert name not in others


def test_every_kind_of_name_is_in_the_table():
    said = {meaning(name) for name, _, _ in NAMES}
    for pattern, text in MEANING:
        start = text.partition("{")[0]
        assert any(words.startswith(start) for words in said), pattern


def test_words_of_sums_and_of_names_without_words():
    for name, words in [
        ("so(3) ⊕ so(2)", "rotations of 3 dimensions; rotations of a plane"),
        ("so(2) ⊕ so(2)", "rotations of a plane"),  # said once
        ("so(3) ⊕ R²", "rotations of 3 dimensions; maps that commute with one another"),
        (
            "se(2) ⊕ so(2)",
            "rigid motions of 2 dimensions: rotations and translations; rotations of a plane",
        ),
        (
            "sl(2,C) ⊕ u(1)",
            "complex linear maps of 2 complex dimensions with determinant one; a common phase",
        ),
        ("g2 ⊕ so(2)", "rotations of a plane"),
        ("g2", ""),
        ("unknown", ""),
        ("R²", "maps that commute with one another"),
        ("u(2) ⋉ R⁴", "u(2) together with what looks like translations along R⁴"),
        (
            "(so(2) ⊕ so(2)) ⋉ R⁴",
            "(so(2) ⊕ so(2)) together with what looks like translations along R⁴",
        ),
    ]:
        assert meaning(name) == words


def test_affine_maps_that_may_be_something_else():
    rigid = "rigid motions of 2 dimensions: rotations and translations"
    assert meaning("se(2)", homogeneous=False) == f"{rigid}, in homogeneous coordinates"
    assert meaning("se(2)", homogeneous=True) == rigid
    for name in ("e(1,2)", "sim(2)", "aff(2)", "saff(2)", "translation(2)"):
        assert meaning(name, homogeneous=False) == f"{meaning(name)}, in homogeneous coordinates"
    for name in ("so(3)", "sl(2,R)", "shear(4)", "g2", "u(2) ⋉ R⁴"):
        assert meaning(name, homogeneous=False) == meaning(name)


def test_covectors_and_copies():
    assert (
        meaning("se(2)", dual=True)
        == "rigid motions of 2 dimensions: rotations and translations, as they act on covectors"
    )
    assert meaning("so(3)", copies=2) == "rotations of 3 dimensions, the same on 2 subspaces"
    assert meaning("g2", dual=True, copies=2) == ""
    assert meaning("se(2)", dual=True, homogeneous=False) == meaning("se(2)", dual=True)
    assert meaning("se(2) ⊕ so(2)", homogeneous=False) == meaning("se(2) ⊕ so(2)")


def test_other_representations():
    assert meaning("so(3)", usual=False) == "in a representation other than the usual one"
    assert meaning("R²", usual=False) == "maps that commute with one another"


def test_other_names_of_sums_and_of_names_that_are_not_read():
    for name, others in [
        ("so(3) ⊕ so(3)", ("so(4)", "su(2) ⊕ su(2)", "sp(1) ⊕ sp(1)")),
        ("su(2) ⊕ R", ("so(3) ⊕ R", "u(2)", "sp(1) ⊕ R")),
        ("so(2) ⊕ so(2)", ("R²",)),
        ("R²", ()),
        ("unknown", ()),
        ("u(2) ⋉ R⁴", ()),
        ("se(2) ⊕ so(2)", ()),
        ("e(1,3) ⊕ R²", ()),
        ("shear(4) ⊕ so(2)", ()),
    ]:
        assert other_names(name) == others


def test_names_of_one_algebra_name_each_other():
    for name in ["so(3)", "sl(2,R)", "so(1,3)", "so(5)", "so(6)", "so(2,3)", "so(2,4)", "so(4)"]:
        names = {name, *other_names(name)}
        for other in names:
            assert {other, *other_names(other)} == names
