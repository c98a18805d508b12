"""Verdicts about verdicts: right, honest, missed, confident wrong, each on a case that must be so."""

import json
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from liegg._utils.errors import ModelError
from liegg.actions import Linear
from liegg.algebra import catalog
from liegg.discovery.discover import discover
from liegg.studies.error_rates import traps_judgement
from liegg.studies.error_rates.cases import Trap, normal, nothing, seeded, unit
from liegg.studies.error_rates.traps_judgement import (
    STORED_DIRECTIONS,
    claims,
    findable,
    judge_trap,
    open_by,
    splits,
    warned,
)
from liegg.studies.error_rates.traps_names import NameTrap, judge_name
from liegg.studies.error_rates.traps_truth import Measured


def length(x: Tensor) -> Tensor:
    return x.square().sum(1)


def slightly_broken(x: Tensor) -> Tensor:
    return length(x) + 0.02 * x[:, 0] ** 3


def data(samples: int = 300) -> Tensor:
    return normal(samples, 3, seeded("judgement", 0, seed=0))


def trap_of(model=length, **changes) -> Trap:
    trap = Trap(model=model, data=data(), action=Linear(3), algebra=catalog.so(3))
    return replace(trap, **changes)


def test_the_truth_is_right() -> None:
    row = judge_trap(trap_of())
    assert (row["verdict"], row["false"], row["name"]) == ("right", [], "so(3)")
    assert not row["undergraded"]
    assert row["angle"] < 1e-6


def test_symmetries_that_do_not_exist_are_confident_and_wrong() -> None:
    row = judge_trap(trap_of(algebra=nothing(3)))
    assert row["verdict"] == "confident wrong"
    assert {(one["claim"], one["level"]) for one in row["false"]} == {
        ("count", "exact"),
        ("name", "exact"),
    }


def test_a_part_of_the_algebra_is_not_enough() -> None:
    about_an_axis = unit(3, (0, 1)) - unit(3, (1, 0))
    row = judge_trap(trap_of(algebra=about_an_axis))
    assert row["verdict"] == "confident wrong"


def test_a_wrong_name_of_the_right_span_is_wrong() -> None:
    row = judge_trap(trap_of(names=("se(2)",)))
    assert row["verdict"] == "confident wrong"
    assert [one["claim"] for one in row["false"]] == ["name"]


def test_more_symmetries_than_were_found_are_missed() -> None:
    row = judge_trap(trap_of(algebra=torch.cat([catalog.so(3), catalog.scaling(3)])))
    assert row["verdict"] == "missed"
    row = judge_trap(
        trap_of(algebra=torch.cat([catalog.so(3), catalog.scaling(3)]), decidable=False)
    )
    assert row["verdict"] == "honest"


def test_with_a_warning_it_is_honest() -> None:
    """Twelve samples for nine directions: three are called exact, and the number is warned about."""
    row = judge_trap(trap_of(algebra=nothing(3), data=data(12)))
    assert "FEW_SAMPLES" in row["warnings"]
    assert row["false"]
    assert row["verdict"] == "honest"


def test_a_warning_about_something_else_is_no_excuse() -> None:
    x = data()
    x[:, 2] = 0
    row = judge_trap(trap_of(algebra=nothing(3), data=x))
    assert row["warnings"] == ["NOT_MOVED"]
    assert row["verdict"] == "confident wrong"


def test_a_grade_that_the_population_does_not_support_is_wrong() -> None:
    # The samples, and all rotations of them, see no violation; the population does.
    x = data()
    x = x / x.norm(dim=1, keepdim=True).clamp_min(1.0)

    def model(x: Tensor) -> Tensor:
        return length(x) + x[:, 0] * torch.relu(length(x) - 1.5)

    trap = trap_of(
        model,
        algebra=nothing(3),
        data=x,
        strict=False,
        population=lambda: data(2000),
        names=("so(3)",),
    )
    row = judge_trap(trap)
    assert row["verdict"] == "confident wrong"
    assert "grade" in {one["claim"] for one in row["false"]}
    assert row["population"][2] > 0.01


def test_a_broken_symmetry_may_be_found_at_its_grade() -> None:
    trap = trap_of(
        slightly_broken,
        algebra=nothing(3),
        broken=catalog.so(3),
        strict=False,
        population=lambda: data(3000),
    )
    row = judge_trap(trap)
    assert (row["verdict"], row["nullity"], row["known"], row["findable"]) == ("right", 3, 3, 3)


def test_the_reference_is_what_counts() -> None:
    trap = trap_of(
        algebra=nothing(3),
        broken=catalog.so(3),
        strict=False,
        reference=slightly_broken,
        population=lambda: data(3000),
    )
    row = judge_trap(trap)
    assert row["false"][0] | {"angle": 0, "defect": 0} == {
        "claim": "grade",
        "level": "exact",
        "angle": 0,
        "defect": 0,
    }


def test_a_part_of_a_cluster_splits_it() -> None:
    trap = trap_of(
        slightly_broken,
        algebra=nothing(3),
        broken=catalog.so(3),
        strict=False,
        population=lambda: data(3000),
    )
    sym = discover(trap.model, trap.data, trap.action)
    truth = Measured(trap, sym)
    defects = truth.defects(truth.known)
    assert defects is not None
    assert defects[0] < 1e-20  # a rotation about the axis stays
    assert [splits(count, truth) for count in range(5)] == [False, False, True, False, False]
    assert findable(truth, sym.decision) == 3


def test_a_refusal_is_right_where_something_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_, **__):
        raise ModelError("the derivative is not that of the function")

    monkeypatch.setattr(traps_judgement, "discover", refuse)
    assert judge_trap(trap_of(refused=True))["verdict"] == "right"
    assert judge_trap(trap_of(decidable=False))["verdict"] == "honest"
    row = judge_trap(trap_of())
    assert (row["verdict"], row["refused"][:10]) == ("missed", "ModelError")


def test_claims_are_nested_levels() -> None:
    def model(x: Tensor) -> Tensor:
        return torch.stack([length(x[:, :2]), x[:, 2] + 0.02 * x[:, 3]], dim=1)

    x = normal(500, 4, seeded("claims", 0, seed=0))
    found = claims(discover(model, x, Linear(4)))
    sizes = [len(claim.coefficients) for claim in found]
    assert sizes == sorted(sizes)
    assert [claim.level for claim in found[:1]] == ["exact"]
    assert [claim.name for claim in found[:-1]] == [""] * (len(found) - 1)
    assert claims(discover(lambda x: x**3, data(), Linear(3))) == []


def test_warnings_by_name() -> None:
    x = data(12)
    assert "FEW_SAMPLES" in warned(discover(length, x, Linear(3)))


def test_rows_hold_what_rules_need_and_are_json() -> None:
    row = judge_trap(trap_of())
    assert (
        len(row["defects"])
        == len(row["intervals"])
        == len(row["closure"])
        == 9
        <= STORED_DIRECTIONS
    )
    assert row["kappa"] > 0
    assert row["closure"][2] < 1e-10 < row["closure"][3]
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_brackets_that_leave_a_span() -> None:
    action = Linear(3)
    assert open_by(action.as_coefficients(catalog.so(3)), action) == pytest.approx(0, abs=1e-12)
    open_span = action.as_coefficients(unit(3, (0, 1), (1, 0)))
    assert open_by(open_span, action) == pytest.approx(2**0.5)  # E₁₁ − E₂₂


@pytest.mark.parametrize(
    ("names", "noise", "verdict"),
    [
        (("so(3)",), 0.0, "right"),
        (("se(2)",), 0.0, "confident wrong"),
        ((), 0.0, "confident wrong"),
    ],
)
def test_names_are_judged(names: tuple[str, ...], noise: float, verdict: str) -> None:
    trap = NameTrap(
        matrices=catalog.so(3), names=names, noise=noise, stated=False, homogeneous=False
    )
    assert judge_name(trap)["verdict"] == verdict


def test_no_name_is_honest_unless_the_matrices_are_exact() -> None:
    span = normal(3, 9, seeded("open", 0, seed=0)).unflatten(1, (3, 3))
    trap = NameTrap(matrices=span, names=("so(3)",), noise=0.1, stated=True, homogeneous=False)
    assert judge_name(trap)["verdict"] == "honest"
    assert judge_name(replace(trap, noise=0.0, stated=False))["verdict"] == "missed"
