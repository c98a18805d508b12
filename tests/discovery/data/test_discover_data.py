"""Symmetries of data sets: known answers, laws, bad input."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

import liegg
from known_data import KNOWN, data_set
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, LieggError


@pytest.mark.parametrize("kind", KNOWN)
def test_known_data_sets(kind: str) -> None:
    x = data_set(kind, 6000)
    sym = liegg.discover_data(x, liegg.Linear(x.shape[1]), functions=48)
    assert sym.nullity == KNOWN[kind]
    assert sym.distribution is not None
    assert sym.distribution.found == KNOWN[kind]


@pytest.fixture(scope="module")
def sphere() -> liegg.Symmetries:
    return liegg.discover_data(data_set("gaussian", 6000), liegg.Linear(3), functions=48)


def test_words_name_the_samples_and_what_would_have_been_seen(sphere: liegg.Symmetries) -> None:
    assert sphere.name == "so(3)"
    assert sphere.sentence.diagnosis is Diagnosis.DATA_UNCHANGED
    assert "6000 samples" in str(sphere.sentence)
    assert "output" not in str(sphere)
    assert sphere.decision.nullity_interval == (3, 3)
    angles = sphere.angles(liegg.so(3))
    assert float(angles.max()) <= sphere.decision.uncertainty
    assert not bool(sphere.defect_interval(liegg.so(3)).isnan().any())
    assert all(not math.isnan(one.interval[0]) for one in sphere.account.readable)


def test_named_motions_page_and_disk(sphere: liegg.Symmetries, tmp_path: Path) -> None:
    answer = sphere.about("rotation")[0]
    assert answer.holds
    assert "distribution" in answer.sentence
    assert not sphere.about("scaling")[0].holds
    page = sphere.report(tmp_path / "page.html").read_text()
    assert "Tests against chance" in page
    assert "liegg.discover_data(data" in page
    assert "Finite transformations were not verified" not in page
    loaded = liegg.load(sphere.save(tmp_path / "run"))
    assert str(loaded) == str(sphere)
    torch.testing.assert_close(
        loaded.defect_interval(liegg.so(3)), sphere.defect_interval(liegg.so(3))
    )


def test_few_samples_decide_nothing() -> None:
    sym = liegg.discover_data(data_set("gaussian", 150), liegg.Linear(3))
    assert sym.nullity == 0
    assert sym.decision.undecided
    assert sym.sentence.diagnosis is Diagnosis.DATA_UNDECIDED_FOR
    with pytest.raises(ArgumentError, match="at least 100"):
        liegg.discover_data(data_set("gaussian", 99), liegg.Linear(3))


def test_units_and_order_do_not_matter() -> None:
    x = data_set("half shell", 3000)
    base = liegg.discover_data(x, liegg.Linear(3), functions=32)
    for other in (1e6 * x, x[torch.randperm(3000, generator=torch.Generator().manual_seed(1))]):
        sym = liegg.discover_data(other, liegg.Linear(3), functions=32)
        torch.testing.assert_close(sym.defects, base.defects, rtol=1e-6, atol=1e-9)
    batches = [x[:1000], x[1000:]]
    sym = liegg.discover_data(batches, liegg.Linear(3), functions=32)
    assert sym.nullity == base.nullity == 1


def test_copies_and_groups_do_not_sharpen_the_verdict() -> None:
    few = data_set("gaussian", 200)
    copies = few.repeat(50, 1)
    sym = liegg.discover_data(copies, liegg.Linear(3), functions=32)
    assert sym.distribution is not None
    assert sym.distribution.dispersion > 20
    assert sym.nullity == 0
    assert sym.decision.undecided
    jittered = copies + 1e-3 * data_set("gaussian", len(copies), seed=1)
    groups = torch.arange(200).repeat(50)
    sym = liegg.discover_data(jittered, liegg.Linear(3), run=liegg.Run(groups=groups), functions=32)
    assert sym.distribution is not None
    assert sym.distribution.dispersion > 20
    assert sym.nullity == 0


def test_candidates_that_are_all_symmetries_count_once_there_is_power() -> None:
    action = liegg.Linear(3).restrict(liegg.so(3))
    assert liegg.discover_data(data_set("gaussian", 12_000), action, functions=24).nullity == 3
    few = liegg.discover_data(data_set("gaussian", 300), action, functions=24)
    assert few.decision.undecided == 3
    (warning,) = few.decision.warnings
    assert warning.diagnosis is Diagnosis.CANNOT_TELL_FROM_CHANCE


def test_bad_data_gives_no_false_answer() -> None:
    x = data_set("cube", 5000)
    constant = torch.cat([data_set("gaussian", 5000)[:, :2], torch.ones(5000, 1).double()], 1)
    flat = liegg.discover_data(constant, liegg.Linear(3), functions=32)
    assert flat.name == "so(2)"
    (warning,) = flat.decision.warnings
    assert warning.diagnosis is Diagnosis.DATA_CONSTANT_COLUMNS
    assert warning.values == {"count": 1, "names": "x₃"}
    heavy = data_set("gaussian", 5000) / data_set("gaussian", 5000, seed=1)
    tails = liegg.discover_data(heavy, liegg.Linear(3), functions=32)
    assert tails.nullity == 0
    assert Diagnosis.DATA_FEW_CARRY in [one.diagnosis for one in tails.decision.warnings]
    # A Gaussian beside a short uniform number: only test functions that see the short axis exclude a rotation.
    mixed = torch.stack([data_set("gaussian", 5000)[:, 0], 1e-3 * x[:, 0]], 1)
    sym = liegg.discover_data(mixed, liegg.Linear(2), functions=32)
    assert sym.nullity == 0
    assert Diagnosis.DATA_MIXED_UNITS in [one.diagnosis for one in sym.decision.warnings]


def test_an_outlier_is_named() -> None:
    x = data_set("gaussian", 3000)
    x[7] = 1e4
    sym = liegg.discover_data([x[:1000], x[1000:]], liegg.Linear(3), functions=32)
    (warning,) = [one for one in sym.decision.warnings if one.diagnosis is Diagnosis.DATA_FEW_CARRY]
    assert warning.values == {"count": 1, "places": "data[7]", "percent": 99}
    advice = (Diagnosis.NOT_EXCLUDED, Diagnosis.CANNOT_TELL_FROM_CHANCE)
    assert not any(one.diagnosis in advice for one in sym.decision.warnings)


def test_bad_arguments():
    for arguments, match in [
        ({"functions": "cubes"}, "functions"),
        ({"functions": 0}, "functions"),
        ({"functions": lambda y: y.repeat(1, 400)}, "at most"),
        ({"seed": -1}, "seed"),
        ({"groups": [1, 2]}, "groups"),
    ]:
        with pytest.raises(LieggError, match=match):
            liegg.discover_data(data_set("cube", 200), liegg.Linear(3), **arguments)


def test_bad_shapes_and_numbers() -> None:
    with pytest.raises(LieggError):
        liegg.discover_data(data_set("cube", 200), liegg.Linear(4))
    with pytest.raises(LieggError):
        liegg.discover_data(np.full((200, 3), np.nan), liegg.Linear(3))
    with pytest.raises(ArgumentError, match="candidates"):
        liegg.discover_data(torch.rand(200, 20), liegg.Linear(20))


def test_low_moments_alone_cannot_tell() -> None:
    x = data_set("cube", 5000)
    with pytest.raises(ArgumentError, match="cannot tell 9 candidates apart"):
        liegg.discover_data(x, liegg.Linear(3), functions=lambda y: torch.cat([y, y**2], 1))
    assert liegg.discover_data(x, liegg.Linear(3), functions="monomials").nullity == 0


def test_data_without_spread():
    questions: list[Any] = ["density", "support"]
    for question in questions:
        for x, match in [
            (torch.zeros(300, 3), "all samples are the same"),
            (1e-160 * torch.rand(300, 3, dtype=torch.float64), "Rescale"),
        ]:
            with pytest.raises(ArgumentError, match=match):
                liegg.discover_data(x, liegg.Linear(3), question=question)


def test_functions_that_cannot_work():
    for functions, match in [
        (lambda y: torch.ones(len(y), 20), "cannot tell"),
        (lambda y: (y[:, :1] > torch.linspace(-0.4, 0.4, 20)).double(), "vanish"),
        (lambda y: y > 0, "floating point"),
        (lambda y: y / 0, "finite"),
        (1, "cannot tell"),
    ]:
        with pytest.raises(LieggError, match=match):
            liegg.discover_data(data_set("cube", 300), liegg.Linear(3), functions=functions)


def test_rotated_images_have_the_rotation() -> None:
    generator = torch.Generator().manual_seed(0)
    places = torch.linspace(-1, 1, 12, dtype=torch.float64)
    angle = 2 * math.pi * torch.rand(1500, 1, 1, generator=generator, dtype=torch.float64)
    along = places[None, :, None] * angle.sin() + places[None, None] * angle.cos()
    across = places[None, :, None] * angle.cos() - places[None, None] * angle.sin()
    images = torch.exp(-((along - 0.25) ** 2) / 0.08 - across**2 / 0.03)[:, None]
    sym = liegg.discover_data(images, liegg.Image(group="linear"), functions=40)
    assert sym.nullity == 1
    assert sym.words[0].startswith("rotation")
    flat = liegg.discover_data(
        images.flatten(1), liegg.Image(group="linear", shape=(1, 12, 12)), functions=40
    )
    torch.testing.assert_close(flat.defects, sym.defects)


def test_samples_that_depend_on_those_before_them_decide_less() -> None:
    steps = 0.14 * data_set("gaussian", 4000)[:, :2]
    states = [torch.zeros(2, dtype=torch.float64)]
    for step in steps:
        states.append(0.99 * states[-1] + step)
    series = torch.stack(states)
    sym = liegg.discover_data(series, liegg.Linear(2), functions=48)
    assert sym.decision.undecided
    assert Diagnosis.DATA_DEPENDS_ON_ORDER in [one.diagnosis for one in sym.decision.warnings]
    assert "shuffle" in str(sym.decision.warnings[0])


@pytest.mark.parametrize("parts", [2, 8])
def test_a_file_sorted_by_class_is_decided_as_if_it_were_shuffled(parts: int) -> None:
    x = data_set("gaussian", 6000)[:, :2]
    sector = ((torch.atan2(x[:, 1], x[:, 0]) / (2 * math.pi) + 0.5) * parts).floor()
    plain = liegg.discover_data(x, liegg.Linear(2), functions=48)
    ordered = liegg.discover_data(x[sector.argsort()], liegg.Linear(2), functions=48)
    assert not plain.decision.warnings
    assert [one.diagnosis for one in ordered.decision.warnings] == [Diagnosis.DATA_SORTED]
    assert ordered.nullity == plain.nullity == 1
    assert not ordered.decision.undecided


def test_many_parts_of_a_file_count_as_many_samples() -> None:
    """Sixty clusters of samples around centres: a sample of sixty, not of six thousand."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(60, 1, 2, generator=generator, dtype=torch.float64)
    noise = torch.randn(60, 100, 2, generator=generator, dtype=torch.float64)
    sym = liegg.discover_data((centres + noise).flatten(0, 1), liegg.Linear(2), functions=48)
    assert sym.decision.undecided
    assert Diagnosis.DATA_DEPENDS_ON_ORDER in [one.diagnosis for one in sym.decision.warnings]


def test_numbers_with_few_values_are_named() -> None:
    x = (data_set("gaussian", 4000) / 2).round()
    sym = liegg.discover_data(x, liegg.Linear(3), functions=48)
    assert sym.decision.undecided
    assert Diagnosis.DATA_COPIES in [one.diagnosis for one in sym.decision.warnings]
    with pytest.raises(ArgumentError, match=r"count as about \d different ones"):
        liegg.discover_data((x > 0).double(), liegg.Linear(3), functions=48)


def test_rotations_of_eight_dimensions() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(8000, 8, generator=generator, dtype=torch.float64)
    with pytest.raises(ArgumentError, match=r"restrict\(liegg.so\(8\)\)"):
        liegg.discover_data(x, liegg.Linear(8))
    action = liegg.Linear(8).restrict(liegg.so(8)[:13])
    assert liegg.discover_data(x, action).nullity == 13
    assert liegg.discover_data(x.exp(), action).nullity == 0


def test_readable_motions_stay_within_the_error_of_the_span() -> None:
    """Their entries are rounded: by no more than the directions are known to."""
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(3, 3, generator=generator, dtype=torch.float64)
        x = data_set("shell", 5000, seed) @ (torch.eye(3, dtype=torch.float64) + 0.15 * noise).mT
        sym = liegg.discover_data(x, liegg.Linear(3), functions=64)
        assert sym.name == "so(3)"
        readable = torch.stack([one.coefficients for one in sym.account.readable])
        angles = liegg.algebra.principal_angles(readable, sym.coefficients)
        assert float(angles.max()) <= 1.5 * sym.decision.uncertainty


def test_small_batches_are_the_same_data() -> None:
    """Scales and checks take samples of many batches if the first one is small."""
    x = data_set("half shell", 600)
    whole = liegg.discover_data(x, liegg.Linear(3), functions=24)
    for size in (1, 50):
        parts = liegg.discover_data([*x.split(size)], liegg.Linear(3), functions=24)
        torch.testing.assert_close(parts.defects, whole.defects)
        assert parts.decision.undecided == whole.decision.undecided
