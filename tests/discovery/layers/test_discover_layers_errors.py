"""What is refused, and what is left behind."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from layer_networks import Residual, assert_same, images, perceptron, with_statistics
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import (
    ArgumentError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)

# What is refused


def test_only_modules_have_layers():
    with pytest.raises(ArgumentError, match="discover_layers needs an nn"):
        liegg.discover_layers(lambda x: x, normal(10, 3), liegg.Linear(3))


def test_actions_and_settings_are_checked_as_in_discover():
    model, x = perceptron().double(), normal(20, 6)
    with pytest.raises(ArgumentError, match="seed=-1"):
        liegg.discover_layers(model, x, liegg.Linear(6), run=liegg.Run(seed=-1))
    with pytest.raises(ArgumentError, match=r"threshold=0\.0"):
        liegg.discover_layers(model, x, liegg.Linear(6), thresholds=liegg.Thresholds(threshold=0.0))
    with pytest.raises(ArgumentError, match="outputs=0"):
        liegg.discover_layers(model, x, liegg.Linear(6), outputs=0)
    with pytest.raises(ArgumentError, match="outputs='sum' has no meaning with output_action"):
        liegg.discover_layers(
            model, x, liegg.Linear(6), outputs="sum", output_action=liegg.Linear(12)
        )
    with pytest.raises(ShapeError, match=r"a sample has shape \(6,\)"):
        liegg.discover_layers(model, x, liegg.Linear(5))
    with pytest.raises(
        ShapeError,
        match=r"output_action=Linear\(n=5.* fits no chosen layer, for example not the output of '5'",
    ):
        liegg.discover_layers(model, x, liegg.Linear(6), output_action=liegg.Linear(5))


def test_layers_that_do_not_exist_or_are_not_called_are_refused():
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}).double()

    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = model

        def forward(self, x):
            return self.parts["a"](x)

    x = normal(20, 3)
    with pytest.raises(ArgumentError, match=r"Half has no layer 'conv\*'; it has parts.a, output"):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=["parts.a", "conv*"])
    with pytest.raises(
        ArgumentError,
        match=r"layer 'parts.b' is never called by Half on this data; those called are parts.a",
    ):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=["parts.b"])
    with pytest.raises(
        ArgumentError, match="Half calls no Conv2d on this data; it calls Linear, Half"
    ):
        liegg.discover_layers(Half(), x, liegg.Linear(3), layers=nn.Conv2d)


def test_no_layer_left():
    class Classes(nn.Module):
        def forward(self, x):
            return x.argmax(1)

    with pytest.raises(
        ModelError,
        match=r"no layer of Classes is left.*is a tensor of torch.int64, which holds no floating point",
    ):
        liegg.discover_layers(Classes(), normal(20, 3), liegg.Linear(3))


def test_layers_without_a_derivative_are_left_out_or_refused():
    class Step(nn.Module):
        def forward(self, x):
            return x.detach().sign()

    model, x = nn.Sequential(nn.Linear(3, 3), Step()).double(), normal(60, 3)
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found.names == ("0",)
    assert found.notes[0].diagnosis is Diagnosis.LAYER_LEFT_OUT
    assert found.notes[0].values["reason"].startswith("1 (NotDifferentiableError: ")
    with pytest.raises(NotDifferentiableError, match="carries no derivative"):
        liegg.discover_layers(model, x, liegg.Linear(3), layers=["1"])


@pytest.mark.parametrize(("dtype", "outputs"), [(torch.float32, "each"), (torch.float64, "sum")])
def test_numbers_that_are_not_finite_name_layer_and_sample(dtype, outputs):
    class Log(nn.Module):
        def forward(self, x):
            return x.log()

    x = normal(50, 3).abs().to(dtype) + 0.1
    x[37, 1] = -1.0
    model = nn.Sequential(nn.Identity(), Log(), nn.Tanh())
    with pytest.raises(
        NonFiniteError,
        match=r"layer '1' of Sequential, or its derivative, is NaN.* for sample 37\. Check",
    ):
        liegg.discover_layers(
            model, x, liegg.Linear(3), outputs=outputs, run=liegg.Run(batch_size=20)
        )


def test_random_layers_are_refused_and_named():
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)

    model, x = nn.Sequential(nn.Linear(3, 3), Noise(), nn.Tanh()).double(), normal(20, 3)
    with pytest.raises(RandomModelError, match="of the size of layer '1'"):
        liegg.discover_layers(model, x, liegg.Linear(3))
    assert liegg.discover_layers(model, x, liegg.Linear(3), layers="0").names == ("0",)


def test_layers_that_mix_samples_are_left_out():
    class Centre(nn.Module):
        def forward(self, x):
            return x - x.mean(0)

    model, x = nn.Sequential(nn.Linear(3, 3), Centre()).double(), normal(20, 3)
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert found.names == ("0",)
    assert "layer '1' for a sample changes by" in found.notes[0]


def test_a_network_that_changes_its_way_is_refused():
    class Fickle(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return self.two(self.one(x)) if bool((x[:, 0] > -100).all()) else self.one(x)

    x = normal(30, 3)
    x[25, 0] = -1000.0
    with pytest.raises(
        ModelError,
        match=r"layer 'two' of Fickle was reached before, but not at samples 20 to 29 \(it was not called",
    ):
        liegg.discover_layers(
            Fickle().double(), x, liegg.Linear(3), layers=["two"], run=liegg.Run(batch_size=10)
        )


def test_a_failing_network_is_named():
    with pytest.raises(
        ModelError,
        match=r"Sequential failed on a batch of shape \(3, 4\).*It must accept a batch of any length",
    ):
        liegg.discover_layers(
            nn.Sequential(nn.Linear(3, 2)).double(), normal(20, 4), liegg.Linear(4)
        )


# What is left behind


def hooks(model):
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


def state(model):
    return [
        (part.training, *(t.clone() for t in (*part.parameters(), *part.buffers())))
        for part in model.modules()
    ]


def assert_unchanged(model, before):
    for one, other in zip(state(model), before, strict=True):
        assert one[0] == other[0]
        assert all(torch.equal(a, b) for a, b in zip(one[1:], other[1:], strict=True))


def test_the_model_and_the_generators_are_left_as_they_were():
    model, x = with_statistics(Residual()), images(20)
    before, random, given = state(model), torch.get_rng_state(), x.clone()
    kept = model.conv1.register_forward_hook(lambda *_: None)
    liegg.discover_layers(model, x, liegg.Image(), output_action=liegg.Image(), outputs=3)
    assert hooks(model) == 1
    assert list(model.conv1._forward_hooks) == [kept.id]
    assert_unchanged(model, before)
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(x, given)
    assert torch.backends.mha.get_fastpath_enabled()
    assert all(p.requires_grad and p.grad is None for p in model.parameters())


class Stubborn(nn.Module):
    """Cannot be copied, so it is analysed in place."""

    def __init__(self, fails=10**9):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2)
        self.fails = fails
        self.calls = 0

    def __deepcopy__(self, memo):
        raise TypeError("not to be copied")

    def forward(self, x):
        self.calls += 1
        if self.calls > self.fails:
            raise RuntimeError("out of calls")
        return self.two(self.one(x))


@pytest.mark.parametrize("fails", [0, 9])
def test_no_hook_stays_after_a_failure(fails):
    model = Stubborn(fails).double()
    before = state(model)
    with pytest.raises(ModelError):
        liegg.discover_layers(
            model, normal(20, 3), liegg.Linear(3), layers=["two"], run=liegg.Run(batch_size=2)
        )
    assert model.calls > fails
    assert hooks(model) == 0
    assert_unchanged(model, before)


def test_a_module_that_cannot_be_copied_is_read_in_place():
    model = Stubborn().double()
    found = liegg.discover_layers(model, normal(20, 3), liegg.Linear(3))
    assert found.names == ("one", "two")
    assert found.notes[0].diagnosis is Diagnosis.MODEL_NOT_COPIED
    assert hooks(model) == 0


def test_networks_that_write_into_their_input_do_not_change_the_data():
    class Writes(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            x.mul_(2.0)
            return self.linear(x)

    torch.manual_seed(0)
    model, x = Writes().double(), normal(60, 3)
    given = x.clone()
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    assert torch.equal(x, given)
    assert_same(
        found["linear"].invariance,
        liegg.discover(lambda x: model.linear(2 * x), x, liegg.Linear(3)),
        1e-10,
    )


@pytest.mark.parametrize(("size", "outputs"), [(7, "each"), (64, 2)])
def test_the_batch_size_does_not_matter(size, outputs):
    model, x = perceptron().double(), normal(60, 6)
    one, other = (
        liegg.discover_layers(
            model, x, liegg.Linear(6), outputs=outputs, run=liegg.Run(batch_size=b)
        )
        for b in (50, size)
    )
    for left, right in zip(one, other, strict=True):
        assert_same(left.invariance, right.invariance, 1e-9)
        assert_same(left.unit, right.unit, 1e-9)


def test_a_second_call_gives_the_same_result_and_progress_is_reported():
    model, x, seen = perceptron(), normal(60, 6).float(), []
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x), batch_size=25, shuffle=True
    )
    one, two = (
        liegg.discover_layers(
            model, loader, liegg.Linear(6), outputs=2, run=liegg.Run(progress=seen.append)
        )
        for _ in range(2)
    )
    assert one.names == two.names
    for left, right in zip(one, two, strict=True):
        assert_same(left.invariance, right.invariance, 1e-9)
        assert_same(left.unit, right.unit, 1e-9)
    assert seen == [25, 25, 10] * 2
    assert one.samples == 60


class Force(nn.Module):
    """Takes the gradient of its energy."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).double()

    def forward(self, x):
        x = x.requires_grad_()
        return torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]


def test_a_model_that_takes_a_gradient_says_what_to_pass():
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model = Force()
    with pytest.raises(
        ModelError, match=r"takes a gradient of its own.*discover_layers\(model\.energy"
    ):
        liegg.discover_layers(model, x, liegg.Linear(3))
    assert liegg.discover_layers(model.energy, x, liegg.Linear(3)).samples == 40
