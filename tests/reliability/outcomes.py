"""What can come of a trial, and a table of it."""

import hashlib
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch

from liegg._utils.errors import LieggError
from liegg._utils.precision import SETTINGS

SECONDS = 60
"""A trial that takes longer hangs."""


class Outcome(StrEnum):
    """What came of a trial."""

    ANSWERED = "answered"
    REFUSED = "refused with an error of liegg"
    WRONG = "silently wrong"
    RAW = "raw error"
    HANG = "hang"
    CHANGED = "state of the process changed"
    TOUCHED = "files of the user touched"
    LOST = "a result or a checkpoint lost"


GOOD = (Outcome.ANSWERED, Outcome.REFUSED)


class HangError(BaseException):
    """A trial took too long."""


def state_of_process() -> tuple[Any, ...]:
    """Everything global that a call might leave changed."""
    return (
        torch.get_rng_state().numpy().tobytes(),
        random.getstate(),
        str(np.random.get_state()),  # noqa: NPY002
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.backends.mha.get_fastpath_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.cudnn_sdp_enabled(),
        torch.backends.cuda.matmul.allow_tf32,
        *(setting.fp32_precision for setting in SETTINGS),
        torch.backends.cudnn.benchmark,
        torch.backends.cudnn.deterministic,
        torch.get_float32_matmul_precision(),
        torch.is_anomaly_enabled(),
        compiler_stance(),
        torch.are_deterministic_algorithms_enabled(),
        signal.getsignal(signal.SIGTERM),
        signal.getsignal(signal.SIGINT),
        Path.cwd(),
    )


def compiler_stance() -> str:
    """Whether compiled models are compiled, or run as they were written."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    return "default" if dynamo is None else dynamo._stance.stance


def files_of(folder: Path) -> dict[str, str]:
    """Every file, link and folder below one, with what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "folder" if path.is_dir() else "special"
    return found


@contextmanager
def time_limit(seconds: int = SECONDS) -> Iterator[None]:
    """Raise `HangError` in the main thread after some seconds."""

    def stop(*_: Any) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome_of(
    trial: Callable[[], Any],
    right: Callable[[Any], bool] = lambda _: True,
    *,
    user: Path | None = None,
) -> tuple[Outcome, str]:
    """Run a trial; what came of it, and a line about it.

    Args:
        trial: what is tried.
        right: whether an answer is right.
        user: a folder in which nothing may change.
    """
    before, files = state_of_process(), None if user is None else files_of(user)
    try:
        with time_limit():
            answer = trial()
            outcome = Outcome.ANSWERED if right(answer) else Outcome.WRONG
        text = repr(answer)[:100]
    except (LieggError, AssertionError) as error:  # the public assertions raise the latter
        outcome, text = Outcome.REFUSED, f"{type(error).__name__}: {error}"
    except HangError:
        outcome, text = Outcome.HANG, ""
    except Exception as error:
        outcome, text = Outcome.RAW, f"{type(error).__name__}: {error}".splitlines()[0]
    if state_of_process() != before:
        outcome = Outcome.CHANGED
    if user is not None and files_of(user) != files:
        outcome = Outcome.TOUCHED
    return outcome, text
