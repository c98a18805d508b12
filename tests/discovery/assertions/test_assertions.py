# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false, reportAttributeAccessIssue=false
"""The public assertions: each passes where it should and fails, by its text, where it should."""

import pytest
import torch

import liegg
from cases import conjugated_map, lorentz, mlp, normal, plane, square
from liegg.actions import Affine
from liegg.testing import assert_equivariant, assert_invariant, assert_same_span

X = normal(60, 3)

PRECISIONS = [torch.float64, torch.float32, torch.bfloat16]


def products(x):
    return (x @ x.mT).flatten(1)


def distances(x):
    return (x[:, [0, 0, 1]] - x[:, [1, 2, 2]]).square().sum(2)


INVARIANTS = {
    "products": (products, 9),
    "distances": (distances, 3),
    "lengths": (lambda x: x.norm(dim=2), 3),
    "one length": (lambda x: x.square().sum((1, 2))[:, None] / 9, 1),
}
"""Features that rotations of three vectors do not change, and their number."""


def cross(x):
    return torch.linalg.cross(x[:, 0], x[:, 1])


class TestInvariant:
    def test_passes_and_returns_the_analysis(self):
        sym = assert_invariant(square, X, liegg.so(3), tolerance=3e-13)
        assert sym.nullity == 3

    def test_copies(self):
        assert_invariant(lambda x: x.square().sum((1, 2)), normal(60, 4, 3), liegg.so(3), copies=4)

    def test_any_action(self):
        def spread(x):
            return (x[:, 0] - x[:, 1]).norm(dim=1)

        assert_invariant(spread, normal(60, 2, 3), liegg.se(3), action=Affine(3, copies=2))
        case = lorentz()
        assert_invariant(case.function, case.data, case.generators)

    @pytest.mark.parametrize("dtype", PRECISIONS)
    @pytest.mark.parametrize("features", INVARIANTS)
    def test_exact_networks_pass_at_the_default_tolerance(self, features, dtype):
        function, width = INVARIANTS[features]
        network = mlp(width, 32, 32, 2, dtype=dtype)
        x = (normal(100, 3, 3) + 1).to(dtype)
        assert_invariant(lambda x: network(function(x)), x, liegg.so(3), copies=3)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
    @pytest.mark.parametrize("power", [1, 2])
    def test_a_breaking_of_one_in_a_thousand_fails(self, dtype, power):
        """δ is 2.8e-4 for x₀ and 5.7e-4 for x₀²: the default is 5e-9 in float64 and 1.2e-4 in float32."""
        with pytest.raises(AssertionError, match=r"its relative change is 0.000[2-6]"):
            assert_invariant(
                lambda x: x.square().sum(1) + 1e-3 * x[:, 0] ** power,
                normal(300, 3).to(dtype),
                liegg.so(3),
            )

    def test_a_breaking_of_one_in_a_million_fails_in_float64(self):
        with pytest.raises(AssertionError, match=r"its relative change is [2-6].*e-07"):
            assert_invariant(lambda x: square(x) + 1e-6 * x[:, 0], normal(300, 3), liegg.so(3))

    @pytest.mark.parametrize(
        ("model", "generators", "text"),
        [
            (
                mlp(3, 16, 1),
                liegg.so(3),
                r"Sequential is not invariant under generator 0: its relative change is [0-9.]+ \(tolerance 4.97e-09\)",
            ),
            (
                square,
                liegg.scaling(3),
                "square is not invariant under generator 0: its relative change is",
            ),
            (
                square,
                torch.cat([liegg.so(3)[:2], liegg.algebra.diagonal(3)]),
                "not invariant under generator 2",
            ),
            (square, liegg.so(3)[:0], "no generators were given, so nothing was checked"),
        ],
    )
    def test_fails(self, model, generators, text):
        with pytest.raises(AssertionError, match=text):
            assert_invariant(model, X, generators)

    def test_tolerance_decides(self):
        tilted = lambda x: x.square().sum(1) + 1e-3 * x[:, 0] ** 2  # noqa: E731
        assert_invariant(tilted, X, liegg.so(3), tolerance=1e-2)
        with pytest.raises(AssertionError, match="is not invariant"):
            assert_invariant(tilted, X, liegg.so(3), tolerance=1e-4)

    def test_fails_for_a_generator_that_does_not_move_the_data(self):
        flat = X * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
        still = torch.zeros(1, 3, 3, dtype=torch.float64)
        still[0, 0, 2] = 1
        with pytest.raises(
            AssertionError,
            match="under generator 0: it does not move the data, so it cannot be checked",
        ):
            assert_invariant(square, flat, still)

    def test_fails_for_a_generator_that_moves_the_data_by_rounding_only(self):
        case = plane()
        normal_axis = torch.linalg.svd(case.data)[2][2]
        still = torch.outer(normal(3), normal_axis)[None]
        with pytest.raises(AssertionError, match="it does not move the data"):
            assert_invariant(case.function, case.data, still)


class TestEquivariant:
    PAIRS = normal(60, 2, 3)

    def test_passes(self):
        case = conjugated_map()
        sym = assert_equivariant(
            case.function, case.data, case.generators, case.output_generators, tolerance=3e-13
        )
        assert sym.nullity == 3

    @pytest.mark.parametrize("dtype", PRECISIONS)
    def test_exact_networks_pass_at_the_default_tolerance(self, dtype):
        network = mlp(9, 32, 3, dtype=dtype)

        def vectors(x):
            return (network(products(x))[:, :, None] * x).sum(1)

        assert_equivariant(vectors, normal(100, 3, 3).to(dtype), liegg.so(3), liegg.so(3), copies=3)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
    def test_a_breaking_of_one_in_a_thousand_fails(self, dtype):
        with pytest.raises(AssertionError, match=r"its relative change is 0.00[01]"):
            assert_equivariant(
                lambda x: cross(x) + 1e-3 * x[:, 0].square(),
                self.PAIRS.to(dtype),
                liegg.so(3),
                liegg.so(3),
                copies=2,
            )

    def test_copies_on_both_sides(self):
        assert_equivariant(
            lambda x: 2 * x, self.PAIRS, liegg.so(3), liegg.so(3), copies=2, output_copies=2
        )

    def test_any_actions(self):
        assert_equivariant(
            lambda x: x.mean(1),
            self.PAIRS,
            liegg.se(3),
            liegg.se(3),
            action=Affine(3, copies=2),
            output_action=Affine(3),
        )

    @pytest.mark.parametrize(
        ("model", "partner", "text"),
        [
            (
                cross,
                -liegg.so(3),
                "cross is not equivariant under generator 0: its relative change is",
            ),  # the wrong sense of rotation
            (cross, 0 * liegg.so(3), "not equivariant under generator 0"),
            (cross, liegg.so(3)[[0, 2, 1]], "not equivariant under generator 1"),
            (lambda x: cross(x) + x[:, 0, :1], liegg.so(3), "is not equivariant"),
        ],
    )
    def test_fails(self, model, partner, text):
        with pytest.raises(AssertionError, match=text):
            assert_equivariant(model, self.PAIRS, liegg.so(3), partner, copies=2)


class TestSameSpan:
    def test_passes_for_any_basis(self):
        mixed = torch.einsum("ab,bij->aij", normal(3, 3), liegg.so(3))
        assert_same_span(mixed, liegg.so(3), tolerance=1e-12)
        assert_same_span(torch.cat([mixed, mixed]), liegg.so(3))
        assert_same_span(liegg.so(3)[:0], liegg.so(3)[:0])

    def test_fails_for_other_dimensions(self):
        with pytest.raises(AssertionError, match="the spans have dimensions 2 and 3"):
            assert_same_span(liegg.so(3)[:2], liegg.so(3))

    def test_fails_for_another_span(self):
        with pytest.raises(
            AssertionError, match=r"the largest principal angle is 1.57 rad, above 1e-06"
        ):
            assert_same_span(liegg.so(3), liegg.algebra.diagonal(3))

    def test_fails_for_a_small_tilt(self):
        for tilt, tolerance in [(1e-5, 1e-6), (1e-10, 1e-11)]:
            tilted = liegg.so(2) + tilt * liegg.scaling(2)
            assert_same_span(tilted, liegg.so(2), tolerance=2 * tilt)
            with pytest.raises(AssertionError, match="the largest principal angle is"):
                assert_same_span(tilted, liegg.so(2), tolerance=tolerance)


class TestElements:
    """Finite elements of `assert_invariant`."""

    MINUS = -torch.eye(3)[None]

    def test_passes_for_mirror_images_of_products(self):
        assert assert_invariant(products, normal(60, 3, 3), elements=self.MINUS, copies=3) is None

    def test_generators_and_elements_together(self):
        x = normal(60, 3, 3)
        sym = assert_invariant(products, x, liegg.so(3), elements=self.MINUS, copies=3)
        assert sym is not None
        assert sym.nullity == 3

    def test_names_the_element_that_fails(self):
        def volume(x):
            return torch.linalg.det(x)[:, None]

        with pytest.raises(
            AssertionError, match="not invariant under inversion: the output changes by"
        ):
            assert_invariant(volume, normal(60, 3, 3), elements=self.MINUS, copies=3)
        group = liegg.algebra.close(self.MINUS)
        with pytest.raises(AssertionError, match="inversion"):
            assert_invariant(volume, normal(60, 3, 3), elements=group, copies=3)

    def test_permutations_of_slots(self):
        action, x = liegg.Linear(3, copies=3), normal(60, 3, 3)

        def mean(x):
            return x.mean(1)

        assert_invariant(mean, x, elements=[(1, 0, 2), (1, 2, 0)], action=action)
        with pytest.raises(AssertionError, match=r"the permutation \[1, 0, 2\]"):
            assert_invariant(lambda x: x[:, 0], x, elements=[(1, 0, 2)], action=action)

    def test_a_constant_output_checks_nothing(self):
        with pytest.raises(
            AssertionError, match="the same for all samples, so nothing was checked"
        ):
            assert_invariant(lambda x: 0 * x[:, 0] + 3, normal(60, 3), elements=-torch.eye(3)[None])

    def test_matrices_of_numpy_are_taken_and_singular_ones_refused(self):
        x = normal(60, 3)
        assert_invariant(lambda x: x.square().sum(1), x, elements=-torch.eye(3)[None].numpy())
        with pytest.raises(liegg.LieggError, match="singular"):
            assert_invariant(
                lambda x: x[:, 0], x, elements=torch.diag(torch.tensor([1.0, 0.0, 0.0]))[None]
            )

    def test_bad_elements_are_refused(self):
        x, action = normal(60, 3, 3), liegg.Linear(3, copies=3)
        for elements, message in (
            (torch.eye(2)[None], "moves vectors: 3"),
            ([(0, 0, 1)], "expected a matrix"),
        ):
            with pytest.raises(liegg.LieggError, match=message):
                assert_invariant(products, x, elements=elements, action=action)
        with pytest.raises(liegg.LieggError, match="neither generators nor elements"):
            assert_invariant(products, x)
        with pytest.raises(liegg.LieggError, match="need an action"):
            assert_invariant(products, x, elements=[(1, 0, 2)])
        with pytest.raises(AssertionError, match="nothing was checked"):
            assert_invariant(products, x, elements=torch.zeros(0, 3, 3), action=action)
        with pytest.raises(AssertionError, match="does not move the samples"):
            assert_invariant(products, 0 * x + 1, elements=torch.eye(3)[[1, 0, 2]], action=action)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_what_the_derivative_hides_fails_the_assertion(dtype):
    x = normal(300, 3).to(dtype)

    def stepped(x):
        return square(x) + 0.1 * (x[:, 0] > 0)

    with pytest.raises(AssertionError, match="finite elements"):
        assert_invariant(stepped, x, "so(3)")
    assert_invariant(square, x + 3, "so(3)")
