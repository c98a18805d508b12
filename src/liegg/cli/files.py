"""What the command line names by text: actions, arrays, models. Nothing is ever unpickled."""

import importlib
import logging
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from liegg._utils.errors import ArgumentError, DataError
from liegg._utils.random import seeded
from liegg.actions import Action, Affine, Color, Image, Linear, Product, Sequence, Volume
from liegg.actions.grid.stencils import BORDERS, SCHEMES

ON_PICTURES: dict[str, Callable[..., Action]] = {
    "image": Image,
    "volume": Volume,
    "sequence": Sequence,
    "color": Color,
}
"""Actions on pictures and the like, by the word on the command line."""

GRAMMAR = (
    "Expected linear:N, linear:NxCOPIES or affine:NxCOPIES, for example linear:5x2; image, image:affine, image:affine:28x28 (flat "
    "samples), image:gaussian:sigma=2, image:frame=1, volume, sequence, color, color:1 (grey), color:tone; or several with +, such "
    "as image+color."
)
"""What an action may look like on the command line."""


def parse_action(text: str) -> Action:
    """Action from text such as `linear:5x2`, `image:affine:28x28` or, for several at once, `image+color`.

    Args:
        text: `linear:N[xCOPIES]` or `affine:N[xCOPIES]`; or `image`, `volume`, `sequence` or `color`, with any of group, shape of a
            flat sample, derivative and border after it, each behind a colon; or several of these with `+` between.

    Raises:
        ArgumentError: no such action; the message shows what can be written.

    Examples:
        >>> parse_action("affine:3x20")
        Affine(n=3, copies=20, layout='copies_first')
        >>> parse_action("image:affine:28x28:central")
        Image(group='affine', derivative='central', border='replicate', shape=(28, 28))
    """
    parts = [_parse_one(part.strip(), text) for part in text.split("+")]
    return parts[0] if len(parts) == 1 else Product(*parts)


def _parse_one(text: str, whole: str) -> Action:
    vectors = re.fullmatch(r"(linear|affine):(\d+)(?:x(\d+))?", text)
    if vectors is not None:
        kind, n, copies = vectors[1], int(vectors[2]), int(vectors[3] or 1)
        return Linear(n, copies=copies) if kind == "linear" else Affine(n, copies=copies)
    kind, *words = text.split(":")
    given: dict[str, Any] = {}
    for word in words:
        name, value = _parse_word(word, kind)
        if name in given or not word:
            raise ArgumentError(
                f"action {whole!r}: {f'a second {name}, {word!r}' if word else 'nothing after a colon'}. {GRAMMAR}"
            )
        given[name] = value
    if kind == "color" and "shape" in given:
        given.setdefault("channels", given["shape"][0])
    if kind not in ON_PICTURES:
        raise ArgumentError(f"action {whole!r}: {GRAMMAR}")
    try:
        return ON_PICTURES[kind](**given)
    except ArgumentError as error:
        raise ArgumentError(f"action {whole!r}: {error} {GRAMMAR}") from error


def _parse_word(word: str, kind: str) -> tuple[str, Any]:
    """What a word behind a colon says: its name among the arguments, and its value."""
    if re.fullmatch(r"\d+(x\d+)+", word) or (word.isdigit() and kind == "sequence"):
        return "shape", tuple(int(side) for side in word.split("x"))
    if word.isdigit() and kind == "color":
        return "channels", int(word)
    if kind != "color" and word in SCHEMES:
        return "derivative", word
    if kind != "color" and word in BORDERS:
        return "border", word
    if kind != "color" and re.fullmatch(r"sigma=\d+(\.\d+)?", word):
        return "sigma", float(word.removeprefix("sigma="))
    if kind != "color" and re.fullmatch(r"frame=\d+", word):
        return "frame", int(word.removeprefix("frame="))
    return "group", word


def parse_limits(words: list[str]) -> dict[str, float]:
    """Thresholds from words such as `threshold=0.05`; whether there is such a limit is for `liegg.discover` to say.

    >>> parse_limits(["threshold=0.05", "minimum_gap=5"])
    {'threshold': 0.05, 'minimum_gap': 5.0}
    """
    found: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name.strip().replace("-", "_")] = float(value)
        except ValueError as error:
            raise ArgumentError(
                f"--limit {word!r}: expected a name and a number, for example --limit threshold=0.05."
            ) from error
    return found


def check_device(name: str) -> None:
    """Raise `ArgumentError` unless torch can compute on the device of this name here."""
    try:
        float(
            torch.zeros(1, device=name)
        )  # which a device without memory, such as meta, cannot tell
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ArgumentError(
            f"device {name!r} cannot be used here: {reason}. Type --device cpu, or one that torch has here."
        ) from error


def check_folder(path: Path) -> bool:
    """Raise `ArgumentError` unless results can be written into the folder; it is made if needed, and then the answer is True."""
    there = path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ArgumentError(
            f"--out {str(path)!r}: results cannot be written there: {error}. Name a folder that can be."
        ) from error
    return not there


@contextmanager
def removed_if_empty(folder: Path | None) -> Iterator[None]:
    """Remove a folder again if what should have filled it fails."""
    try:
        yield
    except BaseException:
        if folder is not None and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        raise


def load_samples(text: str) -> np.ndarray:
    """Array from `x.npy` (read as a memory map) or `x.npz:name`; pickled arrays are refused.

    Raises:
        DataError: the file is missing, is no such array, or holds pickles.
    """
    name, _, key = text.partition(":") if ".npz:" in text else (text, "", "")
    path = Path(name)
    if path.suffix not in (".npy", ".npz"):
        raise DataError(
            f"data {text!r}: expected a .npy file, or an .npz file and a name as x.npz:name. Save one with numpy.save."
        )
    if not path.is_file():
        raise DataError(f"data {text!r}: there is no file {path}.")
    try:
        array = (
            np.load(path, mmap_mode="r", allow_pickle=False)
            if path.suffix == ".npy"
            else _from_archive(path, key)
        )
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"data {text!r} cannot be read: {error}") from error
    if array.ndim == 0:
        raise DataError(f"data {text!r} is a single number; expected samples along the first axis.")
    return array


def load_parts(data: str, held_out: str | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Samples to analyse, and those to verify on.

    Args:
        data: as for `load_samples`.
        held_out: the same; or a share of the data, such as `0.2`, whose last samples are then kept apart; or None.

    Raises:
        ArgumentError: a share that leaves nothing on one side.
    """
    samples = load_samples(data)
    if held_out is None:
        return samples, None
    try:
        share = float(held_out)
    except ValueError:
        return samples, load_samples(held_out)
    kept = round(len(samples) * (1 - share)) if 0 < share < 1 else 0
    if not 0 < kept < len(samples) - 1:
        raise ArgumentError(
            f"--held-out {held_out}: of {len(samples)} samples this leaves too few on one side; expected a share between 0 and 1, "
            "for example 0.2, or a file such as y.npy."
        )
    return samples[:kept], samples[kept:]


def load_labels(text: str, samples: int, apart: int, held_out: str | None) -> np.ndarray:
    """Labels of the samples that are analysed.

    Args:
        text: as for `load_samples`.
        samples: number of samples that are analysed.
        apart: number of samples that are held out.
        held_out: what was typed for them: where it is a share of the data, labels may be those of all the data.
    """
    labels = load_samples(text)
    shared = held_out is not None and re.fullmatch(r"[\d.eE+-]+", held_out) is not None
    return labels[:samples] if shared and len(labels) == samples + apart else labels


def first_samples(samples: np.ndarray, count: int = 8) -> torch.Tensor:
    """A few samples, in memory of their own.

    Raises:
        DataError: they are no numbers.
    """
    few = np.array(samples[:count])
    if few.dtype.kind not in "fiub":
        raise DataError(
            f"samples have dtype {few.dtype}; expected numbers, for example an array saved as float32."
        )
    return torch.from_numpy(few.astype(few.dtype.newbyteorder("=")))


def own_weights(network: Any, weights: Path | None) -> str:
    """A word where the weights are those that a factory made itself; empty if they were given, or there are none."""
    if (
        weights is not None
        or not isinstance(network, torch.nn.Module)
        or not any(True for _ in network.parameters())
    ):
        return ""
    return "no --weights were given: the weights that the factory makes itself (under seed 0) are analysed."


def _from_archive(path: Path, key: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        names = archive.files
        if not names:
            raise DataError(f"data '{path}' holds no array. Save one with numpy.savez(path, x=x).")
        if not key and len(names) == 1:
            key = names[0]
        if key not in names:
            missing = f"it has no {key!r}; " if key else ""
            raise DataError(
                f"data '{path}': {missing}choose one of its arrays, for example {path}:{names[0]}; it holds {', '.join(names)}."
            )
        return archive[key]


def load_model(text: str, weights: Path | None = None, device: str | None = None) -> Any:
    """Model from `package.module:factory`, or from an exported program `model.pt2`.

    Args:
        text: the factory is called without arguments; a module or function that is no class is taken as it is if it is a
            `torch.nn.Module` already.
        weights: safetensors file, or a state dict in a .pt or .pth file, loaded into the module, names and shapes matching.
        device: where to put a module; None leaves it where it is.

    Raises:
        ArgumentError: nothing of that name, a factory that fails, weights that do not fit.
    """
    if device is not None:
        check_device(device)
        made = load_model(text, weights)
        if not isinstance(made, torch.nn.Module):
            raise ArgumentError(
                f"--device needs a torch.nn.Module; {text} gave a {type(made).__name__}. Move it in the factory."
            )
        return made.to(device)
    if text.endswith(".pt2"):
        if weights is not None:
            raise ArgumentError(
                "--weights goes with a factory; an exported program carries its own."
            )
        return _load_program(Path(text))
    with seeded(0):  # a factory that draws its weights gives the same ones every time
        made = _call_factory(text)
    if weights is None:
        return made
    if not isinstance(made, torch.nn.Module):
        raise ArgumentError(
            f"--weights needs a torch.nn.Module; {text} gave a {type(made).__name__}."
        )
    state = _load_state(weights)
    try:
        made.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        hint = (
            " Its names begin with 'module.', as DataParallel writes them: remove that."
            if "module." in reason
            else ""
        )
        raise ArgumentError(
            f"weights {str(weights)!r} do not fit {text}: {reason}{hint}"
        ) from error
    return made


def _load_state(weights: Path) -> dict[str, torch.Tensor]:
    """Named tensors of a file; of .pt and .pth files with torch's reader that runs no code of the file."""
    try:
        if weights.suffix not in (".pt", ".pth"):
            return load_file(weights)
        state = torch.load(weights, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError) as error:
        raise ArgumentError(
            f"weights {str(weights)!r} cannot be read: {error}. Save them with safetensors.torch.save_file."
        ) from error
    except (
        Exception
    ) as error:  # a damaged file, or one that holds code, fails in many ways; nothing of it was run
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ArgumentError(
            f"weights {str(weights)!r} hold more than tensors, or are damaged ({reason}). Save the state dict alone: "
            "torch.save(model.state_dict(), ...)."
        ) from error
    if not isinstance(state, dict) or not all(
        isinstance(value, torch.Tensor) for value in state.values()
    ):
        inside = (
            [name for name, value in state.items() if isinstance(value, dict)]
            if isinstance(state, dict)
            else []
        )
        hint = f" The weights may be its entry {inside[0]!r}." if inside else ""
        raise ArgumentError(
            f"weights {str(weights)!r} are no state dict of tensors.{hint} Save it with torch.save(model.state_dict(), ...)."
        )
    return state


def _load_program(path: Path) -> torch.export.ExportedProgram:
    if not path.is_file():
        raise ArgumentError(f"model {str(path)!r}: there is no such file.")
    logger = logging.getLogger("torch.export")
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)  # it prints a traceback of its own beside the error
        return torch.export.load(path)
    except Exception as error:  # torch raises many types for a file that is no program
        raise ArgumentError(
            f"model {str(path)!r} is no exported program: {error}. Make one with torch.export.save."
        ) from error
    finally:
        logger.setLevel(level)


def _call_factory(text: str) -> Any:
    place, colon, name = text.partition(":")
    if not colon or not place or not name:
        hint = (
            " Weights go to --weights."
            if Path(text).suffix in (".pt", ".pth", ".safetensors")
            else ""
        )
        raise ArgumentError(
            f"model {text!r}: expected package.module:factory or a file model.pt2.{hint}"
        )
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` does, so that a module in the current folder is found
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError as error:
        hint = (
            f" Type the module's name, {place[:-3].replace('/', '.')}:{name}."
            if place.endswith(".py")
            else ""
        )
        raise ArgumentError(
            f"model {text!r}: there is no module {error.name!r}; looked in {here} and the installed packages.{hint}"
        ) from error
    except Exception as error:  # whatever the user's module raises while it is imported
        raise ArgumentError(
            f"model {text!r}: importing {place!r} failed with {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, name):
        raise ArgumentError(f"model {text!r}: module {place!r} has no {name!r}.")
    factory = getattr(module, name)
    if isinstance(factory, torch.nn.Module):
        return factory
    if not callable(factory):
        raise ArgumentError(
            f"model {text!r} is a {type(factory).__name__}; expected a function without arguments that returns the model."
        )
    try:
        made = factory()
    except Exception as error:
        raise ArgumentError(
            f"model {text!r}: the factory failed with {type(error).__name__}: {error}. It is called without arguments and returns "
            "the model; wrap a plain function, def build(): return function"
        ) from error
    if not callable(made):
        raise ArgumentError(
            f"model {text!r}: the factory returned a {type(made).__name__}; expected a module or a function of a batch."
        )
    return made
