"""Networks trained together: as each alone in a plain loop, padding stays zero, runs resume."""

import copy
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from liegg._utils.random import STRIDE, splitmix64
from liegg.studies.ensemble import (
    Classification,
    Member,
    Regression,
    Schedule,
    Stack,
    Trained,
    initialise,
    train,
)
from liegg.studies.ensemble.training import Checkpoint, permutations

SIZES = [(2, 8, 8, 3), (2, 5, 5, 3), (2, 11, 7, 3)]
SCHEDULE = Schedule(batch_size=20, rate=1e-2)


def points(count: int = 96, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Three bells of points in the plane, one to a class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 3
    centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]], dtype=torch.float64)
    return centres[labels] + 0.8 * torch.randn(
        count, 2, generator=generator, dtype=torch.float64
    ), labels


def problem(dtype: torch.dtype = torch.float64) -> Classification:
    (images, labels), (more, classes) = points(), points(30, 1)
    return Classification(lambda epoch: images.to(dtype), labels, (more.to(dtype), classes))


def members(epochs: int = 12) -> list[Member]:
    return [Member(sizes, seed, 96, epochs) for seed, sizes in enumerate(SIZES, start=1)]


def random(some: list[Member], dtype: torch.dtype = torch.float64) -> Stack:
    return initialise([one.sizes for one in some], [one.seed for one in some]).to(dtype=dtype)


def trained(
    some: list[Member], schedule: Schedule = SCHEDULE, dtype: torch.dtype = torch.float64
) -> Trained:
    return train(some, problem(dtype), schedule, start=random(some, dtype))


def plain_loop(member: Member, schedule: Schedule = SCHEDULE) -> tuple[nn.Module, float, int]:
    """The oracle: one module, torch's Adam, an ordinary loop; best weights, their accuracy and epoch."""
    network = initialise([member.sizes], [member.seed]).to(dtype=torch.float64).network(0)
    adam = torch.optim.Adam(network.parameters(), lr=schedule.rate, foreach=False)
    (images, labels), (more, classes) = points(member.samples), points(30, 1)
    best, accuracy, at = copy.deepcopy(network), -1.0, 0
    for epoch in range(1, member.epochs + 1):
        for chosen in order(member.seed, epoch - 1, member.samples).split(schedule.batch_size):
            adam.zero_grad()
            nn.functional.cross_entropy(network(images[chosen]), labels[chosen]).backward()
            adam.step()
        now = float((network(more).argmax(1) == classes).double().mean())
        if now > accuracy:
            best, accuracy, at = copy.deepcopy(network), now, epoch
    return best, accuracy, at


def close(a: nn.Module, b: nn.Module, rtol: float = 1e-8) -> None:
    for one, other in zip(a.parameters(), b.parameters(), strict=True):
        torch.testing.assert_close(one.detach(), other.detach(), rtol=rtol, atol=rtol)


def test_each_comes_out_as_from_a_plain_loop() -> None:
    together = trained(members())
    for index, member in enumerate(members()):
        best, accuracy, epoch = plain_loop(member)
        assert int(together.epoch[index]) == epoch
        assert float(together.score[index]) == pytest.approx(accuracy)
        close(together.stack.network(index), best)
    assert len(set(together.epoch.tolist())) > 1  # otherwise the test cannot separate networks


def test_together_is_as_alone_in_single_precision() -> None:
    together = trained(members(4), dtype=torch.float32)
    for index, member in enumerate(members(4)):
        alone = trained([member], dtype=torch.float32)
        assert alone.epoch.tolist() == together.epoch[index : index + 1].tolist()
        close(together.stack.network(index), alone.stack.network(0), rtol=1e-3)


def test_padding_stays_exactly_zero() -> None:
    stack = trained(members(10)).stack
    for index, sizes in enumerate(SIZES):
        for layer, (weight, bias) in enumerate(zip(stack.weights, stack.biases, strict=True)):
            own = torch.zeros_like(weight[index], dtype=torch.bool)
            own[: sizes[layer], : sizes[layer + 1]] = True
            assert int((weight[index][~own] != 0).sum()) == 0
            assert int((bias[index, 0, sizes[layer + 1] :] != 0).sum()) == 0
            assert int((weight[index][own] != 0).sum()) == sizes[layer] * sizes[layer + 1]


def test_an_easy_problem_is_learned() -> None:
    assert float(trained(members(20)).score.min()) > 0.85


def test_the_first_of_equally_good_epochs_is_kept() -> None:
    short, long = trained(members(12)), trained(members(20))
    same = short.score == long.score
    assert bool(same.any())
    assert short.epoch[same].tolist() == long.epoch[same].tolist()


def test_every_epoch_asks_for_its_images_and_tells_of_its_progress() -> None:
    told: list[str] = []
    images, labels = points()

    def show(epoch: int) -> Tensor:
        told.append(f"epoch {epoch}")
        return images.clone()

    train(
        members(3),
        Classification(show, labels, points(30, 1)),
        SCHEDULE,
        start=random(members(3)),
        progress=lambda done: told.append(f"{done} done"),
    )
    assert told == ["epoch 1", "3 done", "epoch 2", "3 done", "epoch 3", "3 done"]


# Regression: every network its own samples, sizes and epochs


def own_samples(member: Member) -> tuple[Tensor, Tensor]:
    x = torch.randn(
        member.samples,
        2,
        generator=torch.Generator().manual_seed(100 + member.seed),
        dtype=torch.float64,
    )
    return x, x.square().sum(1)


def regression(some: list[Member]) -> Regression:
    pairs = [own_samples(member) for member in some]
    return Regression([x for x, _ in pairs], [y for _, y in pairs])


UNEVEN = [
    Member((2, 6, 1), 1, 17, 9),
    Member((2, 4, 1), 2, 50, 5),
    Member((2, 6, 1), 3, 64, 4),
    Member((2, 6, 1), 4, 50, 5),
]


def test_networks_with_different_numbers_of_samples_and_epochs_train_together() -> None:
    together = train(UNEVEN, regression(UNEVEN), SCHEDULE, start=random(UNEVEN))
    assert together.epoch.tolist() == [9, 5, 4, 5]
    assert bool(together.score.isnan().all())
    for index, member in enumerate(UNEVEN):
        network = initialise([member.sizes], [member.seed]).to(dtype=torch.float64).network(0)
        adam = torch.optim.Adam(network.parameters(), lr=SCHEDULE.rate, foreach=False)
        x, y = own_samples(member)
        for epoch in range(member.epochs):
            for chosen in order(member.seed, epoch, member.samples).split(SCHEDULE.batch_size):
                adam.zero_grad()
                (network(x[chosen])[:, 0] - y[chosen]).square().mean().backward()
                adam.step()
        close(together.stack.network(index), network)


# Checkpoints


class KilledError(Exception):
    """The run was killed."""


class Memory(Checkpoint):
    """Keeps every state in memory, and is killed after a number of them."""

    def __init__(self, last: int, state: dict[str, Tensor] | None = None) -> None:
        self.last, self.state, self.saved = last, state, 0

    def load(self) -> dict[str, Tensor] | None:
        return self.state

    def due(self) -> bool:
        return True

    def save(self, state: dict[str, Tensor]) -> None:
        self.state = {name: value.detach().clone() for name, value in state.items()}
        self.saved += 1
        if self.saved == self.last:
            raise KilledError


@pytest.mark.parametrize(
    ("kind", "last"), [("classification", 4), *(("regression", last) for last in (1, 4, 8, 12))]
)
def test_a_killed_run_resumes_to_the_same_networks(kind: str, last: int) -> None:
    """With networks of different paces: some of them have reached their end, others have not.

    The steps are the same, so only the order of sums in BLAS may differ: 1e-9 after about 40 steps.
    """
    some, task = (
        (members(8), problem) if kind == "classification" else (UNEVEN, lambda: regression(UNEVEN))
    )
    complete = train(some, task(), SCHEDULE, start=random(some))
    memory = Memory(last)
    with pytest.raises(KilledError):
        train(some, task(), SCHEDULE, start=random(some), checkpoint=memory)
    progress: list[int] = []
    resumed = train(
        some,
        task(),
        SCHEDULE,
        start=random(some),
        checkpoint=Memory(-1, memory.state),
        progress=progress.append,
    )
    assert sum(progress) == sum(member.epochs for member in some)
    assert resumed.epoch.tolist() == complete.epoch.tolist()
    for one, other in zip(resumed.stack.leaves, complete.stack.leaves, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_training_begins_with_given_weights_and_leaves_frozen_ones_alone() -> None:
    start = initialise(SIZES, [9 + seed for seed in range(3)]).to(dtype=torch.float64)
    before = [leaf.clone() for leaf in start.leaves]
    found = train(members(3), problem(), Schedule(20, 1e-2, frozen=1), start=start)
    for one, other in zip(start.leaves, before, strict=True):
        assert torch.equal(one, other)  # the caller's own are left alone
    assert torch.equal(found.stack.weights[0], start.weights[0])
    assert torch.equal(found.stack.biases[0], start.biases[0])
    network, optimised = start.network(1), []
    for parameter in list(network.parameters())[:2]:
        parameter.requires_grad_(False)
    optimised = [parameter for parameter in network.parameters() if parameter.requires_grad]
    adam = torch.optim.Adam(optimised, lr=1e-2, foreach=False)
    (images, labels), (more, classes) = points(), points(30, 1)
    best, accuracy = network, -1.0
    for epoch in range(3):
        for chosen in order(2, epoch, 96).split(20):
            adam.zero_grad()
            nn.functional.cross_entropy(network(images[chosen]), labels[chosen]).backward()
            adam.step()
        now = float((network(more).argmax(1) == classes).double().mean())
        if now > accuracy:
            best, accuracy = copy.deepcopy(network), now
    close(found.stack.network(1), best)


# The order of samples: permutations that depend on seed and epoch alone, and look random


def order(seed: int, epoch: int, count: int) -> torch.Tensor:
    return permutations(torch.tensor([seed]), epoch, count)[0]


@given(st.integers(0, 2**31), st.integers(0, 10_000), st.integers(1, 200))
def test_an_order_has_every_index_once(seed: int, epoch: int, count: int) -> None:
    assert sorted(order(seed, epoch, count).tolist()) == list(range(count))


def test_orders_do_not_depend_on_other_networks() -> None:
    many = permutations(torch.tensor([1, 2, 3]), 5, 40)
    assert torch.equal(many[1], order(2, 5, 40))


def test_seeds_and_epochs_give_different_orders() -> None:
    rows = {tuple(order(seed, epoch, 50).tolist()) for seed in range(20) for epoch in range(20)}
    assert len(rows) == 400


def test_every_place_is_equally_likely() -> None:
    """Chi-squared of index against place over 4,000 epochs, with 81 degrees of freedom: between the 0.1 % and 99.9 % points."""
    rows = torch.stack([order(7, epoch, 10) for epoch in range(4000)])
    counts = torch.stack([(rows == index).sum(0) for index in range(10)]).double()
    assert 45 < float(((counts - 400).square() / 400).sum()) < 127


def test_neighbouring_epochs_are_unrelated() -> None:
    rows = [order(3, epoch, 2000).double() for epoch in range(6)]
    related = [float(torch.corrcoef(torch.stack([a, b]))[0, 1]) for a, b in pairwise(rows)]
    assert max(abs(value) for value in related) < 0.08  # 3.5 standard errors


def test_the_mixing_is_splitmix64() -> None:
    """The published generator's first numbers from the seed 1234567."""
    states = torch.tensor(1234567) + torch.arange(1, 6) * STRIDE
    known = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [value % 2**64 for value in splitmix64(states).tolist()] == known
