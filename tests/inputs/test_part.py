"""Parts of what a model returns: networks whose parts have known symmetries."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import liegg
from cases import mlp, normal
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, DtypeError, NonFiniteError, ShapeError
from liegg.inputs.model import Model
from liegg.inputs.part import Part, part_of, with_part
from liegg.results.verification import Verification

X, HELD_OUT = normal(150, 2), normal(60, 2, seed=1)
PLANE = liegg.Linear(2)


def classifier(x: Tensor) -> Tensor:
    """The logit of class 0 is invariant under rotations, the others under nothing."""
    r = x.square().sum(1)
    return torch.stack([r.sin(), x[:, 0].sin() + r, x[:, 1].exp() - x[:, 0]], 1)


def shifted(x: Tensor) -> Tensor:
    """x₁ shifts all logits alike; differences and probabilities do not see it."""
    return torch.stack([x[:, 0] ** 2, x[:, 0].sin(), 0.3 * x[:, 0] + 1], 1) + x[:, 1:] ** 3


@dataclass
class Answer:
    logits: Tensor
    hidden: Tensor


class Network(nn.Module):
    """A module in training mode that returns a record."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(2, 8, 3)
        self.drop = nn.Dropout()

    def forward(self, x: Tensor) -> Answer:
        return Answer(self.drop(self.net(x)), x.square().sum(1, keepdim=True))


def found(model, **question) -> liegg.Symmetries:
    return liegg.discover(model, X, question.pop("action", PLANE), controls="none", **question)


def changed(verification: Verification) -> float:
    """Largest share of samples that change their class along the first motion."""
    classes = verification.curves[0].class_changes
    assert classes is not None
    return float(classes.max())


def test_one_logit_is_invariant_and_the_others_are_not():
    assert found(classifier).nullity == 0
    assert [found(classifier, target=target).nullity for target in (0, 1, [0, 1])] == [1, 0, 0]
    sym = found(classifier, target=0)
    assert float(sym.angles(liegg.so(2)).max()) < 1e-12
    assert sym.subject == "the logit of class 0 of classifier"
    assert str(sym).startswith("The logit of class 0 of classifier")


@pytest.mark.parametrize(
    "target", ["probabilities", "log_probabilities", "margin", "2 minus 1", [0, 1]]
)
def test_a_common_shift_is_seen_by_logits_alone(target):
    sym = found(shifted, target=target, action=liegg.Affine(2))
    assert sym.nullity == (0 if target == [0, 1] else 3)  # x₁ may become any affine function


def test_classes_are_those_of_the_complete_output():
    sym = found(classifier, target=0, held_out=HELD_OUT)
    (curve,) = sym.verification.curves
    assert curve.holds
    turned = HELD_OUT @ torch.tensor([[-1.0, 0.0], [0.0, -1.0]], dtype=torch.float64)
    others = classifier(turned).argmax(1) != classifier(HELD_OUT).argmax(1)
    assert float(others.double().mean()) > 0.3
    assert changed(sym.verification) >= float(others.double().mean()) - 0.1
    part = with_part(Model(classifier, "c"), X, Part(target=0))
    assert torch.equal(part.classes(X), classifier(X).argmax(1))
    assert torch.equal(part.complete(X), classifier(X))
    assert torch.equal(part(X), classifier(X)[:, :1])


def test_a_margin_turns_negative_where_the_prediction_changes():
    function = lambda x: torch.stack([x[:, 0], -x[:, 0]], 1)  # noqa: E731
    flip = torch.diag(torch.tensor([-1.0, 0.0])).double()[None]  # x₀ shrinks and never crosses 0
    shrunk = liegg.verify(function, HELD_OUT, PLANE, flip, target="margin", longest=3.0)
    assert changed(shrunk) == 0
    half_turn = liegg.verify(function, HELD_OUT, PLANE, liegg.so(2), target="margin")
    # The margin is 2|x₀|, and after half a turn −2|x₀|: a change of (4x₀)², far above its variance.
    x = HELD_OUT[:, 0]
    expected = (4 * x).square().mean() / (2 * x.abs()).var(correction=0)
    assert float(half_turn.curves[0].change.max()) == pytest.approx(float(expected), rel=0.05)
    assert changed(half_turn) > 0.9


def test_sums_are_those_of_the_target():
    opposite = lambda x: torch.stack([x[:, 0], x.square().sum(1) - x[:, 0], x[:, 1]], 1)  # noqa: E731
    sym = found(opposite, target=[0, 1], outputs="sum", held_out=HELD_OUT)
    assert (sym.nullity, sym.verification.holds) == (1, True)
    assert changed(sym.verification) > 0.1


# Fields


def test_the_obvious_field_is_analysed_with_a_note():
    sym = found(lambda x: {"hidden": x, "logits": classifier(x)}, target=0)
    assert sym.nullity == 1
    assert Diagnosis.OBVIOUS_FIELD in [note.diagnosis for note in sym.notes]
    assert found(lambda x: (x.argmax(1), x.square().sum(1))).nullity == 1
    with pytest.raises(DtypeError, match="for example output='a'"):
        found(lambda x: {"a": x, "b": x})


def test_a_chosen_field_is_analysed_without_one():
    for output in ("hidden", lambda answer: answer.hidden):
        sym = found(Network(), output=output)
        assert (sym.nullity, sym.notes) == (1, ())
    assert sym.settings["output"] == "<lambda>()"
    assert sym.subject == "a function of the output of Network"
    assert found(Network(), output="hidden").subject == "'hidden' of Network"


@pytest.mark.slow
def test_a_module_stays_a_module():
    network = Network()
    sym = liegg.discover(
        network,
        X.float(),  # converted to the dtype of the weights
        PLANE,
        target="margin",
        controls="reinitialised",
        run=liegg.Run(control_draws=2),
    )
    assert network.training
    assert (sym.model, sym.settings["dtype"]) == ("Network", "float64")
    assert sym.controls.reinitialised is not None
    assert sym.controls.reinitialised.notes == ()
    layers = liegg.discover_layers(network, X, PLANE, output="hidden")
    assert (layers.names[-1], layers["output"].invariance.nullity) == ("output", 1)
    with pytest.raises(ArgumentError, match="no argument 'target'"):
        liegg.discover_layers(network, X, PLANE, target=0)  # pyright: ignore[reportCallIssue]


@pytest.mark.slow
def test_models_of_other_kinds():
    class Dictionary(nn.Module):
        def forward(self, x):
            return {"logits": classifier(x), "input": 2 * x}

    batch = torch.export.Dim("batch")
    program = torch.export.export(Dictionary(), (X,), dynamic_shapes=({0: batch},))
    compiled = torch.compile(Dictionary(), backend="eager")
    in_place = lambda x: {"logits": classifier(x.mul_(0.5))}  # noqa: E731
    for model in (program, compiled, in_place):
        sym = found(model, target=0, held_out=HELD_OUT)
        assert (sym.nullity, sym.verification.holds) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_low_precision(dtype):
    counts = [
        liegg.discover(
            shifted, X.to(dtype), liegg.Affine(2), target=target, controls="none"
        ).nullity
        for target in (0, "probabilities", "margin")
    ]
    assert counts == [0, 3, 3]


# Errors


def test_logits_of_masked_classes_may_be_infinite():
    masked = lambda x: nn.functional.pad(classifier(x), (0, 1), value=-torch.inf)  # noqa: E731
    assert found(masked, target=0).nullity == 1
    assert found(masked, target="margin").nullity == 0
    with pytest.raises(NonFiniteError):
        found(masked, target="log_probabilities")


@pytest.mark.parametrize("verb", [liegg.discover, liegg.verify])
@pytest.mark.parametrize(
    ("question", "error", "text"),
    [
        ({"target": 3}, ArgumentError, "no class 3"),
        ({"target": 1.5}, ArgumentError, "target=1.5: expected"),
        ({"target": "3"}, ArgumentError, "target='3': expected"),
        ({"target": 0, "output_action": PLANE}, ArgumentError, "with an output action"),
        ({"output": "logits"}, ArgumentError, "a single tensor, which has no field"),
        ({"output": 1.5}, ArgumentError, "output=1.5: expected"),
        ({"output": lambda y: y.sum(), "target": 0}, ShapeError, "for a batch of 3 samples"),
        ({"output": lambda y: y.argmax(1)}, DtypeError, "torch.int64"),
    ],
)
def test_questions_that_make_no_sense(verb, question, error, text):
    generators = () if verb is liegg.discover else (liegg.so(2),)
    with pytest.raises(error, match=text):
        verb(classifier, X, PLANE, *generators, **question)


# Stored results


def test_a_result_knows_its_part(tmp_path: Path):
    model = lambda x: {"a": classifier(x), "b": x}  # noqa: E731
    sym = found(model, target=0, output="a")
    loaded = liegg.load(sym.save(tmp_path / "run"))
    assert (loaded.settings["target"], loaded.settings["output"]) == (0, "a")
    assert loaded.subject == "the logit of class 0 of 'a' of <lambda>"
    checked = liegg.verify(model, HELD_OUT, loaded)
    assert checked.holds
    assert checked.subject == loaded.subject
    assert liegg.verify(model, HELD_OUT, loaded, target=0).holds
    with pytest.raises(ArgumentError, match=r"target=1 was given with a result .* has target=0"):
        liegg.verify(model, HELD_OUT, loaded, target=1)


def test_a_function_has_to_be_given_again():
    def first(answer):
        return answer["a"]

    model = lambda x: {"a": classifier(x), "b": x}  # noqa: E731
    sym = found(model, target=0, output=first, held_out=HELD_OUT)
    assert sym.verification.holds
    with pytest.raises(ArgumentError, match=r"'first\(\)'.* Pass the same function again"):
        liegg.verify(model, HELD_OUT, sym)
    assert liegg.verify(model, HELD_OUT, sym, output=first).holds
    with pytest.raises(ArgumentError, match=r"output='<lambda>\(\)' was given"):
        liegg.verify(model, HELD_OUT, sym, output=lambda answer: answer["a"])


def test_results_of_earlier_versions_are_about_everything():
    assert part_of({}, Part()) == Part()
    assert part_of({"target": [1, 2]}, Part()) == Part(target=(1, 2))


def test_a_comparison_says_that_the_parts_differ():
    one, other = found(classifier, target=0), found(classifier, target=1)
    differs = [note for note in liegg.compare(one, other).notes if isinstance(note, Remark)]
    differs = [note for note in differs if note.diagnosis is Diagnosis.SETTING_DIFFERS]
    assert [note.values for note in differs] == [
        {"name": "target", "a": 0, "b": 1, "first": "a", "second": "b"}
    ]
