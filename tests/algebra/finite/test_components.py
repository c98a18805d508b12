# pyright: reportOptionalMemberAccess=false
"""Components of Lie groups: membership in the identity component, cosets, their words and names."""

import math

import pytest
import torch

from algebra.finite.groups import conjugated, noisy, plane, signs
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import aff, close, direct_sum, gl, invariant_subspaces, se, sl, so, sp, su
from liegg.algebra.finite.membership import distance, nearest_to_identity, violation
from liegg.algebra.finite.slots import permutation_group
from liegg.algebra.finite.whole_name import connected_name, whole_name
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.subspace import orthonormal

ALGEBRAS = {
    "so(3)": so(3),
    "so(5)": so(5),
    "sl(2,R)": sl(2),
    "sl(3,R)": sl(3),
    "so(1,3)": so(1, 3),
    "so(2,3)": so(2, 3),
    "se(3)": se(3),
    "gl(2,R)": gl(2),
    "aff(2)": aff(2),
    "sp(4,R)": sp(4),
    "su(3)": su(3),
    "so(1,1)": so(1, 1),
}


def element_of(algebra, seed, *, factors=3, size=2.0):
    """A random product of exponentials."""
    generator = torch.Generator().manual_seed(seed)
    span = orthonormal(algebra)
    product = torch.eye(span.shape[1]).double()
    for _ in range(factors):
        c = torch.randn(len(span), generator=generator, dtype=torch.float64)
        step = torch.einsum("d,dij->ij", size * c / c.norm(), span)
        product = product @ torch.linalg.matrix_exp(step)
    return product


def embedded(block, n=4, start=2):
    """A block on some axes, the identity on the others."""
    matrix = torch.eye(n).double()
    matrix[start : start + len(block), start : start + len(block)] = block
    return matrix


TURN = torch.zeros(1, 4, 4).double()
TURN[0, 0, 1], TURN[0, 1, 0] = -1, 1
SHIFTS = torch.zeros(3, 4, 4).double()
SHIFTS[[0, 1, 2], [0, 1, 2], 3] = 1
CYCLE = torch.eye(4).double()[[1, 2, 0, 3]]
QUARTER = embedded(plane(90), start=0)

GROUPS = {
    "O(3)": ("so(3)", so(3), [signs(-1, -1, -1)], False, 2),
    "SO(3)": ("so(3)", so(3), [signs(1, -1, -1)], False, 1),
    "O(2)": ("so(2)", so(2), [signs(1, -1)], False, 2),
    "O(4)": ("so(4)", so(4), [signs(1, 1, -1, 1)], False, 2),
    "O(5)": ("so(5)", so(5), [signs(1, 1, -1, 1, 1)], False, 2),
    "E(3)": ("se(3)", se(3), [signs(1, 1, -1, 1)], True, 2),
    "SE(3)": ("se(3)", se(3), [signs(-1, 1, -1, 1)], True, 1),
    "O(1,3)": ("so(1,3)", so(1, 3), [signs(1, -1, 1, 1), signs(-1, 1, 1, 1)], False, 4),
    "SO⁺(1,3) with parity": ("so(1,3)", so(1, 3), [signs(1, -1, -1, -1)], False, 2),
    "SO⁺(1,3) with time reversal": ("so(1,3)", so(1, 3), [signs(-1, 1, 1, 1)], False, 2),
    "SO(1,3)": ("so(1,3)", so(1, 3), [signs(-1, -1, -1, -1)], False, 2),
    "SL(2,R)": ("sl(2,R)", sl(2), [signs(-1, -1)], False, 1),
    "SL±(2,R)": ("sl(2,R)", sl(2), [signs(1, -1)], False, 2),
    "GL(2,R)": ("gl(2,R)", gl(2), [signs(1, -3)], False, 2),
    "SO(2) × C₈": ("so(2)", TURN, [embedded(plane(45))], False, 8),
    "O_h ⋉ R³": ("translation(3)", SHIFTS, [QUARTER, CYCLE, signs(-1, -1, -1, 1)], True, 48),
    "so(2) with a component group D₄ × Z₂": (
        "so(2)",
        TURN,
        [embedded(plane(90)), signs(1, 1, 1, -1), signs(1, -1, 1, 1)],
        False,
        16,
    ),
}
"""Name of the algebra, its generators, elements of components, whether they are affine, and the number of components."""


@pytest.mark.parametrize("name", ALGEBRAS)
def test_products_of_exponentials_are_in_the_identity_component(name):
    span = orthonormal(conjugated(ALGEBRAS[name], 4.0, 1))
    inside = torch.stack([element_of(span, seed) for seed in range(12)])
    assert float(distance(nearest_to_identity(inside, span)).max()) <= 1e-8
    assert float(violation(inside, preserved_forms(span)).max()) <= 1e-9


def test_the_orientation_of_invariant_subspaces_is_preserved():
    span = orthonormal(direct_sum(so(3), so(3)))
    forms, parts = preserved_forms(span), invariant_subspaces(span)
    inside = torch.stack([element_of(span, seed) for seed in range(8)])
    assert float(violation(inside, forms, parts).max()) <= 1e-9
    both = (
        -torch.eye(6).double() @ inside
    )  # reverses both spaces, and keeps forms, commutant and volume
    assert float(violation(both, forms).max()) <= 1e-9
    assert float(violation(both, forms, parts).min()) >= 1


@pytest.mark.parametrize(
    ("algebra", "element"),
    [
        (so(3), signs(-1, -1, -1)),
        (so(4), signs(1, 1, 1, -1)),
        (so(1, 1), signs(-1, -1)),
        (so(1, 3), signs(-1, -1, -1, -1)),
        (so(2, 3), signs(-1, 1, -1, 1, 1)),
        (sl(2), signs(1, -1)),
        (TURN, embedded(plane(10))),
    ],
)
def test_elements_outside_are_not_reached(algebra, element):
    span = orthonormal(algebra)
    moved = torch.stack([element @ element_of(span, seed) for seed in range(4)])
    near = nearest_to_identity(moved, span)
    assert float(distance(near).min()) >= 0.1
    # What is returned stays in the coset.
    assert float(distance(nearest_to_identity(torch.linalg.inv(near) @ moved, span)).max()) <= 1e-7


def test_minus_one_is_a_product_of_two_exponentials_of_sl2():
    # One exponential has a trace of at least −2; diag(−2, −1/2) needs two.
    element = signs(-2.0, -0.5)
    assert float(distance(nearest_to_identity(element[None], orthonormal(sl(2))))) <= 1e-8


QUICK = ("O(3)", "SO(3)", "E(3)", "SL±(2,R)", "SO(2) × C₈")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in GROUPS]
)
def test_components_are_counted_and_named(name):
    algebra, generators, elements, homogeneous, order = GROUPS[name]
    given = torch.stack([h @ element_of(generators, i, size=1.0) for i, h in enumerate(elements)])
    for noise in (0.0, 1e-5):
        group = close(
            given if homogeneous else noisy(given, noise, 4),
            algebra=generators,
            tolerance=max(noise, 1e-9),
            homogeneous=homogeneous,
        )
        assert group.order == order, (noise, group.reason)
        assert whole_name(algebra, generators, group) == name
        assert group.dimension == len(generators)
        assert group.frame is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["O(3)", "O(2)", "SL±(2,R)", "O(1,3)", "SO⁺(1,3) with parity"])
def test_components_in_sheared_coordinates(name):
    algebra, generators, elements, _, order = GROUPS[name]
    both = torch.cat([generators.double(), torch.stack(elements)])
    both = conjugated(both, 3.0, 2)
    span, given = both[: len(generators)], both[len(generators) :]
    given = torch.stack([h @ element_of(span, i, size=0.7) for i, h in enumerate(given)])
    group = close(given, algebra=span, tolerance=1e-8)
    assert group.order == order, group.reason
    assert whole_name(algebra, span, group) == name


def test_representatives_are_simple():
    mirror = close((signs(-1, 1, 1) @ element_of(so(3), 1))[None], algebra=so(3))
    torch.testing.assert_close(mirror.elements[1], signs(-1, -1, -1))
    assert mirror.words == ("identity", "mirror image (inversion)")
    even = close((signs(1, -1) @ plane(33))[None], algebra=so(2), coordinates=["x", "y"])
    assert even.words[1] == "mirror image (reflection x → −x)"
    lorentz = close(torch.stack(GROUPS["O(1,3)"][2]), algebra=so(1, 3), coordinates=list("txyz"))
    kinds = {words.partition(" (")[0] for words in lorentz.words[1:]}
    assert kinds == {"parity and time reversal", "time reversal", "parity"}


def test_an_element_that_moves_the_algebra_is_refused():
    group = close(torch.eye(3)[[1, 2, 0]][None], algebra=so(3)[:1])
    assert not group.closed
    assert group.reason.diagnosis is Diagnosis.GROUP_LEAVES_ALGEBRA
    assert group.reason.values["degrees"] == pytest.approx(90)
    assert whole_name("so(2)", so(3)[:1], group) == "so(2) with components that do not close"


def test_infinitely_many_components_have_no_number():
    group = close(embedded(plane(math.degrees(1.0)))[None], algebra=TURN, limit=40)
    assert group.order is None
    assert group.reason.diagnosis is Diagnosis.GROUP_BEYOND_LIMIT


def test_mirror_images_need_a_rotation_group_of_all_axes():
    # A reflection of one axis of two independent planes is no O(4), nor an O(2).
    both = direct_sum(so(2), so(2))
    group = close(signs(1, -1, 1, 1)[None], algebra=both)
    assert whole_name("so(2) ⊕ so(2)", both, group) == "so(2) ⊕ so(2) with a component group C₂"
    assert group.words[1] == "reflection x₁ → −x₁"


def test_names_of_connected_groups():
    names = {
        "so(3)": "SO(3)",
        "so(2) ⊕ R": "SO(2) × R",
        "e(1,3)": "SO⁺(1,3) ⋉ R⁴",
        "translation(2)": "R²",
        "translation(1)": "R",
        "scaling(3)": "R⁺",
        "so(3) ⊕ so(3)": "SO(3) × SO(3)",
        "R³": "R³",
        "unknown": "",
        "so(3) ⊕ n(4,1)": "",
    }
    assert {algebra: connected_name(algebra) for algebra in names} == names


def test_names_of_everything_together():
    four = permutation_group([(1, 0, 2, 3), (1, 2, 3, 0)], 4)
    mirror = close(signs(-1, -1, -1, 1)[None], algebra=se(3), homogeneous=True)
    square = close(torch.stack([plane(90), signs(1, -1)]))
    assert whole_name("se(3)", se(3), mirror, four) == "E(3) × S₄"
    assert whole_name("se(3)", None, None, four) == "SE(3) × S₄"
    assert whole_name("", None, None, four) == "S₄"
    assert whole_name("", None, square, shifts=(28, 28)) == "D₄ ⋉ C₂₈²"
    assert whole_name("", None, None, shifts=(28, 1)) == "C₂₈"
    assert whole_name("0", None, close(torch.eye(2)[None])) == "trivial"
    assert whole_name("unknown", None, square) == "unknown with a component group D₄"
    assert whole_name("", None, close(plane(50.1)[None], limit=50)) == "elements that do not close"


@pytest.mark.parametrize("charges", [(1, 2), (1, 3), (2, 3), (3, 5), (5, 7)])
def test_planes_that_turn_at_different_rates_return(charges):
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    algebra = torch.block_diag(*(charge * turn for charge in charges))[None]
    angle = 2.0
    inside = torch.linalg.matrix_exp(angle * algebra[0])[None]
    group = close(inside, algebra=algebra)
    assert group.order == 1
    assert whole_name("R", algebra, group) == "U(1)"
    mirror = torch.diag(torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64))[None]
    assert close(mirror, algebra=algebra).order == 2


def test_growth_and_rates_without_a_common_turn_are_not_a_circle():
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    dense = torch.block_diag(turn, 2**0.5 * turn)[None]
    spiral = torch.block_diag(turn, torch.eye(2, dtype=torch.float64))[None]
    assert whole_name("R", dense, None) == "R"
    assert whole_name("R", spiral, None) == "R"
