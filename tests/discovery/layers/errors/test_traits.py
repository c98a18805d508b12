"""What the class of a module tells about it."""

from torch import nn

from liegg.discovery.layers.errors.traits import Traits, traits, without_stride

CASES = {
    "plain": (nn.Conv2d(1, 1, 3), ("convolution", "filters", False, (1, 1), (1, 1))),
    "padded": (nn.Conv2d(1, 1, 3, padding=1), ("convolution", "filters", True, (1, 1), (1, 1))),
    "same": (nn.Conv2d(1, 1, 5, padding="same"), ("convolution", "filters", True, (1, 1), (2, 2))),
    "valid": (
        nn.Conv2d(1, 1, (1, 3), padding="valid", dilation=2),
        ("convolution", "filters", False, (1, 1), (0, 2)),
    ),
    "strided": (
        nn.Conv2d(1, 1, 4, stride=(1, 2)),
        ("convolution", "stride or pooling", False, (1, 2), (1.5, 1.5)),
    ),
    "transposed": (
        nn.ConvTranspose2d(1, 1, 2, stride=2),
        ("convolution", "stride or pooling", True, (0.5, 0.5), (0.5, 0.5)),
    ),
    "pooling": (nn.MaxPool2d(3, 2, 1), ("pooling", "stride or pooling", True, (2, 2), (1, 1))),
    "ceil": (
        nn.AvgPool2d(2, ceil_mode=True),
        ("pooling", "stride or pooling", True, (2, 2), (0.5, 0.5)),
    ),
    "adaptive": (nn.AdaptiveAvgPool2d(2), ("pooling", "stride or pooling", False, (), ())),
    "other axes": (nn.Conv1d(1, 1, 3), ("convolution", "other", False, (), ())),
    "zeros": (nn.ZeroPad2d(1), ("padding", "padding", False, (1, 1), ())),
    "norm": (nn.GroupNorm(1, 2), ("normalisation", "other", False, (), ())),
    "relu6": (nn.ReLU6(), ("nonlinearity", "nonlinearity", False, (), ())),
    "linear": (nn.Linear(2, 2), ("linear", "other", False, (), ())),
    "attention": (nn.MultiheadAttention(2, 1), ("other", "other", False, (), ())),
    "identity": (nn.Identity(), ("other", "other", False, (), ())),
}


def test_traits():
    for name in CASES:
        module, expected = CASES[name]
        assert traits(module, 2) == Traits(*expected)


def test_a_module_that_calls_others_is_a_block():
    assert traits(nn.Sequential(nn.ReLU()), 2, leaf=False).role == "block"


def test_a_convolution_without_its_stride_leaves_the_original():
    module = nn.Conv2d(1, 2, 3, stride=2)
    dense = without_stride(module)
    assert isinstance(dense, nn.Conv2d)
    assert (dense.stride, module.stride) == ((1, 1), (2, 2))
    assert dense.weight is module.weight
    assert without_stride(nn.Conv2d(1, 2, 3)) is None
    assert without_stride(nn.MaxPool2d(2)) is None
