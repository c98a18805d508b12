# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false
"""Named motions: known answers, units, errors, and nothing lost."""

import math

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.actions import Motion
from liegg.discovery.about.questions import motions_asked
from liegg.results.answers import Answers


def points(n=200, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def length(x):
    return x.square().sum(1)


def images(n=48, seed=0):
    """Smooth images without content at the border."""
    places = torch.linspace(-1, 1, 16, dtype=torch.float64)
    y, x = torch.meshgrid(places, places, indexing="ij")
    drawn = torch.Generator().manual_seed(seed)
    centre = 0.6 * torch.rand(n, 2, 1, 1, generator=drawn, dtype=torch.float64) - 0.3
    return torch.exp(-((x - centre[:, 0]) ** 2 + 2 * (y - centre[:, 1]) ** 2) / 0.08)


def test_a_rotation_that_changes_nothing_is_exact_by_any_angle():
    (answer,) = liegg.discover(length, points(), liegg.Linear(3), about="rotation").answers
    assert answer.grade == "exact"
    assert answer.holds
    assert answer.inside
    assert answer.verdict.diagnosis is Diagnosis.MOTION_EXACT
    assert answer.finite.whole_turn
    assert answer.finite.radius == 360
    assert float(answer.finite.change.max()) < 1e-20
    assert answer.finite.milder


def test_the_change_by_scaling_is_the_one_of_the_formula():
    x = points()
    (answer,) = liegg.discover(length, x, liegg.Linear(3), about="scaling").answers
    f = length(x)
    for size, found in zip(
        answer.finite.sizes.tolist(), answer.finite.change.tolist(), strict=True
    ):
        t = math.log(1 + size / 100)
        both = [math.expm1(2 * s * t) ** 2 for s in (1, -1)]
        expected = sum(both) / 2 * float(f.square().mean() / f.var(correction=0))
        assert found == pytest.approx(expected, rel=1e-9)
    assert answer.finite.sizes.tolist() == pytest.approx([100 * (1.25**0.5 - 1), 25])
    assert answer.verdict.diagnosis is Diagnosis.MOTION_BREAKS


def test_predictions_that_change_are_counted():
    x = points(d=2)
    sides = lambda x: torch.stack([x[:, 0], -x[:, 0]], dim=1)  # noqa: E731
    (answer,) = liegg.discover(sides, x, liegg.Linear(2), about={"turn": liegg.so(2)}).answers
    finite = answer.finite
    angles = torch.atan2(x[:, 1], x[:, 0])
    for size, changed in zip(finite.sizes.tolist(), finite.changed.tolist(), strict=True):
        after = torch.cos(angles + math.radians(size))
        assert changed == pytest.approx(float(((after > 0) != (x[:, 0] > 0)).double().mean()))
    assert finite.share.value == pytest.approx(float(finite.changed.mean()))
    assert finite.share.low < finite.share.value < finite.share.high
    assert finite.predictions.shape == (8, len(finite.sizes) + 1)
    assert finite.predictions[:, 0].tolist() == (x[:8, 0] < 0).long().tolist()
    assert finite.times.tolist() == pytest.approx((finite.sizes.deg2rad()).tolist())


def test_the_defect_of_a_span_is_the_mean_over_it():
    x = points() * torch.tensor([1.0, 2.0, 0.5])
    f = lambda x: x[:, :1] ** 3 + x[:, 1:2] * x[:, 2:]  # noqa: E731
    sym = liegg.discover(f, x, liegg.Linear(3), about="rotation")
    h = liegg.so(3).flatten(1)
    rows = torch.func.vmap(torch.func.jacrev(lambda x: f(x[None])[0]))(x)[:, 0]
    fields = torch.einsum("kij,nj->nki", liegg.so(3), x)
    changes = torch.einsum("ni,nki->nk", rows, fields)
    change, motion = changes.mT @ changes, torch.einsum("nki,nli->kl", fields, fields)
    mean = float(torch.linalg.solve(motion, change).trace()) / len(h)
    (answer,) = sym.answers
    expected = mean / sym.accumulated.solution.sensitivity
    assert answer.defect == pytest.approx(expected, rel=1e-9)
    assert answer.interval[0] < answer.defect < answer.interval[1]
    assert answer.effect == pytest.approx(math.sqrt(sym.decision.response * answer.defect))


def test_one_generator_has_the_defect_and_the_interval_of_the_result():
    sym = liegg.discover(lambda x: x[:, 0] ** 2 + 2 * x[:, 1] ** 2, points(d=2), liegg.Linear(2))
    (answer,) = sym.about({"turn": liegg.so(2)})
    assert answer.defect == pytest.approx(float(sym.defect(liegg.so(2))))
    assert answer.interval == pytest.approx(tuple(sym.defect_interval(liegg.so(2))[0].tolist()))
    assert answer.finite is None


def test_motions_outside_the_candidates_are_measured_by_moving():
    x = images()
    weights = images(3, seed=1).flatten(1)
    f = lambda x: torch.tanh(x.flatten(1) @ weights.mT / 20)  # noqa: E731
    within = liegg.discover(f, x, liegg.Image("affine"), about="shift")
    without = liegg.discover(f, x, liegg.Image(), about="shift")
    one, other = (
        sym.answers[0].defect * sym.accumulated.solution.sensitivity for sym in (within, without)
    )
    assert within.answers[0].inside
    assert not without.answers[0].inside
    assert other == pytest.approx(one, rel=0.05)  # both by one pixel; the motion is of second order
    assert without.answers[0].finite.unit == "pixels"
    assert without.answers[0].finite.change.tolist() == pytest.approx(
        within.answers[0].finite.change.tolist()
    )


def test_images_are_asked_about_the_standard_set():
    places = torch.linspace(-1, 1, 16, dtype=torch.float64)
    squares = places.square()[:, None] + places.square()
    sym = liegg.discover(lambda x: (x * squares).sum((1, 2)), images(), liegg.Image())
    names = [answer.name for answer in sym.answers]
    assert names == ["rotation", "shift", "scaling", "shear", "brightness", "contrast"]
    assert sym.answers.named("rotation").holds  # the content stays inside
    assert not sym.answers.named("scaling").holds
    assert str(sym).startswith("Rotation")


def test_other_samples_are_asked_nothing_unless_named():
    assert liegg.discover(length, points(), liegg.Linear(3)).answers == ()
    sym = liegg.discover(length, images().flatten(1)[:, :3] + points(48), liegg.Affine(3))
    assert [one.name for one in sym.about()] == ["rotation", "scaling", "translation"]


def test_equivariance_compares_with_the_moved_output():
    turned = lambda x: 2 * x  # noqa: E731
    action = liegg.Linear(3).restrict(liegg.so(3))
    sym = liegg.discover(turned, points(), action, output_action=liegg.Linear(3), about="rotation")
    (answer,) = sym.answers
    assert answer.equivariance
    assert answer.verdict.values == {"adjective": "equivariant"}
    assert float(answer.finite.change.max()) < 1e-20
    assert answer.finite.changed is None


def test_without_finite_motions_a_small_change_proves_nothing():
    """Rotation by 1 % of what an average motion does, or by all of it: only a vanishing derivative decides."""
    x = points(d=2)
    for part, holds in ((0.0, True), (1e-3, None), (0.3, None), (3.0, None)):
        f = lambda x, part=part: x.square().sum(1) + part * x[:, 0]  # noqa: E731
        sym = liegg.discover(f, x, liegg.Linear(2))
        (answer,) = sym.about("rotation")
        assert answer.finite is None
        assert answer.holds is holds
        if holds is None:
            assert answer.verdict.diagnosis is Diagnosis.MOTION_NOT_TRIED
            assert answer.remarks[0].diagnosis is Diagnosis.MOTION_FIRST_ORDER
        (moved,) = sym.about("rotation", model=f, data=x)
        assert moved.holds is (part < 0.1)


def test_answers_survive_storage(tmp_path):
    x = images()
    sym = liegg.discover(lambda x: x.flatten(1)[:, 100:103] ** 2, x, liegg.Image())
    stored = liegg.load(sym.save(tmp_path / "run"))
    assert [a.to_dict() for a in stored.answers] == [a.to_dict() for a in sym.answers]
    assert str(stored) == str(sym)
    assert stored.about("rotation")[0].to_dict() == sym.answers[0].to_dict()


def test_a_result_answers_with_the_model():
    x = points()
    sym = liegg.discover(length, x, liegg.Linear(3))
    (answer,) = sym.about("scaling", model=length, data=x)
    (direct,) = liegg.discover(length, x, liegg.Linear(3), about="scaling").answers
    assert answer.finite.change.tolist() == pytest.approx(direct.finite.change.tolist())
    with pytest.raises(ArgumentError, match="data= is missing"):
        sym.about("scaling", model=length)


def test_a_model_that_fails_on_moved_samples_loses_nothing():
    x = points().abs() + 0.1

    def positive(x):
        if bool((x <= 0).any()):
            raise ValueError("negative")
        return x.log().sum(1)

    sym = liegg.discover(positive, x, liegg.Linear(3), about="rotation")
    assert sym.answers[0].finite is None
    assert math.isfinite(sym.answers[0].defect)
    assert Diagnosis.MOTIONS_NOT_TRIED in [note.diagnosis for note in sym.notes]


def test_a_model_that_leaves_its_domain_is_neither_invariant_nor_milder():
    """Its output is NaN for a few samples after the motion: their predictions are lost, and nothing is said in infinite per cent."""
    x = points(d=2).clamp(-2.5, 2.5)

    def domain(values):
        return lambda x: torch.where((x.abs().amax(1) > 2.9)[:, None], torch.nan, values(x))

    # Class 0 always wins, and is the first of NaN, too.
    scores = domain(lambda x: torch.stack([x[:, 0] + 10, x[:, 1]], 1))
    sym = liegg.discover(scores, x, liegg.Linear(2), about="scaling", target="classes")
    (answer,) = sym.answers
    lost = ((1.25 * x).abs().amax(1) > 2.9).double().mean()
    assert 0 < lost < 0.5
    assert answer.finite.share.value == pytest.approx(float(lost) / 2)  # in one of two senses
    assert answer.finite.undefined == pytest.approx(float(lost))
    assert answer.remarks[0].diagnosis is Diagnosis.MOTION_CHANGES_BUT_UNDEFINED
    one, other = (
        liegg.discover(f, x, liegg.Linear(2), about="scaling")
        for f in (domain(lambda x: length(x)[:, None]), length)
    )
    (bad,) = one.answers
    assert bad.remarks[0].diagnosis is Diagnosis.MOTION_UNDEFINED
    assert (bad.holds, bad.finite.milder, bad.changed) == (False, False, "undefined")
    (pair,) = liegg.compare(one, other, names=("bad", "good")).answers
    assert pair.measure == "defect"
    assert "∞" not in f"{one} {pair.sentence} {answer}"


def test_why_a_motion_is_undecided():
    x = torch.cat([points(), torch.zeros(200, 3, dtype=torch.float64)], 1)
    dead = torch.nn.functional.pad(liegg.so(3), (3, 0, 3, 0))
    sym = liegg.discover(length, x, liegg.Linear(6), about={"dead": dead})
    assert sym.answers[0].verdict.diagnosis is Diagnosis.MOTION_MOVES_NOTHING
    plain = liegg.discover(lambda x: x.flatten(1)[:, :3], images(), liegg.Image(), about=())
    assert plain.about("shift")[0].verdict.diagnosis is Diagnosis.MOTION_NOT_MEASURED
    asked = liegg.discover(lambda x: x.flatten(1)[:, :3], images(), liegg.Image(), about="shift")
    (pair,) = liegg.compare(asked, plain, names=("asked", "plain"), about="shift").answers
    assert "plain" in pair.remark.values["because"]
    assert "asked" not in pair.remark.values["because"]


def test_a_constant_output_is_undecided():
    sym = liegg.discover(lambda x: 0 * x[:, 0] + 1, points(), liegg.Linear(3), about="rotation")
    assert sym.answers[0].holds is None
    assert sym.answers[0].verdict.diagnosis is Diagnosis.MOTION_UNDECIDED


def test_questions_that_make_no_sense_are_refused_before_the_pass():
    for about in [
        "rotaton",
        ["rotation", 3],
        7,
        {"turn": torch.zeros(1, 3, 3)},
        {"turn": torch.eye(2)[None]},
        {"turn": torch.zeros(0, 3, 3)},
        {"turn": "spin"},
        {"turn": 3.0},
        {"turn": 1e200 * liegg.so(3)},
        {"turn": 1e-200 * liegg.so(3)},
        {"": liegg.so(3)},
        {3: liegg.so(3)},
        {"a\x1b[31m": liegg.so(3)},
        {"turn": torch.full((1, 3, 3), math.nan)},
    ]:

        def never(x):
            raise AssertionError("the model was called")

        with pytest.raises(ArgumentError):
            liegg.discover(never, points(), liegg.Linear(3), about=about)


def test_an_action_without_names_says_what_to_type():
    class Wave(liegg.Action):
        size = 1

        def fields(self, x):
            return torch.cos(x)[:, None]

    with pytest.raises(ArgumentError, match="generators"):
        motions_asked("rotation", Wave(), (3,))
    assert motions_asked(None, Wave(), (3,)) == {}
    found = motions_asked({"wave": torch.ones(1, 1)}, Wave(), (3,))
    assert found["wave"].generators.shape == (1, 1)


def test_generators_of_a_known_motion_get_its_units():
    asked = motions_asked({"spin": -liegg.so(2)}, liegg.Image(), (1, 8, 8))
    assert asked["spin"].unit == "°"
    right = {"shift right": liegg.translation(2)[:1]}
    asked = motions_asked(right, liegg.Image("affine"), (1, 8, 8))
    assert (asked["shift right"].unit, len(asked["shift right"].generators)) == ("pixels", 1)
    own = motions_asked({"spin": Motion(liegg.so(2), 0.1, "°", 57.3)}, liegg.Image(), (1, 8, 8))
    assert own["spin"].longest == 0.1


def test_generators_outside_the_candidates_are_taken_as_the_named_ones_are():
    """Plain images have no translations, and Euclidean ones no scaling, but both are asked about them by name."""
    for action, name, given, of in [
        (liegg.Image(), "shift", liegg.translation(2), "pixels"),
        (liegg.Image("euclidean"), "scaling", torch.diag(torch.tensor([1.0, 1.0, 0.0]))[None], "%"),
    ]:
        named = motions_asked(name, action, (1, 8, 8))[name]
        own = motions_asked({"mine": given}, action, (1, 8, 8))["mine"]
        assert own.action == named.action
        assert own.unit == of
        assert own.generators.tolist() == named.generators.tolist()
    x = images()
    about = {"rotation": liegg.so(2), "shift right": liegg.translation(2)[:1]}
    sym = liegg.discover(lambda x: x.flatten(1)[:, 100:103] ** 2, x, liegg.Image(), about=about)
    right = sym.answers.named("shift right")
    assert (right.inside, right.finite.unit) == (False, "pixels")
    with pytest.raises(ArgumentError, match="shape"):
        motions_asked({"mine": torch.ones(1, 5, 5)}, liegg.Image(), (1, 8, 8))


def test_sorted_data_is_represented():
    x = torch.cat([points(3000), 100 + points(3000)])
    sym = liegg.discover(length, x, liegg.Linear(3), about="scaling")
    assert float(sym.answers[0].finite.each_change.max()) > 10 * float(
        sym.answers[0].finite.each_change.min()
    )


def test_re_initialised_models_stand_beside():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    ).double()
    sym = liegg.discover(
        net,
        points(d=2),
        liegg.Linear(2),
        about="rotation",
        target="classes",
        controls="reinitialised",
        run=liegg.Run(control_draws=2),
    )
    (answer,) = sym.answers
    assert len(answer.untrained) == 2
    assert all(map(math.isfinite, answer.untrained))
    assert 0 <= answer.untrained_changed <= 1
    assert answer.trained.values["draws"] == 2


def test_answers_are_found_by_name():
    with pytest.raises(ArgumentError, match="about"):
        Answers().named("rotation")


def test_random_motions_may_leave_the_domain_of_the_model():
    x = points().abs() + 0.1
    law = lambda x: (x[:, :1] * x[:, 1:2] / x[:, 2:] ** 2).log()  # noqa: E731
    trade = torch.diag(torch.tensor([1.0, -1.0, 0.0])).double()[None]
    (answer,) = liegg.discover(law, x, liegg.Linear(3), about={"trade": trade}).answers
    assert answer.finite.random_amount == math.inf
    assert answer.remarks[0].diagnosis is Diagnosis.MOTION_CHANGES_NOTHING
    assert answer.holds


def test_a_single_matrix_is_one_generator():
    found = motions_asked({"turn": liegg.so(3)[0]}, liegg.Linear(3), (3,))
    assert found["turn"].generators.shape == (1, 9)


def test_maps_have_no_predictions():
    sym = liegg.discover(lambda x: x.square(), images(), liegg.Image(), about="rotation")
    assert sym.answers[0].finite.share is None


def test_kept_predictions_and_a_changed_output_are_both_said():
    """The first of two classes always wins, whatever the values are."""

    def model(x):
        return torch.stack([5 + x[:, 0], -5 - x[:, 0]], dim=1)

    sym = liegg.discover(model, points(d=2), liegg.Linear(2), about="rotation", target="classes")
    (answer,) = sym.answers
    assert answer.finite.share.value == 0
    assert not answer.holds
    said = answer.remarks[0]
    assert said.diagnosis is Diagnosis.MOTION_CHANGES_BUT_OUTPUT
    assert said.values["share"] == "0 %"


def test_a_default_call_on_few_images_does_nothing_twice():
    """A GPU takes as long for 8 images as for one: its fixed cost is the number of calls of the model."""
    calls: list[int] = []

    def f(x):
        calls.append(len(x))
        return torch.stack([x[:, :8].square().sum((1, 2)), x[:, 8:].square().sum((1, 2))], dim=1)

    x = images(8)
    sym = liegg.discover(f, x, liegg.Image())
    assert sym.answers[0].finite.predictions.shape[0] == 8
    assert len(calls) <= 23


def test_predictions_are_those_of_the_first_samples_whether_or_not_they_are_among_the_moved():
    def f(x):
        return torch.stack([x[:, 0], x[:, 1], -x[:, 0]], dim=1)

    few, many = points(40, 2), points(600, 2)
    sym = [liegg.discover(f, x, liegg.Linear(2), about="rotation") for x in (few, many)]
    for x, one in zip((few, many), sym, strict=True):
        finite = one.answers[0].finite
        angles = torch.deg2rad(finite.sizes.double())
        turn = torch.stack(
            [
                torch.stack([angles.cos(), -angles.sin()], -1),
                torch.stack([angles.sin(), angles.cos()], -1),
            ],
            dim=1,
        )
        before, moved = (
            f(x[:8]).argmax(1)[:, None],
            [f((side @ x[:8].mT).mT.flatten(0, 1)).argmax(1) for side in (turn, turn.mT)],
        )
        expected = [torch.cat([before, classes.reshape(-1, 8).mT], dim=1) for classes in moved]
        predictions = finite.predictions
        assert predictions is not None
        assert any(torch.equal(predictions, one) for one in expected)
