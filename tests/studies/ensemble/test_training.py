"""Classifiers trained together: as each alone, and kept at their best epoch."""

import pytest
import torch

from liegg.studies import ensemble


def problem(count: int = 96, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Three bells of points in the plane, one to a class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 3
    centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    return centres[labels] + 0.3 * torch.randn(count, 2, generator=generator), labels


def trained(seeds: list[int], epochs: int = 12) -> ensemble.Trained:
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    stack = ensemble.initialise((2, 8, 8, 3), generators)
    images, labels = problem()
    return ensemble.train_classifiers(
        stack, lambda _: images, labels, problem(30, 1), generators, epochs=epochs, batch_size=20, rate=1e-2
    )


def test_together_is_as_alone() -> None:
    together, alone = trained([1, 2, 3]), [trained([seed]) for seed in (1, 2, 3)]
    for index, one in enumerate(alone):
        assert int(together.epoch[index]) == int(one.epoch[0])
        assert float(together.accuracy[index]) == pytest.approx(float(one.accuracy[0]))
        for a, b in zip(together.stack.network(index).parameters(), one.stack.network(0).parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)


def test_an_easy_problem_is_learned() -> None:
    found = trained([1, 2], epochs=40)
    assert found.accuracy.tolist() == [1.0, 1.0]


def test_the_weights_kept_are_those_of_the_recorded_accuracy() -> None:
    found = trained([1, 2, 3], epochs=6)
    torch.testing.assert_close(ensemble.accuracies(found.stack, *problem(30, 1)), found.accuracy)
    assert all(1 <= epoch <= 6 for epoch in found.epoch.tolist())


def test_the_first_of_equally_good_epochs_is_kept() -> None:
    short = trained([1], epochs=40)
    long = trained([1], epochs=60)
    assert short.epoch.tolist() == long.epoch.tolist()
    for a, b in zip(short.stack.weights, long.stack.weights, strict=True):
        assert torch.equal(a, b)


def test_every_epoch_asks_for_its_images() -> None:
    asked: list[int] = []
    images, labels = problem()
    generators = [torch.Generator().manual_seed(1)]

    def show(epoch: int) -> torch.Tensor:
        asked.append(epoch)
        return images

    ensemble.train_classifiers(
        ensemble.initialise((2, 4, 3), generators), show, labels, problem(30, 1), generators, epochs=3, progress=asked.append
    )
    assert asked == [1, 1, 2, 1, 3, 1]  # the image request of each epoch, and one step of progress after it


def test_accuracies_do_not_depend_on_the_batches() -> None:
    stack = ensemble.initialise((2, 4, 3), [torch.Generator().manual_seed(s) for s in (1, 2)])
    images, labels = problem(50)
    torch.testing.assert_close(ensemble.accuracies(stack, images, labels, batch_size=7), ensemble.accuracies(stack, images, labels))
    known = [float((stack.network(i)(images).argmax(1) == labels).float().mean()) for i in range(2)]
    assert ensemble.accuracies(stack, images, labels).tolist() == pytest.approx(known)
