"""Trained networks with known answers: the same every time, and they learn."""

import torch

from liegg.studies import ensemble
from liegg.studies.false_discovery import (
    NETWORK_EPOCHS,
    ROTATION_SCHEDULE,
    asymmetric_networks,
    members,
    task,
)


def test_members_and_tasks_follow_the_seed_of_the_series() -> None:
    one, other = members(7), members(7, seed=1)
    assert [member.sizes[0] for member in one] == [2, 3, 4, 5, 6, 2, 3]
    assert not {member.seed for member in one} & {member.seed for member in other}
    assert torch.equal(task(one[1])[0], task(members(3)[1])[0])
    assert not torch.equal(task(one[1])[0], task(other[1])[0])


def test_networks_learn_what_they_are_given() -> None:
    chosen = members(1)
    x, y = task(chosen[0])
    trained = ensemble.train(chosen, ensemble.Regression([x], [y]), ROTATION_SCHEDULE)
    with torch.no_grad():
        error = (trained.stack.network(0)(x)[:, 0] - y).square().mean()
    assert NETWORK_EPOCHS <= 50
    assert float(error) < 0.2 * float(y.var())


def test_networks_are_judged_in_order() -> None:
    rows = asymmetric_networks(2, ensemble.Work())
    assert rows is not None
    assert [(row["n"], row["copies"], row["action"]) for row in rows] == [
        (2, 1, "Linear"),
        (3, 1, "Linear"),
    ]
    assert {(row["family"], row["kind"], row["expected"], row["dtype"]) for row in rows} == {
        ("asymmetric", "trained network", 0, "float32")
    }
