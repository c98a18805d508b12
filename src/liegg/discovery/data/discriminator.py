"""The paper's way to a data set: a discriminator against a reference, then the symmetries of the discriminator."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import symmetric_eigen
from liegg.actions import Action

HIDDEN_WIDTH, TRAINING_STEPS, TRAINING_BATCH, LEARNING_RATE = 64, 1000, 512, 3e-3
"""Size of the network, and how it is trained: seconds on one core."""

MOST_DISCRIMINATED = 256
"""Numbers of a sample, at most."""

REFERENCE_SAMPLES, MOST_FIELDS = 2000, 2**27
"""Samples of the reference on which candidates are compared, at least, and numbers in their motions, at most: 1 GB."""

MOVES = 1e-10
"""Squared motion, as a share of the largest, below which there is none."""

OUTWARD, MEAN_ERRORS = 0.03, 5.0
"""Largest share of a motion away from the mean, and the same in standard errors of the mean, if it keeps the reference."""

CHANCE_ACCURACY = 0.52
"""Held-out accuracy below which the discriminator has learned nothing; chance is 0.5."""


class Discriminators(nn.Module):
    """Mean logit of two networks that were trained on halves of the samples.

    Attributes:
        accuracy: share of held-out samples, and of as many of the reference, for which they are right.
    """

    def __init__(self, x: Float[Tensor, "b m"], *, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        mean, size = x.mean(0), float((x - x.mean(0)).square().mean().sqrt())

        def reference(count: int) -> Tensor:
            noise = torch.randn(count, x.shape[1], generator=generator, dtype=torch.float64)
            return mean + size * noise

        halves = torch.randperm(len(x), generator=generator).tensor_split(2)
        self.networks = nn.ModuleList()
        for place, half in enumerate(halves):
            with torch.enable_grad(), torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed + place)
                network = _Discriminator(mean, size)
                _train(network, x[half], reference, generator=generator)
            self.networks.append(network)
        right = []
        for network, half in zip(self.networks, reversed(halves), strict=True):
            right.append((network(x[half]) > 0).double().mean())
            right.append((network(reference(len(half))) <= 0).double().mean())
        self.accuracy = float(torch.stack(right).mean())

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
        """Logit of each sample."""
        return (self.networks[0](x) + self.networks[1](x)) / 2

    def difference(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
        """Half the difference of the two networks, which is the error of their mean if they err independently."""
        return (self.networks[0](x) - self.networks[1](x)) / 2


def _train(
    network: nn.Module,
    x: Float[Tensor, "b m"],
    reference: Callable[[int], Tensor],
    *,
    generator: torch.Generator,
) -> None:
    """Teach a network to tell these samples from the reference."""
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, TRAINING_STEPS)
    targets = torch.cat([torch.ones(TRAINING_BATCH), torch.zeros(TRAINING_BATCH)]).double()
    for _ in range(TRAINING_STEPS):
        chosen = torch.randint(len(x), (TRAINING_BATCH,), generator=generator)
        logits = network(torch.cat([x[chosen], reference(TRAINING_BATCH)]))
        loss = nn.functional.binary_cross_entropy_with_logits(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval().requires_grad_(False)


def train_discriminator(x: Float[Tensor, "b ..."], *, seed: int) -> Discriminators:
    """Networks that tell samples from an isotropic Gaussian of their mean and size.

    Their logit is the logarithm of the ratio of the two densities. A motion that keeps the Gaussian is a symmetry of the logit if and
    only if it is one of the data; a motion that changes the Gaussian is not seen.

    Args:
        x: the samples.
        seed: of the halves, the networks, their training and the reference.

    Raises:
        ArgumentError: the samples have too many numbers, or cannot be told from the reference.
    """
    if x[0].numel() > MOST_DISCRIMINATED:
        raise ArgumentError(
            f"samples have {x[0].numel()} numbers; the discriminator takes at most {MOST_DISCRIMINATED}. Use question='density'."
        )
    networks = Discriminators(x.flatten(1).double(), seed=seed)
    if networks.accuracy < CHANCE_ACCURACY:
        raise ArgumentError(
            f"the discriminator tells {100 * networks.accuracy:.0f} % of held-out samples from a Gaussian, hardly more than chance: its "
            "symmetries would be those of an untrained network. Use question='density'."
        )
    return networks


def keeping_the_reference(action: Action, x: Float[Tensor, "b ..."], *, seed: int) -> Action:
    """The candidates that leave the Gaussian reference unchanged: for vectors, the rotations about the mean.

    A field leaves it unchanged if its part along the distance from the mean is the same everywhere.

    Args:
        action: the candidate generators.
        x: the samples.
        seed: of the samples of the reference.

    Raises:
        ArgumentError: there are none.
    """
    generator = torch.Generator().manual_seed(seed)
    count = max(2 * action.size, REFERENCE_SAMPLES)
    if count * action.size * x[0].numel() > MOST_FIELDS:
        raise ArgumentError(
            f"the action has {action.size} candidates, too many to find those that the discriminator sees. Pass a smaller family, for "
            "example action.restrict(...)."
        )
    mean, size = x.double().mean(0), float((x - x.mean(0)).square().mean().sqrt())
    noise = torch.randn(count, *x.shape[1:], generator=generator, dtype=torch.float64)
    fields = action.fields(mean + size * noise).flatten(2)
    outward = torch.einsum("bgm,bm->bg", fields, noise.flatten(1))
    outward = outward - outward.mean(0)
    # The mean of the data is known to its sampling error only.
    largest = max(OUTWARD, MEAN_ERRORS / math.sqrt(len(x)))
    kept = keeping(action, fields, outward, largest=largest)
    if kept is None:
        raise ArgumentError(
            "every candidate changes the Gaussian that the discriminator compares the data with: only rotations about the mean "
            "would leave it unchanged. Use question='density'."
        )
    return kept


def keeping(
    action: Action, fields: Float[Tensor, "b g m"], away: Float[Tensor, "n g"], *, largest: float
) -> Action | None:
    """The candidates of whose motion hardly anything is of a kind that is not wanted; None if there are none.

    Args:
        action: the candidate generators.
        fields: how they move samples.
        away: the part that is not wanted, in the same units.
        largest: its root mean square, as a share of the motion.
    """
    sizes, axes = symmetric_eigen(torch.einsum("bgm,bhm->gh", fields, fields))
    moving = sizes > MOVES * sizes[-1]
    whiten = axes[:, moving] / sizes[moving].sqrt()
    shares, places = symmetric_eigen(whiten.mT @ (away.mT @ away) @ whiten)
    kept = places[:, shares <= largest**2]
    if not kept.shape[1]:
        return None
    return action if kept.shape[1] == action.size else action.restrict((whiten @ kept).mT)


class _Discriminator(nn.Module):
    """A perceptron on standardised samples."""

    mean: Tensor

    def __init__(self, mean: Float[Tensor, " m"], size: float) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.size = max(size, torch.finfo(torch.float64).tiny)
        layers = [
            nn.Linear(len(mean), HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH),
            nn.SiLU(),
        ]
        self.layers = nn.Sequential(*layers, nn.Linear(HIDDEN_WIDTH, 1)).double()

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
        """Logit of each sample."""
        return self.layers((x.flatten(1) - self.mean) / self.size)[:, 0]
