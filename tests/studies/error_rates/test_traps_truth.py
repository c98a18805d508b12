"""The known answers of the traps: checked by finite transformations, which no derivative enters."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.algebra.identify import identify
from liegg.discovery.discover import discover
from liegg.studies.error_rates.cases import Trap, matches, normal, nothing, seeded, unit
from liegg.studies.error_rates.symmetric import Invariants
from liegg.studies.error_rates.traps_algebras import TRAP_ALGEBRAS
from liegg.studies.error_rates.traps_catalog import THEMES, TRAP_FAMILIES, Key, cases, make
from liegg.studies.error_rates.traps_names import CLASSICAL, NILPOTENT, NameTrap
from liegg.studies.error_rates.traps_truth import Measured, right_names

pytestmark = pytest.mark.slow

STEP = 1e-3
SHORT = 1e-5
FUNCTIONS = [theme for theme in THEMES if theme != "names"]


def drawn(family: str, index: int, seed: int = 3) -> Trap:
    trap = make(Key(family, index, seed))
    assert isinstance(trap, Trap)
    return trap


def invariant_traps(theme: str, indices: range) -> Iterator[tuple[str, Trap]]:
    """Traps of a theme whose outputs do not move, in float64; networks that learn are left out."""
    for family in THEMES[theme]:
        for index in () if family.startswith("trained") else indices:
            trap = drawn(family, index)
            if trap.output_action is None and trap.data.dtype == torch.float64:
                yield family, trap


@pytest.mark.parametrize("theme", FUNCTIONS)
def test_the_algebra_preserves_the_function(theme: str) -> None:
    for family, trap in invariant_traps(theme, range(3)):
        f, x = trap.reference or trap.model, trap.data[:50]
        scale = float(f(trap.data).std())
        for matrix in trap.algebra:
            moved = trap.action.act(STEP * matrix / matrix.norm(), x)
            change = float((f(moved) - f(x)).abs().median())
            assert change <= 1e-9 * max(scale, 1e-3) + 1e-12, (family, trap.label, matrix)


@pytest.mark.parametrize("theme", FUNCTIONS)
def test_other_directions_change_it(theme: str) -> None:
    """A random candidate changes the function by much more than rounding, whatever is hidden."""
    for family, trap in invariant_traps(theme, range(1)):
        f, x = trap.reference or trap.model, trap.data
        coefficients = normal(1, trap.action.size, seeded(family, 0, seed=9))
        coefficients = coefficients / coefficients.norm()
        change = f(trap.action.act(0.1 * coefficients[0], x)) - f(x)
        # Logarithms of negative numbers are a change, too.
        assert float(change.nan_to_num(1.0).abs().max()) > 1e-4 * float(f(x).std()), family


def test_equivariant_functions_rotate() -> None:
    for family in ("many rows per sample", "equivariant vectors", "two bodies"):
        trap = drawn(family, 0)
        rotation = trap.algebra[:1]
        assert trap.output_action is not None
        n = rotation.shape[-1] - isinstance(trap.action, Affine)
        rotated = trap.model(trap.action.act(rotation[0], trap.data))
        expected = trap.output_action.act(rotation[0, :n, :n], trap.model(trap.data))
        torch.testing.assert_close(rotated, expected)


def test_gl2_equivariance_holds_for_any_linear_map() -> None:
    trap = drawn("gl(2) equivariance", 0)
    matrix = torch.tensor([[0.3, 0.5], [-0.2, 0.1]], dtype=torch.float64)
    turned = trap.model(Linear(2, copies=4).act(matrix, trap.data))
    torch.testing.assert_close(turned, Linear(2).act(matrix, trap.model(trap.data)))


def nullity_of(chosen: Invariants, x: Tensor) -> int:
    """Candidates along which no invariant changes, by finite differences."""
    action = (Affine if chosen.affine else Linear)(chosen.n, copies=chosen.copies)
    tangents = action.tangents(torch.eye(action.size, dtype=torch.float64), x)

    def invariants(x: Tensor) -> Tensor:
        return chosen.features(x.reshape(-1, chosen.copies, chosen.n)).flatten()

    rows = torch.stack([invariants(x + SHORT * t) - invariants(x - SHORT * t) for t in tangents])
    singular = torch.linalg.svdvals(rows.mT)
    return action.size - int((singular > 1e-6 * singular[0]).sum())


def test_the_invariants_have_no_other_symmetry() -> None:
    """The rank of the derivatives of the invariants themselves is that of the complement."""
    for kind, maker in TRAP_ALGEBRAS.items():
        chosen = maker()
        x = normal(400, chosen.n * chosen.copies, seeded(kind, 0, seed=1))
        assert nullity_of(chosen, x) == len(chosen.algebra), kind


def test_the_names_of_exact_matrices_are_right() -> None:
    for label, (matrices, names) in (NILPOTENT | CLASSICAL).items():
        found = identify(matrices, homogeneous=label.startswith(("se", "aff")))
        assert any(matches(name, names) for name in (found.name, *found.aliases)), label


def test_names_may_have_further_words_but_not_further_parts() -> None:
    assert matches("se(3), up to motions that do not move this data", ("se(3)",))
    assert not matches("se(3) ⊕ R", ("se(3)",))
    assert not matches("so(3)", ("se(3)",))
    assert matches("Bianchi VII (h = 0.25)", ("Bianchi VII (h = *)",))


def test_measured_defects_are_those_of_the_analysis() -> None:
    x = normal(500, 3, seeded("measured", 0, seed=0))

    def model(x: Tensor) -> Tensor:
        return x.square().sum(1) + 0.1 * x[:, 0] ** 3

    trap = Trap(
        model=model,
        data=x,
        action=Linear(3),
        algebra=nothing(3),
        strict=False,
        population=lambda: x,
    )
    sym = discover(model, x, Linear(3))
    truth = Measured(trap, sym)
    found = truth.defects(sym.accumulated.solution.directions)
    torch.testing.assert_close(torch.tensor(found, dtype=torch.float64), sym.defects)
    assert truth.defect(sym.accumulated.solution.directions[:2]) == pytest.approx(
        float(sym.defects[1])
    )


def test_angles_are_from_the_algebra_up_to_what_does_not_move_the_data() -> None:
    x = normal(300, 3, seeded("angles", 0, seed=0))
    x[:, 2] = 0
    trap = Trap(model=lambda x: x.square().sum(1), data=x, action=Linear(3), algebra=catalog.so(3))
    sym = discover(trap.model, x, trap.action)
    truth = Measured(trap, sym)
    shear = trap.action.as_coefficients(unit(3, (2, 0)))
    stretch = trap.action.as_coefficients(unit(3, (0, 0)))
    assert truth.outside(shear) < 1e-6  # a rotation out of the plane, on data in the plane
    assert truth.outside(stretch) == pytest.approx(torch.pi / 2)


def test_the_right_names_are_those_of_the_algebra() -> None:
    trap = Trap(model=lambda x: x, data=torch.zeros(1, 3), action=Linear(3), algebra=catalog.so(3))
    assert right_names(trap)[0] == "so(3)"
    assert right_names(drawn("planar molecules", 0)) == ("se(3)",)


def test_a_series_is_large_and_another_seed_gives_other_cases() -> None:
    keys = cases(1)
    assert len(keys) >= 1500
    assert len(TRAP_FAMILIES) >= 30
    assert len(set(keys)) == len(keys)
    assert [key.family for key in cases(0, each=1)] == list(TRAP_FAMILIES)
    one, same, other = (drawn("units", 0, seed) for seed in (0, 0, 1))
    assert torch.equal(one.data, same.data)
    assert one.data.shape != other.data.shape or not torch.equal(one.data, other.data)


def test_noise_of_names_is_relative() -> None:
    for index in range(18):
        trap = make(Key("names: few candidates", index, 4))
        assert isinstance(trap, NameTrap)
        assert bool(trap.matrices.isfinite().all())
        assert not trap.stated or trap.noise > 0
