"""Many threads at once: the numbers of one thread, and everything in the process as it was."""

import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

import liegg
from cases import mlp, normal
from liegg._utils.errors import LieggError
from reliability.outcomes import Outcome, state_of_process

THREADS, CALLS = 8, 200
"""How many threads, and the calls of each."""

SECONDS_IN_ALL = 3000.0
"""When threads that have not ended hang."""

X = normal(100, 3)


class Norm(nn.Module):
    """|x|², with dropout that only eval mode switches off."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Inputs `[b, n]` to outputs `[b, 1]`."""
        return self.drop(x.square().sum(1, keepdim=True))


class Attention(nn.Module):
    """Attention between the two halves of a sample: its fast kernels have no forward derivative."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.weight = nn.Parameter(torch.randn(3, 4, generator=generator, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Inputs `[b, 3]` to outputs `[b, 4]`."""
        tokens = torch.stack((x, x.flip(1)), 1) @ self.weight
        return nn.functional.scaled_dot_product_attention(tokens, tokens, tokens).sum(1)


SHARED, NETWORK, ATTENTION = Norm().train(), mlp(3, 8, 2), Attention().train()
"""Modules that all threads use; two of them are in training mode, and must stay so."""

POINTS, IMAGES = normal(1500, 2), normal(4, 1, 6, 6)
"""Points and images."""

FILTERS = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.Tanh(), nn.Dropout(), nn.Flatten())
FILTERS = FILTERS.append(nn.Linear(72, 2)).double().train()
"""A network in training mode."""

NORM = liegg.discover(lambda x: x.square().sum(1), X, liegg.Linear(3))
"""A result that all threads ask."""

OWN = [mlp(3, 4 + number, 2) for number in range(THREADS)]
"""A model for each thread. They are made here: making one draws from the generators that liegg seeds."""

QUESTIONS = (
    *("jvp", "vjp", "autograd", "module", "attention", "verify", "layers", "own model"),
    *("assertion", "error", "laws", "group", "data", "layer errors", "about"),
)
"""All routes, modules in training mode, layers, verification, a model that no other thread has, and the public assertions."""


def square(x: Tensor) -> Tensor:
    """|x|²."""
    return x.square().sum(1, keepdim=True)


def of_a_group() -> tuple[Any, Tensor]:
    """The symmetries of a square."""
    found = liegg.discover_group(lambda x: x.pow(4).sum(1), X[:60, :2], liegg.Linear(2), starts=2)
    return (found.order, found.name), torch.tensor([one.effect for one in found.elements])


def of_data() -> tuple[Any, Tensor]:
    """The symmetries of points around a centre."""
    sym = liegg.discover_data(POINTS, liegg.Linear(2))
    return (sym.nullity, sym.name), sym.defects


def of_layer_errors() -> tuple[Any, Tensor]:
    """The layers of a network that is called in training mode."""
    found = liegg.layer_errors(FILTERS, IMAGES, liegg.Image(), samples=4)
    errors = [found.output, *(layer.effect for layer in found.layers)]
    return [layer.name for layer in found.layers], torch.tensor(errors, dtype=torch.float64)


def about_a_motion() -> tuple[Any, Tensor]:
    """A question that is asked afterwards."""
    found = NORM.about({"turn": liegg.so(3)[:1]}, model=square, data=X[:20])
    return found[0].holds, torch.zeros(1)


FURTHER = {
    "group": of_a_group,
    "data": of_data,
    "layer errors": of_layer_errors,
    "about": about_a_motion,
}
"""Questions of the other verbs."""


def answer(question: str, number: int) -> tuple[Any, Tensor]:
    """What is decided, and the numbers.

    Args:
        question: one of `QUESTIONS`.
        number: of the thread; a model of its own depends on it.
    """
    action = liegg.Linear(3)
    if question == "verify":
        held = liegg.verify(square, X[:20], action, liegg.so(3))
        return len(held.curves), torch.cat(
            [torch.cat((c.change, c.control_mean)) for c in held.curves]
        )
    if question == "layers":
        layers = liegg.discover_layers(NETWORK, X[:40], action)
        found = [layer.invariance for layer in layers]
        return [sym.nullity for sym in found], torch.cat([sym.defects for sym in found])
    if question in FURTHER:
        return FURTHER[question]()
    if question == "assertion":
        sym = liegg.testing.assert_equivariant(lambda x: x * square(x), X, liegg.so(3))
        return sym.nullity, sym.defects
    if question == "error":
        return None, torch.tensor([liegg.testing.equivariance_error(NETWORK, X, "so(3)")])
    if question == "laws":
        liegg.testing.assert_is_action(action, X)
        return None, torch.zeros(1)
    models = {"module": SHARED, "attention": ATTENTION, "own model": OWN[number]}
    route = question if question in ("jvp", "vjp", "autograd") else "jvp"
    run = liegg.Run(route=route)
    sym = liegg.discover(models.get(question, square), X, action, run=run)
    return (sym.nullity, sym.name), torch.cat(
        (sym.defects, sym.intervals.nan_to_num(-1.0).flatten())
    )


def judged(question: str, number: int, expected: tuple[Any, Tensor]) -> tuple[Outcome, str]:
    """Ask in a thread, and compare with the answer of one thread."""
    try:
        decided, numbers = answer(question, number)
    except LieggError as error:
        return Outcome.REFUSED, f"{type(error).__name__}: {error}"
    except Exception as error:
        return Outcome.RAW, f"{type(error).__name__}: {error}"
    atol = 1e-9 * float(expected[1].abs().max())
    same = numbers.shape == expected[1].shape and torch.allclose(
        numbers, expected[1], rtol=1e-6, atol=atol
    )
    return (
        (Outcome.ANSWERED, "") if decided == expected[0] and same else (Outcome.WRONG, f"{decided}")
    )


def hammer(
    threads: int, calls: int, questions: Sequence[str] = QUESTIONS
) -> list[tuple[str, Outcome, str]]:
    """What came of every call of many threads at once; one more if the process is not as it was.

    Args:
        threads: how many.
        calls: of each of them.
        questions: what they ask in turn.
    """
    shared = {question: answer(question, 0) for question in questions}
    expected = {
        number: shared | {"own model": answer("own model", number)} for number in range(threads)
    }
    found: list[tuple[str, Outcome, str]] = []

    def work(number: int) -> None:
        for call in range(calls):
            question = questions[(number + call) % len(questions)]
            outcome = judged(question, number, expected[number][question])
            found.append((f"{question}, call {call} of thread {number}", *outcome))

    torch.manual_seed(5)
    before = state_of_process()
    started = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(SECONDS_IN_ALL)
    missing = threads * calls - len(found)
    found += [("a call that did not end", Outcome.HANG, "")] * missing
    # beartype, which checks types in the tests, draws from Python's own generator, number 1
    for place, (old, new) in enumerate(zip(before, state_of_process(), strict=True)):
        if old != new and place != 1:
            text = f"number {place} of the state: {old!r:.80} and {new!r:.80}"
            found.append(("the process after all threads", Outcome.CHANGED, text))
    if not all(
        module.training for root in (SHARED, ATTENTION, FILTERS) for module in root.modules()
    ):
        found.append(("modules after all threads", Outcome.CHANGED, "not in training mode"))
    return found


def threads() -> Iterator[tuple[str, Outcome, str]]:
    """Eight threads with 200 calls each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from hammer(THREADS, CALLS)
