"""The label given the data: networks that predict it from a sample, whose symmetries are found."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import symmetric_eigen
from liegg.actions import Action, MatrixAction
from liegg.discovery.data.classes import Classes
from liegg.discovery.data.discriminator import (
    HIDDEN_WIDTH,
    LEARNING_RATE,
    MOST_DISCRIMINATED,
    TRAINING_BATCH,
    TRAINING_STEPS,
    keeping,
)
from liegg.polarization.test_functions import SHORTEST_AXIS

MOST_QUADRATIC = 20
"""Numbers of a sample up to which the networks see their products too: a mass is a small difference of squares."""

REPEATED = 1e-10
"""Variance of a combination of inputs, as a share of the largest, below which it repeats the others."""

WEIGHT_DECAY = 1e-3
"""Of AdamW, so that hard labels do not make the networks ever steeper."""

SOME_SAMPLES = 2000
"""Samples on which it is seen where candidates lead."""

CHANCE_ERRORS = 4.0
"""Standard errors by which held-out accuracy must exceed the share of the largest class."""


class LabelNetworks(nn.Module):
    """Mean probability of each class, by two networks that were trained on halves of the samples.

    Attributes:
        accuracy: share of samples whose label the network that has not seen them predicts.
    """

    def __init__(self, x: Float[Tensor, "b m"], label: Int[Tensor, " b"], *, seed: int) -> None:
        super().__init__()
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
        halves, classes = order.tensor_split(2), int(label.max()) + 1
        self.networks = nn.ModuleList(
            _trained(x[half], label[half], classes, seed=seed + place)
            for place, half in enumerate(halves)
        )
        right = [
            (network(x[half]).argmax(1) == label[half]).double()
            for network, half in zip(self.networks, reversed(halves), strict=True)
        ]
        self.accuracy = float(torch.cat(right).mean())

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Probabilities of all classes but the last."""
        return self._mean([network(x.flatten(1)).softmax(1) for network in self.networks], 1)

    def difference(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Half the difference of the two networks, which is the error of their mean if they err independently."""
        return self._mean([network(x.flatten(1)).softmax(1) for network in self.networks], -1)

    @staticmethod
    def _mean(parts: list[Tensor], sign: int) -> Tensor:
        return (parts[0] + sign * parts[1])[:, :-1] / 2


def train_label(x: Float[Tensor, "b ..."], classes: Classes, *, seed: int) -> LabelNetworks:
    """Networks that predict the label.

    Args:
        x: the samples.
        classes: class of every sample.
        seed: of the halves, the networks and their training.

    Raises:
        ArgumentError: no labels, one class, too large samples, or a label that cannot be told from the samples.
    """
    if classes.numbers is None or classes.count < 2:
        raise ArgumentError(
            "question='label' needs labels= with at least two different ones: one label per sample."
        )
    classes.check_count(len(x))
    if x[0].numel() > MOST_DISCRIMINATED:
        raise ArgumentError(
            f"samples have {x[0].numel()} numbers; the networks of question='label' take at most {MOST_DISCRIMINATED}. Train a "
            "classifier of your own and pass it to liegg.discover()."
        )
    networks = LabelNetworks(x.flatten(1).double(), classes.numbers, seed=seed)
    chance = float(classes.numbers.bincount().max()) / len(x)
    error = math.sqrt(chance * (1 - chance) / len(x))
    if networks.accuracy <= chance + CHANCE_ERRORS * error:
        raise ArgumentError(
            f"the label cannot be told from the samples: it is predicted for {100 * networks.accuracy:.0f} % of held-out samples, the most "
            f"frequent one has {100 * chance:.0f} %. Either it does not depend on the samples, so that every motion leaves it unchanged, "
            "or more samples are needed."
        )
    return networks


class _Network(nn.Module):
    """A perceptron on samples and their products, in coordinates in which these are uncorrelated."""

    mean: Tensor
    size: Tensor
    centre: Tensor
    whiten: Tensor

    def __init__(self, x: Float[Tensor, "b m"], classes: int) -> None:
        super().__init__()
        self.register_buffer("mean", x.mean(0))
        self.register_buffer("size", _column_sizes(x))
        inputs = self._inputs(x)
        self.register_buffer("centre", inputs.mean(0))
        apart = inputs - self.centre
        variances, axes = symmetric_eigen(apart.mT @ apart / len(x))
        kept = variances > REPEATED * variances[-1]
        self.register_buffer("whiten", axes[:, kept] / variances[kept].sqrt())
        self.layers = nn.Sequential(
            nn.Linear(self.whiten.shape[1], HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, classes),
        ).double()

    def _inputs(self, x: Float[Tensor, "b m"]) -> Float[Tensor, "b k"]:
        """Samples about their mean, with their products if there are few numbers."""
        x = (x - self.mean) / self.size
        if x.shape[1] > MOST_QUADRATIC:
            return x
        one, other = torch.triu_indices(x.shape[1], x.shape[1])
        return torch.cat([x, x[:, one] * x[:, other]], 1)

    def forward(self, x: Float[Tensor, "b m"]) -> Float[Tensor, "b c"]:
        """Logit of each class."""
        return self.layers((self._inputs(x) - self.centre) @ self.whiten)


def _column_sizes(x: Float[Tensor, "b m"]) -> Float[Tensor, " m"]:
    """Standard deviation of each number of a sample; 1 where it is constant."""
    sizes = (x - x.mean(0)).square().mean(0).sqrt()
    return torch.where(sizes > SHORTEST_AXIS * x.abs().amax(0), sizes, 1.0)


def within_the_data(action: Action, x: Float[Tensor, "b ..."]) -> Action:
    """The candidates that keep samples in the subspace in which they lie: outside of it nothing has a label.

    A constant or a repeated column spans no dimension of it. Candidates that are not matrices are kept as they are: images move
    their borders.

    Args:
        action: the candidate generators.
        x: the samples.

    Raises:
        ArgumentError: there are none.
    """
    if not isinstance(action, MatrixAction):
        return action
    flat = x.flatten(1).double()
    sizes = _column_sizes(flat)
    apart = (flat - flat.mean(0)) / sizes
    variances, axes = symmetric_eigen(apart.mT @ apart / len(x))
    outside = axes[:, variances <= REPEATED * variances[-1]]
    if not outside.shape[1]:
        return action
    fields = action.fields(x[:SOME_SAMPLES].double()).flatten(2) / sizes
    away = (fields @ outside).transpose(1, 2).flatten(0, 1)
    kept = keeping(action, fields, away, largest=math.sqrt(REPEATED))
    if kept is None:
        raise ArgumentError(
            "every candidate moves samples out of the subspace in which all of them lie, and nothing there has a label. Leave out "
            "columns that are constant or that repeat others."
        )
    return kept


def _trained(
    x: Float[Tensor, "b m"], label: Int[Tensor, " b"], classes: int, *, seed: int
) -> _Network:
    """A network that predicts the labels of these samples."""
    generator = torch.Generator().manual_seed(seed)
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _Network(x, classes)
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, TRAINING_STEPS)
        for _ in range(TRAINING_STEPS):
            chosen = torch.randint(len(x), (TRAINING_BATCH,), generator=generator)
            loss = nn.functional.cross_entropy(network(x[chosen]), label[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval().requires_grad_(False)
