"""Samples that lie channels last come to the model so, in every kind of derivative and after finite motions."""

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn

import liegg
from cases import normal


class Recording(nn.Module):
    """A convolution that notes how its input lies, and the tangent of it where there is one."""

    def __init__(self, *, dimension: int = 2):
        super().__init__()
        torch.manual_seed(0)
        kind = nn.Conv2d if dimension == 2 else nn.Conv3d
        self.layout = torch.channels_last if dimension == 2 else torch.channels_last_3d
        self.first, self.last = kind(3, 4, 3, padding=1).double(), nn.Linear(4, 9).double()
        self.seen: list[bool] = []
        self.tangents: list[bool] = []
        self.first.weight.data = self.first.weight.data.contiguous(memory_format=self.layout)

    def __deepcopy__(self, memo):  # the copy that is analysed notes here
        return self

    def forward(self, x):
        self.seen.append(x.is_contiguous(memory_format=self.layout))
        try:
            tangent = forward_ad.unpack_dual(x).tangent
        except RuntimeError:  # no forward derivative is being taken
            tangent = None
        if tangent is not None:
            self.tangents.append(tangent.is_contiguous(memory_format=self.layout))
        return self.last(torch.tanh(self.first(x)).flatten(2).mean(2))


def pictures(*sides):
    layout = torch.channels_last if len(sides) == 2 else torch.channels_last_3d
    return normal(24, 3, *sides).contiguous(memory_format=layout)


@pytest.mark.parametrize("action", [liegg.Image("affine"), liegg.Color()], ids=["image", "color"])
@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd"])
def test_pictures_of_every_route_lie_as_they_came(action, route):
    net = Recording()
    found = liegg.discover(net, pictures(8, 8), action, run=liegg.Run(route=route, batch_size=10))
    assert net.seen
    assert all(net.seen)
    assert all(net.tangents)
    assert bool(net.tangents) == (route == "jvp")
    plain = liegg.discover(
        Recording(), pictures(8, 8).contiguous(), action, run=liegg.Run(route=route, batch_size=10)
    )
    torch.testing.assert_close(found.defects, plain.defects, rtol=1e-9, atol=1e-12)


def test_the_record_tells_other_layouts_apart():
    net = Recording()
    liegg.discover(
        net,
        pictures(8, 8).contiguous(),
        liegg.Image("affine"),
        run=liegg.Run(route="jvp", batch_size=10),
    )
    assert not any(net.seen)
    assert not any(net.tangents)


def test_volumes_lie_as_they_came():
    net = Recording(dimension=3)
    liegg.discover(net, pictures(5, 6, 7), liegg.Volume("affine"), run=liegg.Run(batch_size=10))
    assert all(net.seen)


def test_other_precisions_lie_as_they_came():
    net = Recording()
    liegg.discover(net, pictures(8, 8).float(), liegg.Image("affine"), run=liegg.Run(batch_size=10))
    assert all(net.seen)


def test_layers_see_pictures_as_they_came():
    net = Recording()
    liegg.discover_layers(net, pictures(8, 8), liegg.Image("affine"))
    assert all(net.seen)
    assert net.tangents
    assert all(net.tangents)


def test_moved_pictures_lie_as_they_came():
    net, x = Recording(), pictures(8, 8)
    sym = liegg.discover(net, x, liegg.Image("affine"), controls="none")
    for layout in (torch.channels_last, torch.contiguous_format):
        net.seen.clear()
        given = x.contiguous(memory_format=layout)
        liegg.verify(
            net, given, sym, generators=torch.eye(6, dtype=torch.float64)[:2], controls=2, points=4
        )
        assert set(net.seen) == {layout is torch.channels_last}
