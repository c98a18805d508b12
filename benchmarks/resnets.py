"""The CIFAR-10 ResNets with trained weights; every operation but the sums is a module, so that each layer can be measured."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import pad

from liegg.studies.datasets import cifar10

MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Normalise(nn.Module):
    """Images in [0, 1] as the network expects them."""

    mean: Tensor
    spread: Tensor

    def __init__(self) -> None:
        super().__init__()
        mean, spread = torch.tensor([MEAN, SPREAD])
        self.register_buffer("mean", mean[:, None, None], persistent=False)
        self.register_buffer("spread", spread[:, None, None], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The images, normalised."""
        return (x - self.mean) / self.spread


class Shortcut(nn.Module):
    """Every second place, with channels of zeros before and after."""

    def __init__(self, more: int) -> None:
        super().__init__()
        self.more = more

    def forward(self, x: Tensor) -> Tensor:
        """The features that a block adds to its own."""
        return pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more))


class Block(nn.Module):
    """Two convolutions beside an identity, which is subsampled and padded where the width grows."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        grows = outputs > inputs
        self.conv1 = nn.Conv2d(inputs, outputs, 3, 2 if grows else 1, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()
        self.shortcut = Shortcut((outputs - inputs) // 2) if grows else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """The features after the block."""
        y = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
        return self.relu2(y + self.shortcut(x))


class ResNet(nn.Module):
    """The CIFAR-10 classifier of 20, 32, 44 or 56 layers, on images in [0, 1]."""

    def __init__(self, depth: int = 20) -> None:
        super().__init__()
        blocks = (depth - 2) // 6
        self.normalise = Normalise()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.layer1 = _stage(16, 16, blocks)
        self.layer2 = _stage(16, 32, blocks)
        self.layer3 = _stage(32, 64, blocks)
        self.pool, self.linear = nn.AdaptiveAvgPool2d(1), nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        x = self.relu(self.bn1(self.conv1(self.normalise(x))))
        return self.linear(self.pool(self.layer3(self.layer2(self.layer1(x)))).flatten(1))


def _stage(inputs: int, outputs: int, blocks: int) -> nn.Sequential:
    rest = [Block(outputs, outputs) for _ in range(blocks - 1)]
    return nn.Sequential(Block(inputs, outputs), *rest)


def trained_resnet(depth: int, folder: Path) -> ResNet:
    """The network with its stored weights."""
    network = ResNet(depth)
    network.load_state_dict(load_file(folder / f"cifar10-resnet{depth}.safetensors"))
    return network.eval()


def with_relu6(network: ResNet) -> ResNet:
    """The network with its weights as they are and every ReLU replaced by ReLU6, in place."""
    for name, module in list(network.named_modules()):
        if isinstance(module, nn.ReLU):
            network.set_submodule(name, nn.ReLU6())
    return network


def photographs(count: int) -> tuple[Tensor, Tensor]:
    """The first test images in [0, 1], and their classes."""
    test = cifar10("test")
    return test.images[:count].float() / 255, test.labels[:count]
