"""Losses, accuracies and fingerprints."""

import pytest
import torch

from liegg.studies.ensemble import Classification, Regression, Stack, accuracies, initialise


def stack() -> Stack:
    return initialise([(2, 4, 3), (2, 6, 3)], (1, 2))


X = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
Y = torch.arange(50) % 3


def test_accuracies_do_not_depend_on_the_batches() -> None:
    networks = stack()
    known = [float((networks.network(i)(X).argmax(1) == Y).float().mean()) for i in range(2)]
    for numbers in (1, 50, 10**6):
        assert accuracies(networks, X, Y, numbers=numbers).tolist() == pytest.approx(known)
    assert known[0] != known[1]


def test_losses_are_those_of_the_chosen_samples() -> None:
    networks, chosen = stack(), torch.tensor([[3, 1], [0, 49]])
    classes = Classification(lambda _: X, Y, (X, Y))
    classes.begin(1)
    numbers = Regression([X, X + 1], [X[:, 0], X[:, 1]])
    for i, row in enumerate(chosen):
        known = torch.nn.functional.cross_entropy(
            networks.network(i)(X[row]), Y[row], reduction="none"
        )
        torch.testing.assert_close(classes.losses(networks, chosen)[i], known)
        inputs, targets = (X, X[:, 0]) if i == 0 else (X + 1, X[:, 1])
        torch.testing.assert_close(
            numbers.losses(networks, chosen)[i],
            (networks.network(i)(inputs[row])[:, 0] - targets[row]).square(),
        )


def test_images_that_change_stay_in_the_same_memory() -> None:
    given = [X + 1, X + 2]
    classes = Classification(lambda epoch: given[epoch - 1], Y, (X, Y))
    classes.begin(1)
    shown = classes._buffer
    classes.begin(2)
    assert classes._buffer is shown
    assert torch.equal(given[0], X + 1)  # the caller's own is left alone
    assert shown is not None
    assert torch.equal(shown, X + 2)


def test_the_fingerprint_follows_the_data() -> None:
    same = [Classification(lambda _: X.clone(), Y, (X, Y)).fingerprint() for _ in range(2)]
    other = Classification(lambda _: X + 1e-6, Y, (X, Y)).fingerprint()
    labels = Classification(lambda _: X, 2 - Y, (X, Y)).fingerprint()
    assert same[0] == same[1]
    assert len({same[0], other, labels}) == 3
    assert Regression([X], [X[:, 0]]).fingerprint() != Regression([X], [X[:, 1]]).fingerprint()
