"""Checkpoints: the state of a long pass is written regularly, and a killed pass resumes from it.

A fingerprint says which analysis a state belongs to: it must be equal when a pass is resumed, and
in all processes that share one.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._utils.atomic_write import atomic_path
from liegg._utils.checks import checksum
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, CheckpointError
from liegg._utils.interrupts import DeferredInterrupt, deferred_interrupts
from liegg.inputs.reachable import modules_inside
from liegg.polarization.sample_digest import sample_digest
from liegg.polarization.state import PassState, from_tensors, to_tensors

CHECKPOINT_SECONDS = 30.0
"""Least number of seconds between two checkpoints."""

CHECKPOINT_FORMAT = "6"
"""Version of the layout of a checkpoint."""

END = 2**62
"""Position after the last sample, where the number of samples is unknown: beyond any data."""

OUTPUT_TOLERANCE = 1e-2
"""Relative difference of outputs that rounding on other machines may cause."""

DIFFERENCES = {
    "weights": "the model: its weights are not the same",
    "buffers": "the model: its buffers, such as running means, are not the same; load one state "
    "dict everywhere",
    "groups": "groups: the labels are not the same",
    "held_out": "held_out: the samples are not the same",
    "spread": "data: samples after the first are not the same",
}
"""Message for each checksum that may differ."""


@dataclass(eq=False)
class Checkpoint:
    """A file with the state of a pass and the position in the data.

    Attributes:
        path: the file.
        fingerprint: identifies the analysis; the file of another one is refused.
        every: least number of seconds between two checkpoints.
    """

    path: Path
    fingerprint: dict[str, Any]
    every: float = CHECKPOINT_SECONDS
    _last: float = field(default_factory=time.monotonic)
    _interrupt: DeferredInterrupt = field(default_factory=DeferredInterrupt)
    _digest: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.int64))
    _stored_digest: int = 0

    def load(self, empty: PassState) -> tuple[PassState, int] | None:
        """The stored state and the number of the next sample; None if there is no file.

        Temporary files of killed processes are removed, and a write is tried.

        Args:
            empty: the state of no samples of this analysis.

        Raises:
            CheckpointError: the file is damaged or of another analysis, or the folder is not
                writable.
        """
        self._clean_up()
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if header.get("format") != CHECKPOINT_FORMAT:
                raise CheckpointError(
                    f"{self.path} is a checkpoint of format {header.get('format')}; this version "
                    f"reads {CHECKPOINT_FORMAT}. Remove it to start over, or finish it with the version that "
                    "wrote it."
                )
            if header.pop("checksum") != _checksum(tensors, header):
                raise ValueError("its checksum is wrong")
            if other := difference(json.loads(header["fingerprint"]), self.fingerprint):
                raise CheckpointError(
                    f"{self.path} belongs to another analysis ({other}). Finish that one with its own "
                    "arguments, remove the file to start over, or name another."
                )
            state = from_tensors(tensors, empty)
            self._stored_digest = int(header["digest"])
            return state, int(header["position"])
        except CheckpointError:
            raise
        except (OSError, KeyError, ValueError, TypeError, SafetensorError) as error:
            raise CheckpointError(
                f"{self.path} is damaged ({type(error).__name__}: {error}). Nothing of it was "
                "used. Remove it to start over."
            ) from error

    def unread(
        self, numbered: Iterable[tuple[int, Float[Tensor, "_ ..."]]], position: int
    ) -> Iterator[tuple[int, Float[Tensor, "_ ..."]]]:
        """Batches from a position on; those before are compared with what the stored state has read.

        A digest of all samples that were read is kept, and stored with the state.

        Args:
            numbered: batches from the beginning, each with the position of its first sample.
            position: what `load` returned; 0 if there is no file.

        Raises:
            CheckpointError: an earlier sample is not the same.
        """
        checked = False
        for first, batch in numbered:
            earlier, rest = batch[: max(0, position - first)], batch[max(0, position - first) :]
            if len(earlier):
                self._add(earlier, first)
            if not len(rest):
                self._interrupt.raise_if_any()  # what is stored stays as it is
                continue
            if not checked:
                self._check_earlier(position)
            checked = True
            self._add(rest, max(first, position))
            yield max(first, position), rest
        if not checked:
            self._check_earlier(position)

    def _add(self, samples: Float[Tensor, "b ..."], first: int) -> None:
        """Add samples that are read to the digest."""
        self._digest = self._digest.to(samples.device) + sample_digest(samples, first)

    def _check_earlier(self, position: int) -> None:
        """Raise `CheckpointError` unless the samples so far are those that the state has read."""
        if int(self._digest) != self._stored_digest:
            where = "" if position >= END else f" before sample {position}"
            raise CheckpointError(
                f"{self.path} was written for other data: samples{where} changed since then. "
                "Restore them, or remove the file to start over. If the data draws random numbers, "
                "it must draw them from the generators of torch, numpy or random, which are seeded."
            )

    def save_if_due(self, state: PassState, position: int) -> None:
        """Write the state if the last checkpoint is old enough, or after a signal; then stop."""
        if self._interrupt.pending or time.monotonic() - self._last >= self.every:
            self.save(state, position)
        self._interrupt.raise_if_any()

    def finish(self, state: PassState, position: int) -> tuple[Remark, ...]:
        """Write the state of all samples; a failure is only noted, because there is a result."""
        try:
            self.save(state, position)
        except CheckpointError as error:
            return (Diagnosis.LAST_CHECKPOINT_FAILED(error=str(error)),)
        self._interrupt.raise_if_any()
        return ()

    def save(self, state: PassState, position: int) -> None:
        """Write the state atomically; a crash leaves the previous checkpoint intact."""
        tensors = to_tensors(state)
        header = {
            "format": CHECKPOINT_FORMAT,
            "position": str(position),
            "digest": str(int(self._digest)),
            "fingerprint": json.dumps(self.fingerprint),
        }
        with self._explain_failure(), atomic_path(self.path) as temporary:
            metadata = header | {"checksum": _checksum(tensors, header)}
            save_file(tensors, temporary, metadata=metadata)
        self._last = time.monotonic()

    @contextmanager
    def defer_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM wait for the next `save_if_due`: a pass stops between two batches.

        A second signal does not wait. A handler of the caller is left alone.
        """
        with deferred_interrupts() as self._interrupt:
            yield

    def _clean_up(self) -> None:
        """Remove temporary files of killed processes; raise `CheckpointError` if not writable."""
        temporary = re.compile(rf"\.{re.escape(self.path.name)}\.[a-z0-9_]{{8}}\.part")
        with self._explain_failure():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            trial = self.path.with_name(f".{self.path.name}.00000000.part")
            trial.touch()
            for other in self.path.parent.iterdir():
                if temporary.fullmatch(other.name):
                    other.unlink(missing_ok=True)

    @contextmanager
    def _explain_failure(self) -> Iterator[None]:
        """Turn file system errors into `CheckpointError`."""
        try:
            yield
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"the checkpoint {self.path} cannot be written: {error}. Choose another path."
            ) from error


def check_path(path: str | Path) -> Path:
    """The checkpoint file that the caller named.

    Raises:
        ArgumentError: it is a folder, a pipe or a device, or empty.
    """
    if not str(path) or (Path(path).exists() and not Path(path).is_file()):
        kind = "empty"
        if str(path):
            kind = "a folder" if Path(path).is_dir() else "not a regular file"
        raise ArgumentError(
            f"checkpoint={str(path)!r} is {kind}; expected a file, for example "
            "checkpoint='run.checkpoint'."
        )
    return Path(path)


def rank_path(path: Path, rank: int, size: int) -> Path:
    """The checkpoint file of one of several processes.

    Args:
        path: the file that the caller named.
        rank: number of the process.
        size: number of processes.

    Raises:
        CheckpointError: there are files of another number of processes.
    """
    sizes = {path.name: 1} if path.is_file() else {}
    if path.parent.is_dir():
        pattern = re.compile(rf"{re.escape(path.name)}\.\d+-of-(\d+)")
        sizes |= {
            other.name: int(match[1])
            for other in path.parent.iterdir()
            if (match := pattern.fullmatch(other.name))
        }
    others = sorted(name for name, processes in sizes.items() if processes != size)
    if others:
        raise CheckpointError(
            f"{path} was started with a different number of processes; now there are {size} "
            f"({', '.join(others[:4])} in {path.parent}). Start as many as before, remove these "
            "files to start over, or name another checkpoint."
        )
    return path if size == 1 else path.with_name(f"{path.name}.{rank}-of-{size}")


def _checksum(tensors: dict[str, Any], header: dict[str, str]) -> str:
    """Checksum of everything that is stored: header, names, shapes and values."""
    entries = [part for name in sorted(tensors) for part in (name, tensors[name])]
    return checksum(json.dumps(header, sort_keys=True), *entries)


def fingerprint(
    first: Float[Tensor, "b ..."], y: Float[Tensor, "p c"], settings: dict[str, Any]
) -> dict[str, Any]:
    """Identify an analysis.

    Args:
        first: a batch of the data.
        y: the model's outputs on it.
        settings: action, options, versions, checksums: anything that JSON can hold.
    """
    return {
        "data": f"{tuple(first.shape)} {first.dtype} {checksum(first)[:16]}",
        "answers": y.detach().double().cpu().flatten()[:64].tolist(),
        **{
            name: json.dumps(value, sort_keys=True, default=str) for name, value in settings.items()
        },
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Describe the first difference between two fingerprints; empty if they agree."""
    for name in sorted({*one, *other} - {"answers"}):
        if one.get(name) != other.get(name):
            return DIFFERENCES.get(name) or f"{name}: {one.get(name)} and {other.get(name)}"
    a, b = (torch.tensor(record.get("answers", ()), dtype=torch.float64) for record in (one, other))
    size = max(float(a.norm()), float(b.norm()))
    if a.shape != b.shape or float((a - b).norm()) > OUTPUT_TOLERANCE * size:
        return "the model: its outputs for the first samples are not the same"
    return ""


def weight_checksums(model: Any) -> dict[str, str]:
    """Checksums of a model's parameters and of its stored buffers.

    For a function, those of the modules that it reaches; numbers that it holds elsewhere are not
    seen.

    Args:
        model: module or function.
    """
    digests: dict[str, list[str]] = {"weights": [], "buffers": []}
    for module in modules_inside(model):
        parameters = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        for name, tensor in module.state_dict().items():
            if isinstance(tensor, Tensor):
                kind = "weights" if name in parameters else "buffers"
                digests[kind].append(f"{name} {_contents(tensor)}")
    return {kind: checksum(*parts)[:16] for kind, parts in digests.items()}


def _contents(tensor: Tensor) -> str:
    """Checksum of a tensor; if its values cannot be read (packed weights), shape and dtype."""
    try:
        return checksum(tensor)
    except (RuntimeError, TypeError, NotImplementedError):
        return f"{tuple(tensor.shape)} {tensor.dtype}"
